#pragma once

#include <algorithm>
#include <cstdint>

#include "overdue/base/check.h"
#include "overdue/base/random.h"
#include "overdue/base/time.h"

namespace overdue {

enum class Jitter : std::uint8_t {
  none,          // base * 2^k: every client of one failure comes back at the same moment.
  full,          // Uniform in [0, base * 2^k].
  decorrelated,  // Uniform in [base, 3 * the delay before].
};

// Backoff says how long to wait before a retry: exponential from `base` up to `cap`, with jitter (Brooker,
// "Exponential Backoff And Jitter", AWS Architecture Blog, 2015).
//
// Replay: equal generators give equal delays, on integers.
struct Backoff {
  Duration base{25'000'000};
  Duration cap{1'000'000'000};
  Jitter jitter = Jitter::full;

  // The delay before retry number `retry`, counted from 1; `before` is the delay this returned for the
  // previous retry (base before the first). Draws once from `random` unless jitter is none.
  // Requires: 0 <= base <= cap, retry >= 1. Returns a value in [0, cap].
  Duration delay_before(std::uint32_t retry, Duration before, Random& random) const {
    OVERDUE_CHECK(retry >= 1 && base >= Duration(0) && base <= cap);
    if (jitter == Jitter::decorrelated) {
      const Duration high = before > cap / 3 ? cap : before * 3;
      return between(base, std::max(base, high), random);
    }
    // The cap is shifted to be compared, and not the base, so that nothing overflows; and no loop, whose
    // length is another one each time.
    const std::uint32_t doublings = std::min(retry - 1, 62U);
    const Duration bound =
        base.count() > cap.count() >> doublings ? cap : base * (std::int64_t{1} << doublings);
    return jitter == Jitter::none ? bound : between(Duration(0), bound, random);
  }

  bool operator==(const Backoff&) const = default;

 private:
  // Uniform in [low, high]. Requires: low <= high.
  static Duration between(Duration low, Duration high, Random& random) {
    return low + Duration(static_cast<std::int64_t>(
                     random.below(static_cast<std::uint64_t>((high - low).count()) + 1)));
  }
};

}  // namespace overdue
