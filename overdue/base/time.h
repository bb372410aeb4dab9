#pragma once

#include <chrono>
#include <cstdint>

namespace overdue {

using Duration = std::chrono::nanoseconds;

// PolicyClock names the timeline on which policies run. It has no now(): in the pure rooms, the only way to
// learn the time is to be told it.
struct PolicyClock {
  using duration = Duration;
  using rep = duration::rep;
  using period = duration::period;
  using time_point = std::chrono::time_point<PolicyClock>;
  static constexpr bool is_steady = true;
};

// Instant is a point on the policy timeline. Only differences have a meaning.
using Instant = PolicyClock::time_point;

// WallClock names the time of day as logs write it: nanoseconds since 1970-01-01 UTC. No now() here either.
struct WallClock {
  using duration = Duration;
  using rep = duration::rep;
  using period = duration::period;
  using time_point = std::chrono::time_point<WallClock>;
  static constexpr bool is_steady = false;
};

// WallTime is when something happened according to whoever wrote the log. It does not convert to Instant.
using WallTime = WallClock::time_point;

// Returns `start + length`, or the last Instant where the sum would overflow. Requires: length >= 0.
constexpr Instant saturating_add(Instant start, Duration length) {
  return start > Instant::max() - length ? Instant::max() : start + length;
}

}  // namespace overdue
