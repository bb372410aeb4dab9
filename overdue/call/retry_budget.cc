#include "overdue/call/retry_budget.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "overdue/base/check.h"

namespace overdue {

Result<RetryBudget> RetryBudget::create(const Options& options, Instant now) {
  struct Limit {
    const char* name;
    std::int64_t value, min, max;
  };
  for (const Limit& limit : std::array<Limit, 3>{
           {{"retries_per_1000_requests", options.retries_per_1000_requests, 0, 1'000'000},
            {"retries_per_1000_seconds_min", options.retries_per_1000_seconds_min, 0, 1'000'000'000},
            {"retries_saved_max", options.retries_saved_max, 1, 1'000'000}}}) {
    if (limit.value < limit.min || limit.value > limit.max) {
      return fail(ErrorCode::invalid_argument,
                  fmt::format("{} = {}: must be in [{}, {}]", limit.name, limit.value, limit.min, limit.max));
    }
  }
  return RetryBudget(options, now);
}

RetryBudget::RetryBudget(const Options& options, Instant now)
    : options_(options), updated_at_(now), credit_(credit_max()) {}

void RetryBudget::on_first_attempt(Instant now) {
  save_for_elapsed_time(now);
  credit_ = std::min(credit_max(), credit_ + options_.retries_per_1000_requests * (kRetry / 1000));
}

bool RetryBudget::try_spend_retry(Instant now) {
  save_for_elapsed_time(now);
  if (credit_ < kRetry) return false;
  credit_ -= kRetry;
  return true;
}

void RetryBudget::save_for_elapsed_time(Instant now) {
  OVERDUE_CHECK(now >= updated_at_);
  const std::int64_t elapsed_ns = (now - updated_at_).count();
  updated_at_ = now;
  std::int64_t saved = 0;
  // A wrapped product is past the maximum in any case.
  if (__builtin_mul_overflow(elapsed_ns, options_.retries_per_1000_seconds_min, &saved)) saved = credit_max();
  credit_ = std::min(credit_max(), credit_ + std::min(saved, credit_max()));
}

}  // namespace overdue
