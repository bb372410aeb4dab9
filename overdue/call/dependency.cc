#include "overdue/call/dependency.h"

#include <algorithm>
#include <utility>

namespace overdue {

Dependency::Dependency(const CallPolicy& policy, Instant now)
    : policy_(policy),
      request_timeout_(policy->request_timeout),
      way_(policy->way_estimate),
      half_window_ends_(saturating_add(now, half_window())) {
  // The policy's options were tried when it was made.
  if (policy->retry_budget) retry_budget_ = RetryBudget::create(*policy->retry_budget, now).value();
}

// At least 1 ns, for windows as short as that.
Duration Dependency::half_window() const { return std::max(policy_->window / 2, Duration(1)); }

void Dependency::on_answer(Instant now, const AnswerSeen& answer) {
  if (answer.late)
    ++counts_.late_answers;
  else
    ++counts_.endings[static_cast<std::size_t>(answer.ending)];
  if (answer.way) way_.on_round_trip(*answer.way);
  if (answer.ending != Ending::replied) return;
  if (now >= half_window_ends_) turn_window(now);
  current_.add(answer.elapsed);
}

void Dependency::turn_window(Instant now) {
  const bool both_are_old = now - half_window_ends_ >= half_window();
  std::swap(current_, previous_);
  current_.clear();
  if (both_are_old) previous_.clear();
  half_window_ends_ = saturating_add(now, half_window());
}

LatencyHistogram Dependency::recent_latencies() const {
  LatencyHistogram sum = previous_;
  sum.merge(current_);
  return sum;
}

}  // namespace overdue
