#include "overdue/latency/survival_curve.h"

#include <algorithm>
#include <limits>
#include <ranges>

#include "overdue/base/check.h"

namespace overdue {

SurvivalCurve::State::State(std::uint64_t calls)
    : share_(calls == 0 ? 0.0 : 1.0 / static_cast<double>(calls)),
      effective_(static_cast<double>(calls)),
      watched_(calls) {}

// With w = 1 / (n G) the share of one watched call: d replies add d w to R, resets and rejections the same to
// their own sums, and the open share is w times the calls still watched. Since G C is the sum of the weights
// of the calls that never reply, S = w Y*, and Greenwood's terms are d / (Y* (Y* - d)) with Y* = S / w. While
// w stands Y* falls by the replies alone, and the terms' sum over D of them is D / (Y* (Y* - D)).
SurvivalCurve::Point SurvivalCurve::State::point() const {
  const auto replies = static_cast<double>(replied_);
  Point point = base_;
  point.replied += share_ * replies;
  point.reset += share_ * static_cast<double>(reset_);
  point.rejected += share_ * static_cast<double>(rejected_);
  if (!all_gave_up_) point.open = share_ * static_cast<double>(watched_);
  if (replied_ > 0) {
    point.greenwood += effective_ > replies ? replies / (effective_ * (effective_ - replies))
                                            : std::numeric_limits<double>::infinity();
  }
  point.watched_after = watched_;
  point.replies += replied_;
  return point;
}

void SurvivalCurve::State::take(const EndingRow& row) {
  replied_ += row.replied;
  reset_ += row.reset;
  rejected_ += row.rejected;
  watched_ -= row.replied + row.reset + row.rejected;
  if (const std::uint64_t gave_up = row.gave_up(); gave_up > 0) give_up(gave_up);
}

// c give-ups among Y' watched calls multiply w by Y' / (Y' - c).
void SurvivalCurve::State::give_up(std::uint64_t count) {
  base_ = point();
  replied_ = reset_ = rejected_ = 0;
  all_gave_up_ = count == watched_;
  if (!all_gave_up_) share_ *= static_cast<double>(watched_) / static_cast<double>(watched_ - count);
  watched_ -= count;
  effective_ = static_cast<double>(watched_) + (base_.reset + base_.rejected) / share_;
}

SurvivalCurve::SurvivalCurve(const EndingTable& table) : table_(&table) {
  for (const EndingRow& row : table) {
    calls_ += row.replied + row.rejected + row.reset + row.gave_up();
  }
  before_.reserve(table.size() / kStride + 1);
  State state(calls_);
  for (std::size_t row = 0; row < table.size(); ++row) {
    OVERDUE_CHECK(row == 0 || table[row - 1].low < table[row].low);
    if (row % kStride == 0) before_.push_back(state);
    state.take(table[row]);
  }
  if (table.size() % kStride == 0) before_.push_back(state);
  end_ = state.point();
}

SurvivalCurve::Point SurvivalCurve::operator[](std::size_t row) const {
  const std::size_t kept = (row + 1) / kStride;
  State state = before_[kept];
  for (std::size_t next = kept * kStride; next <= row; ++next) state.take((*table_)[next]);
  return state.point();
}

std::size_t SurvivalCurve::row_of_reply(std::uint64_t rank) const {
  OVERDUE_CHECK(!empty() && rank >= 1 && rank <= back().replies);
  return *std::ranges::partition_point(std::views::iota(std::size_t{0}, size()),
                                       [&](std::size_t row) { return (*this)[row].replies < rank; });
}

std::optional<std::size_t> SurvivalCurve::row_at(Duration t) const {
  const auto after = std::upper_bound(table_->begin(), table_->end(), t,
                                      [](Duration value, const EndingRow& row) { return value < row.mid; });
  if (after == table_->begin()) return std::nullopt;
  return static_cast<std::size_t>(after - table_->begin()) - 1;
}

SurvivalCurve::Point SurvivalCurve::at(Duration t) const {
  if (const auto row = row_at(t)) return (*this)[*row];
  Point start;
  start.open = calls_ == 0 ? 0.0 : 1.0;
  start.watched_after = calls_;
  return start;
}

std::optional<std::size_t> SurvivalCurve::first_row_reaching(double share, std::size_t last_row) const {
  OVERDUE_CHECK(last_row < size());
  const std::size_t row = *std::ranges::partition_point(
      std::views::iota(std::size_t{0}, last_row + 1),
      [&](std::size_t at) { return (*this)[at].replied * (1.0 + 1e-12) < share; });
  return row > last_row ? std::nullopt : std::optional(row);
}

}  // namespace overdue
