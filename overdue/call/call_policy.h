#pragma once

#include <cstdint>
#include <optional>

#include "overdue/base/effect.h"
#include "overdue/base/probability.h"
#include "overdue/base/result.h"
#include "overdue/base/time.h"
#include "overdue/call/backoff.h"
#include "overdue/call/retry_budget.h"

namespace overdue {

// An Operation keeps its attempts within itself, so their number has a limit.
inline constexpr std::uint32_t kAttemptsMax = 16;

// Which failures are tried again, where that is safe. An answer that is none of a failure (success, other
// answers, recorded rejections, another payload) never is.
struct RetryOn {
  bool refused = true;    // Never sent: connection refused, or no byte written.
  bool reset = true;      // The connection broke after sending.
  bool timed_out = true;  // An attempt's own limit passed. The call's deadline is never tried again.
  bool rejected = true;   // nothing_happened, in_flight, or an error in no list.

  bool operator==(const RetryOn&) const = default;
};

// CallPolicy is what an Operation needs to know of its dependency's policy, as values that fit each other.
// Made by hand, or from a policy file (policy/call_policy_of.h). Naive clients are a policy too:
// unsafe_retry_without_key, no promise, no budget.
//
// Errors: create() is the only way to one that an Operation takes, and names the first value that cannot be
// meant.
struct CallPolicyOptions {
  // What our own callers were promised: each call's deadline, from its start. None: only the caller's own.
  std::optional<Duration> promise;
  // Both count from an attempt's start, as logs measure it; connect ends with the connection. None: no limit
  // of its own.
  std::optional<Duration> connect_timeout;
  std::optional<Duration> request_timeout;
  std::uint32_t attempts_max = 1;  // 1 is no retry; at most kAttemptsMax.
  RetryOn retry_on;
  Backoff backoff;
  std::optional<RetryBudget::Options> retry_budget;  // None: retries without limit, for naive clients.
  // Repeats a write that may have happened, without a key: makes duplicates. For naive clients.
  bool unsafe_retry_without_key = false;
  bool via_proxy = false;
  ErrorContract errors;
  Probability watch = Probability::from_parts(Probability::kScale);  // Expired attempts listened to further.
  Duration window{300'000'000'000};  // How far back the live estimate of latency looks.
  Duration way_estimate{};           // Round trip without the server's time, until it has been measured.
};

class CallPolicy {
 public:
  // Fails with invalid_argument unless durations are positive (backoff and way_estimate may be 0),
  // attempts_max is in [1, kAttemptsMax], backoff.base <= backoff.cap, and the budget's values are possible.
  static Result<CallPolicy> create(const CallPolicyOptions& options);

  const CallPolicyOptions* operator->() const { return &options_; }
  const CallPolicyOptions& options() const { return options_; }

 private:
  explicit CallPolicy(const CallPolicyOptions& options) : options_(options) {}
  CallPolicyOptions options_;
};

}  // namespace overdue
