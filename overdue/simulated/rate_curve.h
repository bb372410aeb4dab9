#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "overdue/base/time.h"
#include "overdue/simulated/scenario_client.h"

namespace overdue {

// RateCurve is a rate of arrivals over time, straight between its corners. Arrivals of a Poisson process with
// it are where its integral grows by exponential steps of mean 1 (Cinlar's inversion), exact on ramps too.
class RateCurve {
 public:
  RateCurve() = default;
  // `share` of the rates: of the processes that divide them.
  RateCurve(const OpenArrivals& arrivals, double share);

  // When the integral from `from` has grown by `area`; none where it never does.
  // Requires: `from` never runs backwards, area >= 0.
  std::optional<Instant> after(Instant from, double area) const {
    const double at = ns_after(static_cast<double>(from.time_since_epoch().count()), area);
    if (!(at < 0x1p62)) return std::nullopt;
    return Instant(Duration(static_cast<std::int64_t>(at)));
  }

 private:
  struct Corner {
    double at_ns;
    double per_ns;        // At the corner, and from there on.
    double slope_per_ns;  // Of per_ns, up to the next corner.
  };
  double ns_after(double at, double area) const;  // Infinite: never.

  std::vector<Corner> corners_;
};

}  // namespace overdue
