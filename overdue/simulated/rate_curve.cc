#include "overdue/simulated/rate_curve.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace overdue {
namespace {

double ns_of(Duration length) { return static_cast<double>(length.count()); }

// The time t at which rate * t + slope * t^2 / 2 is `area`, in the form that does not cancel.
double time_to(double area, double rate, double slope) {
  if (slope == 0) return rate > 0 ? area / rate : std::numeric_limits<double>::infinity();
  const double under = rate * rate + 2 * slope * area;
  if (under < 0) return std::numeric_limits<double>::infinity();  // It falls to zero before.
  const double below = rate + std::sqrt(under);
  return below > 0 ? 2 * area / below : std::numeric_limits<double>::infinity();
}

}  // namespace

RateCurve::RateCurve(const OpenArrivals& arrivals, double share) {
  double rate = arrivals.per_second * share / 1e9;
  corners_.push_back({0, rate, 0});
  for (const RateChange& change : arrivals.changes) {
    const double to = change.per_second * share / 1e9;
    const double over = ns_of(change.over);
    if (over > 0) corners_.push_back({ns_of(change.at), rate, (to - rate) / over});
    corners_.push_back({ns_of(change.at) + over, to, 0});
    rate = to;
  }
}

double RateCurve::ns_after(double at, double area) const {
  auto next = corners_.end();  // Most of the time, and always of a constant rate.
  if (at < corners_.back().at_ns) next = std::ranges::upper_bound(corners_, at, {}, &Corner::at_ns);
  for (;; ++next) {
    const Corner& corner = *(next - 1);
    const double rate = std::max(corner.per_ns + corner.slope_per_ns * (at - corner.at_ns), 0.0);
    const double takes = time_to(area, rate, corner.slope_per_ns);
    const bool last = next == corners_.end();
    if (last || at + takes < next->at_ns) return at + takes;
    const double length = next->at_ns - at;
    area = std::max(area - length * (rate + corner.slope_per_ns * length / 2), 0.0);
    at = next->at_ns;
  }
}

}  // namespace overdue
