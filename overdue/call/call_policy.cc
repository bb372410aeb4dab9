#include "overdue/call/call_policy.h"

#include <fmt/format.h>

#include <array>

namespace overdue {
namespace {

struct Limit {
  const char* name;
  std::optional<Duration> value;
};

}  // namespace

Result<CallPolicy> CallPolicy::create(const CallPolicyOptions& options) {
  const auto wrong = [](std::string what) { return fail(ErrorCode::invalid_argument, std::move(what)); };
  for (const Limit& limit : std::array<Limit, 4>{{{"promise", options.promise},
                                                  {"connect_timeout", options.connect_timeout},
                                                  {"request_timeout", options.request_timeout},
                                                  {"window", options.window}}}) {
    if (limit.value && *limit.value <= Duration(0))
      return wrong(fmt::format("{} = {} ns: must be positive", limit.name, limit.value->count()));
  }
  if (options.way_estimate < Duration(0)) return wrong("way_estimate must not be negative");
  if (options.attempts_max < 1 || options.attempts_max > kAttemptsMax)
    return wrong(fmt::format("attempts_max = {}: must be in [1, {}]", options.attempts_max, kAttemptsMax));
  if (options.backoff.base < Duration(0) || options.backoff.base > options.backoff.cap)
    return wrong("backoff.base must be in [0, backoff.cap]");
  if (options.retry_budget) {
    if (const auto budget = RetryBudget::create(*options.retry_budget, Instant{}); !budget)
      return std::unexpected(budget.error());
  }
  return CallPolicy(options);
}

}  // namespace overdue
