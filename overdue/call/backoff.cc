#include "overdue/call/backoff.h"

#include <algorithm>

#include "overdue/base/check.h"

namespace overdue {
namespace {

// Uniform in [low, high]. Requires: low <= high.
Duration between(Duration low, Duration high, Random& random) {
  return low + Duration(static_cast<std::int64_t>(
                   random.below(static_cast<std::uint64_t>((high - low).count()) + 1)));
}

}  // namespace

Duration Backoff::delay_before(std::uint32_t retry, Duration before, Random& random) const {
  OVERDUE_CHECK(retry >= 1 && base >= Duration(0) && base <= cap);
  if (jitter == Jitter::decorrelated) {
    const Duration high = before > cap / 3 ? cap : before * 3;
    return between(base, std::max(base, high), random);
  }
  // Doubled one by one, so that nothing overflows on the way to the cap.
  Duration bound = base;
  for (std::uint32_t doubled = 1; doubled < retry && bound < cap; ++doubled)
    bound = bound > cap / 2 ? cap : bound * 2;
  return jitter == Jitter::none ? bound : between(Duration(0), bound, random);
}

}  // namespace overdue
