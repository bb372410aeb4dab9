#include "overdue/latency/survival_curve.h"

#include <algorithm>
#include <limits>

#include "overdue/base/check.h"

namespace overdue {

// One pass upward. With w = 1 / (n G) the share of one watched call: d replies add d w to R, resets and
// rejections the same to their own sums, the open share is w times the calls still watched, and c give-ups
// among Y' watched calls multiply w by Y' / (Y' - c). Since G C is the sum of the weights of the calls that
// never reply, S = w Y*, and so Greenwood's term d / (Y* (Y* - d)) is d / ((S / w) (S / w - d)).
SurvivalCurve::SurvivalCurve(const EndingTable& table) : table_(&table) {
  for (const EndingRow& row : table) {
    calls_ += row.replied + row.rejected + row.reset + row.gave_up();
  }
  points_.reserve(table.size());
  std::uint64_t watched = calls_;
  double share = calls_ == 0 ? 0.0 : 1.0 / static_cast<double>(calls_);

  // Counts since the share last changed: multiplied once, so that rounding does not grow with the rows.
  Point base;
  std::uint64_t replied = 0;
  std::uint64_t reset = 0;
  std::uint64_t rejected = 0;
  bool all_gave_up = false;
  Point point;
  for (std::size_t i = 0; i < table.size(); ++i) {
    const EndingRow& row = table[i];
    OVERDUE_CHECK(i == 0 || table[i - 1].low < row.low);
    if (row.replied > 0) {
      const double effective = static_cast<double>(watched) + (point.reset + point.rejected) / share;
      const double replies = static_cast<double>(row.replied);
      point.greenwood += effective > replies ? replies / (effective * (effective - replies))
                                             : std::numeric_limits<double>::infinity();
    }
    replied += row.replied;
    reset += row.reset;
    rejected += row.rejected;
    point.replies += row.replied;
    watched -= row.replied + row.reset + row.rejected;
    point.replied = base.replied + share * static_cast<double>(replied);
    point.reset = base.reset + share * static_cast<double>(reset);
    point.rejected = base.rejected + share * static_cast<double>(rejected);
    // Once the last watched calls gave up their share stays open, whatever empty rows follow.
    if (!all_gave_up) point.open = share * static_cast<double>(watched);
    if (const std::uint64_t gave_up = row.gave_up(); gave_up > 0) {
      all_gave_up = gave_up == watched;
      if (!all_gave_up) share *= static_cast<double>(watched) / static_cast<double>(watched - gave_up);
      watched -= gave_up;
      base = point;
      replied = reset = rejected = 0;
    }
    point.watched_after = watched;
    points_.push_back(point);
  }
}

std::size_t SurvivalCurve::row_of_reply(std::uint64_t rank) const {
  OVERDUE_CHECK(!empty() && rank >= 1 && rank <= back().replies);
  return static_cast<std::size_t>(std::ranges::lower_bound(points_, rank, {}, &Point::replies) -
                                  points_.begin());
}

std::optional<std::size_t> SurvivalCurve::row_at(Duration t) const {
  const auto after = std::upper_bound(table_->begin(), table_->end(), t,
                                      [](Duration value, const EndingRow& row) { return value < row.mid; });
  if (after == table_->begin()) return std::nullopt;
  return static_cast<std::size_t>(after - table_->begin()) - 1;
}

SurvivalCurve::Point SurvivalCurve::at(Duration t) const {
  if (const auto row = row_at(t)) return points_[*row];
  Point start;
  start.open = calls_ == 0 ? 0.0 : 1.0;
  start.watched_after = calls_;
  return start;
}

std::optional<std::size_t> SurvivalCurve::first_row_reaching(double share, std::size_t last_row) const {
  OVERDUE_CHECK(last_row < points_.size());
  const auto end = points_.begin() + static_cast<std::ptrdiff_t>(last_row) + 1;
  const auto found = std::lower_bound(points_.begin(), end, share, [](const Point& point, double wanted) {
    return point.replied * (1.0 + 1e-12) < wanted;
  });
  if (found == end) return std::nullopt;
  return static_cast<std::size_t>(found - points_.begin());
}

}  // namespace overdue
