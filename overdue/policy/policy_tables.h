#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "overdue/base/probability.h"
#include "overdue/base/time.h"
#include "overdue/call/backoff.h"
#include "overdue/call/call_policy.h"
#include "overdue/write/write_terms.h"

namespace overdue {

// The tables of one dependency in the policy file. A member without a value was not written; `line` is where
// the table begins, 1-based, and 0 where there is none.

// Where the keys of a table stand, for warnings. Two are always equal: it is not what the policy says.
class KeyLines {
 public:
  void add(std::string_view key, std::uint32_t line) { lines_.emplace_back(key, line); }
  // Of the key, or `otherwise` where it was not read from a file.
  std::uint32_t of(std::string_view key, std::uint32_t otherwise) const {
    for (const auto& [name, line] : lines_) {
      if (name == key) return line;
    }
    return otherwise;
  }
  bool operator==(const KeyLines&) const { return true; }

 private:
  std::vector<std::pair<std::string, std::uint32_t>> lines_;
};

struct TimeoutPolicy {
  std::optional<Probability> accept_false;  // The share of healthy calls we agree to cut off.
  std::optional<Duration> connect;
  std::optional<Duration> request;  // Nothing where adaptive, "none" or not set.
  bool adaptive = false;            // request = "adaptive".
  std::optional<Duration> floor;    // Limits on how far "adaptive" may move: floor < ceiling.
  std::optional<Duration> ceiling;
  std::optional<Probability> max_step;
  std::optional<Duration> window;
  std::optional<Duration> window_max;  // At least window.
  std::optional<Probability> watch;
  std::optional<Duration> way;  // A round trip without the server's time, until it has been measured.
  std::uint32_t line = 0;

  bool operator==(const TimeoutPolicy&) const = default;
};

struct BudgetPolicy {
  std::int64_t retries_per_1000_requests = 100;
  std::int64_t retries_per_1000_seconds_min = 1000;
  Duration window{10'000'000'000};  // How much of the floor can be saved up: the burst.

  bool operator==(const BudgetPolicy&) const = default;
};

struct RetryPolicy {
  std::optional<std::uint32_t> attempts;
  std::optional<Backoff> backoff;  // "none" is a base and a cap of 0.
  std::optional<BudgetPolicy> budget;
  bool no_budget = false;  // budget = "none".
  std::optional<RetryOn> on;
  std::optional<Quantile> hedge_at;
  bool unsafe_retry_without_key = false;
  std::uint32_t line = 0;

  bool operator==(const RetryPolicy&) const = default;
};

struct WritePolicy {
  std::vector<OnUnknown> on_unknown;  // In the order we use them.
  std::optional<AfterDeadline> after_deadline;
  std::optional<std::string> key_header;
  std::optional<Duration> key_retention;
  std::optional<Duration> last_send;
  std::optional<Duration> message_life_max;
  std::optional<ExpiredKeys> expired;
  std::optional<std::string> status;  // "GET /operations/{key}".
  std::optional<std::string> fence;   // "POST /operations/{key}/fence".
  std::optional<NotFound> not_found;
  std::uint32_t line = 0;
  KeyLines key_lines;

  bool operator==(const WritePolicy&) const = default;
};

// Statuses as written, in the file's order: "429", "UNAVAILABLE".
struct ErrorsPolicy {
  std::vector<std::string> nothing_happened;
  std::vector<std::string> recorded_rejection;
  std::vector<std::string> in_flight;
  std::vector<std::string> other_payload;
  std::uint32_t line = 0;
  KeyLines key_lines;

  bool operator==(const ErrorsPolicy&) const = default;
};
// The number of a status as ErrorContract knows it: HTTP 100 to 599, or the name of a gRPC one.
std::optional<std::uint16_t> status_of(std::string_view text);

enum class Probe : std::uint8_t { ping, deep };
inline constexpr std::array<std::string_view, 2> kProbeNames = {"ping", "deep"};

struct HealthPolicy {
  std::optional<Probe> probe;
  std::optional<std::uint32_t> calls;
  std::optional<double> fail_above;  // Times the fleet's median.
  std::optional<double> back_below;
  std::optional<std::uint32_t> out_after;   // Failures in a row.
  std::optional<std::uint32_t> back_after;  // Passes in a row.
  std::uint32_t line = 0;

  bool operator==(const HealthPolicy&) const = default;
};

struct EjectPolicy {
  std::optional<Probability> max_ejected;
  std::optional<Probability> panic_below;
  std::uint32_t line = 0;

  bool operator==(const EjectPolicy&) const = default;
};

struct ShedPolicy {
  std::optional<std::uint32_t> max_in_flight;
  bool adaptive = false;  // max_in_flight = "adaptive".
  std::uint32_t line = 0;

  bool operator==(const ShedPolicy&) const = default;
};

}  // namespace overdue
