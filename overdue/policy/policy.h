#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "overdue/base/probability.h"
#include "overdue/base/result.h"
#include "overdue/base/time.h"

namespace overdue {

// The policy file (DESIGN): TOML, one table a dependency. So far the dependency's own keys and its timeout
// table are read and checked; the tables of later rooms (retry, write, errors, health, eject, shed) are kept
// as they stand. Format: docs/formats/policy.md.

struct TimeoutPolicy {
  std::optional<Probability> accept_false;  // The share of healthy calls we agree to cut off.
  std::optional<Duration> connect;
  std::optional<Duration> request;  // Nothing where adaptive, or not set.
  bool adaptive = false;            // request = "adaptive".
  std::optional<Duration> floor;    // Limits on how far "adaptive" may move: floor < ceiling.
  std::optional<Duration> ceiling;
  std::optional<Probability> max_step;
  std::optional<Duration> window;
  std::optional<Duration> window_max;  // At least window.
  std::optional<Probability> watch;
};

struct DependencyPolicy {
  std::string name;
  std::uint32_t line = 0;  // Where its table begins, 1-based.
  std::vector<std::string> backends;
  bool via_proxy = false;
  std::optional<Duration> promise;  // What our own callers were promised.
  TimeoutPolicy timeout;
  std::vector<std::string> tables_not_read;  // "retry", "write", ...: known names, not checked yet.
};

struct Policy {
  std::vector<DependencyPolicy> dependencies;  // In the file's order.

  const DependencyPolicy* find(std::string_view name) const;
};

// Reads and validates `text`; `path` is for messages. Errors: invalid_argument listing every fault at once, a
// line each: path, line, key, value and what would be right.
Result<Policy> parse_policy(std::string_view text, const std::string& path);

// `text` with the timeout table of dependency `name` saying what `timeout` sets; every other byte, comments
// too, stays as it was. An empty text gives a new file. Errors: those of parse_policy(text), or where the
// table is written in a form that cannot be changed in place (inline); then the lines to put there are in the
// message.
Result<std::string> with_timeout(std::string_view text, const std::string& path, std::string_view name,
                                 const TimeoutPolicy& timeout);

}  // namespace overdue
