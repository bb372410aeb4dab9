#include "overdue/call/deadline.h"

#include <algorithm>

#include "overdue/base/check.h"

namespace overdue {

std::optional<Duration> remaining(Instant now, Instant deadline) {
  if (deadline <= now) return std::nullopt;
  return deadline - now;
}

std::int64_t in_whole_units(Duration left, Duration unit) {
  OVERDUE_CHECK(left > Duration(0));
  OVERDUE_CHECK(unit > Duration(0));
  return (left.count() - 1) / unit.count() + 1;
}

void WayEstimate::on_round_trip(Duration way) {
  longest_ = std::max(longest_, way);
  if (!measured_) {
    measured_ = true;
    mean_ = way;
    deviation_ = way / 2;
    return;
  }
  const Duration off = way > mean_ ? way - mean_ : mean_ - way;
  deviation_ += (off - deviation_) / 4;
  mean_ += (way - mean_) / 8;
}

Duration WayEstimate::margin() const {
  return measured_ ? std::min(mean_ + 4 * deviation_, longest_) : estimate_;
}

std::optional<Duration> WayEstimate::allowance(Instant now, Instant answer_by) const {
  const auto left = remaining(now, answer_by);
  if (!left) return std::nullopt;
  return *left - std::min(margin(), *left / 2);
}

bool ServerGuard::refuse_if(bool late) {
  if (late) state_ = State::refused;
  return !late;
}

bool ServerGuard::try_admit(Instant earliest_finish) {
  OVERDUE_CHECK(state_ == State::arrived);
  return refuse_if(deadline_ && earliest_finish >= *deadline_);
}

bool ServerGuard::try_start(Instant now) {
  OVERDUE_CHECK(state_ == State::arrived);
  if (!refuse_if(deadline_ && now >= *deadline_)) return false;
  state_ = State::started;
  return true;
}

bool ServerGuard::try_commit(Instant now) {
  OVERDUE_CHECK(state_ == State::started);
  if (!refuse_if(deadline_ && now >= *deadline_)) return false;
  state_ = State::committed;
  return true;
}

}  // namespace overdue
