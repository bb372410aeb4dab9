#pragma once

#include <cstdint>

#include "overdue/base/result.h"
#include "overdue/base/time.h"

namespace overdue {

// RetryBudget caps the load that retries may add to a dependency.
//
// Every first attempt saves a fraction of a retry, elapsed time saves a small floor, and a retry spends one
// whole. Over any span the retries granted are at most
//     retries_saved_max + first attempts * retries_per_1000_requests / 1000
//                       + seconds * retries_per_1000_seconds_min / 1000,
// so a dependency that fails every call is not also handed a storm of retries. The floor lets a quiet client
// retry at all (field case C40).
//
// Time:    `now` must not run backwards from one call to the next.
// Threads: none; give each event loop its own budget.
// Replay:  integers only, so equal inputs give equal answers on any machine.
class RetryBudget {
 public:
  struct Options {
    std::int64_t retries_per_1000_requests = 100;
    std::int64_t retries_per_1000_seconds_min = 1000;  // The floor: one a second.
    std::int64_t retries_saved_max = 10;               // Burst size, and the starting credit.
  };

  // Fails with invalid_argument unless retries_per_1000_requests is in [0, 1'000'000],
  // retries_per_1000_seconds_min in [0, 1'000'000'000] and retries_saved_max in [1, 1'000'000].
  static Result<RetryBudget> create(const Options& options, Instant now);

  void on_first_attempt(Instant now);

  // Spends one retry and returns true, or leaves the budget as it was.
  [[nodiscard]] bool try_spend_retry(Instant now);

 private:
  RetryBudget(const Options& options, Instant now);
  void save_for_elapsed_time(Instant now);
  std::int64_t credit_max() const { return options_.retries_saved_max * kRetry; }

  // One retry. Chosen so that 1 retry in 1000 s is exactly 1 a nanosecond.
  static constexpr std::int64_t kRetry = 1'000'000'000'000;

  Options options_;
  Instant updated_at_;
  std::int64_t credit_;
};

// The other kind of budget, of retries at work at once, as Envoy counts it: the greater of the floor and the
// share of the calls that are live. Requires: all are >= 0.
constexpr std::int64_t concurrent_retries_max(std::int64_t live_calls, std::int64_t retries_per_1000_calls,
                                              std::int64_t retries_min) {
  const std::int64_t share = live_calls * retries_per_1000_calls / 1000;
  return share > retries_min ? share : retries_min;
}

}  // namespace overdue
