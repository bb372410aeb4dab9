#include "overdue/policy/call_policy_of.h"

#include <fmt/format.h>

#include <algorithm>

namespace overdue {
namespace {

RetryBudget::Options budget_of(const BudgetPolicy& budget) {
  // As much as the floor earns in a window, rounded up, and one at least: else it could never be spent.
  const double floor_in_window = static_cast<double>(budget.retries_per_1000_seconds_min) / 1000 *
                                 std::chrono::duration<double>(budget.window).count();
  const auto burst = static_cast<std::int64_t>(std::min(floor_in_window + 0.999999, 1e6));
  return {.retries_per_1000_requests = budget.retries_per_1000_requests,
          .retries_per_1000_seconds_min = budget.retries_per_1000_seconds_min,
          .retries_saved_max = std::max<std::int64_t>(burst, 1)};
}

std::optional<Duration> request_of(const DependencyPolicy& dependency) {
  const TimeoutPolicy& timeout = dependency.timeout;
  if (!timeout.adaptive) return timeout.request;
  return timeout.ceiling ? timeout.ceiling : dependency.promise;
}

}  // namespace

Result<CallPolicy> call_policy_of(const DependencyPolicy& dependency) {
  const RetryPolicy& retry = dependency.retry;
  CallPolicyOptions options{.promise = dependency.promise,
                            .connect_timeout = dependency.timeout.connect,
                            .request_timeout = request_of(dependency),
                            .attempts_max = retry.attempts.value_or(1),
                            .retry_on = retry.on.value_or(RetryOn{}),
                            .backoff = retry.backoff.value_or(Backoff{}),
                            .unsafe_retry_without_key = retry.unsafe_retry_without_key,
                            .via_proxy = dependency.via_proxy};
  if (!retry.no_budget) options.retry_budget = budget_of(retry.budget.value_or(BudgetPolicy{}));
  options.watch = dependency.timeout.watch.value_or(options.watch);
  options.window = dependency.timeout.window.value_or(options.window);
  options.way_estimate = dependency.timeout.way.value_or(options.way_estimate);
  const ErrorsPolicy& errors = dependency.errors;
  for (const auto& [list, meaning] :
       {std::pair(&errors.nothing_happened, StatusMeaning::nothing_happened),
        std::pair(&errors.recorded_rejection, StatusMeaning::recorded_rejection),
        std::pair(&errors.in_flight, StatusMeaning::in_flight),
        std::pair(&errors.other_payload, StatusMeaning::other_payload)}) {
    for (const std::string& text : *list) {
      const auto status = status_of(text);
      if (!status) return fail(ErrorCode::invalid_argument, fmt::format("{} is not a status", text));
      options.errors.set(*status, meaning);
    }
  }
  return CallPolicy::create(options);
}

}  // namespace overdue
