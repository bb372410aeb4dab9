#pragma once

#include <cstdint>

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
  Duration delay_before(std::uint32_t retry, Duration before, Random& random) const;

  bool operator==(const Backoff&) const = default;
};

}  // namespace overdue
