#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "overdue/base/probability.h"
#include "overdue/base/result.h"
#include "overdue/base/time.h"
#include "overdue/policy/policy_tables.h"

namespace overdue {

// The policy file (DESIGN): TOML, one table a dependency, read and checked whole. Format:
// docs/formats/policy.md. What a valid file may still be warned about is in lint.h, what an Operation makes
// of it in call_policy_of.h.

struct DependencyPolicy {
  std::string name;
  std::uint32_t line = 0;  // Where its table begins, 1-based; 0 for one that was not read.
  std::vector<std::string> backends;
  bool via_proxy = false;
  std::optional<Duration> promise;  // What our own callers were promised.
  TimeoutPolicy timeout;
  RetryPolicy retry;
  WritePolicy write;
  ErrorsPolicy errors;
  HealthPolicy health;
  EjectPolicy eject;
  ShedPolicy shed;

  bool operator==(const DependencyPolicy&) const = default;
};

struct Policy {
  std::vector<DependencyPolicy> dependencies;  // In the file's order.

  const DependencyPolicy* find(std::string_view name) const;
  bool operator==(const Policy&) const = default;
};

// Reads and validates `text`; `path` is for messages. Errors: invalid_argument listing every fault at once, a
// line each: path, line, key, value and what would be right.
Result<Policy> parse_policy(std::string_view text, const std::string& path);

// `policy` as a file of its own, every key that is set, in the order of docs/formats/policy.md. It reads back
// as the same policy, lines aside. To change a file that people wrote use with_timeout() or with_setting():
// comments and order stay there.
std::string print_policy(const Policy& policy);

// `text` with the timeout table of dependency `name` saying what `timeout` sets; every other byte, comments
// too, stays as it was. An empty text gives a new file. Errors: those of parse_policy(text), or where the
// table is written in a form that cannot be changed in place (inline); then the lines to put there are in the
// message.
Result<std::string> with_timeout(std::string_view text, const std::string& path, std::string_view name,
                                 const TimeoutPolicy& timeout);

// One key of one table of dependency `name`, likewise: with_setting(text, path, "orders", "retry",
// "attempts", "3"). `table` is "timeout", "retry", ..., or empty for the dependency's own keys; `value` is
// TOML. Errors: as above, and where the file with it would have faults.
struct PolicySetting {
  std::string_view table;
  std::string_view key;
  std::string_view value;
};
Result<std::string> with_setting(std::string_view text, const std::string& path, std::string_view name,
                                 const PolicySetting& setting);

}  // namespace overdue
