#pragma once

#include <algorithm>
#include <cstdint>

#include "overdue/base/random.h"
#include "overdue/base/time.h"
#include "overdue/latency/duration_draw.h"

namespace overdue::world {

// Good and bad times of one direction of a network, alternating; looked at when a message is sent.
struct Bursts {
  Random random;
  double good_mean_ns;
  double bad_mean_ns;
  bool bad = false;
  Instant until{};

  bool bad_at(Instant now) {
    while (until <= now) {
      bad = until != Instant{} && !bad;
      const double mean = bad ? bad_mean_ns : good_mean_ns;
      const double length = std::min(mean * standard_exponential(random), DurationDraw::kLongestNs);
      until += Duration(1 + static_cast<std::int64_t>(length));
    }
    return bad;
  }
};

}  // namespace overdue::world
