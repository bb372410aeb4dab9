#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "overdue/base/attempt.h"

namespace overdue {

// AttemptColumns is attempts of the usual kind, column by column instead of row by row: what reads and counts
// them then works on many at once. Each is a call of its own, took longer than 0, was not refused, and says
// nothing of a connect, a route or a group. Backends are ids of the reader's table.
struct AttemptColumns {
  static constexpr std::size_t kRowsMax = 512;  // With all that is made of them, they fit the nearest caches.

  std::array<WallTime, kRowsMax> start;  // Meaningful where has_start.
  std::array<Duration, kRowsMax> elapsed;
  std::array<std::uint16_t, kRowsMax> backend;
  std::array<Ending, kRowsMax> ending;
  std::size_t size = 0;
  bool has_start = false;  // All of them, or none.

  Attempt row(std::size_t index) const {
    Attempt row;
    if (has_start) row.start = start[index];
    row.has_start = has_start;
    row.elapsed = elapsed[index];
    row.backend = backend[index];
    row.ending = ending[index];
    row.begins_call = true;
    return row;
  }
};

}  // namespace overdue
