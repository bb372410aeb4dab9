#pragma once

#include <cstdint>
#include <vector>

#include "overdue/base/time.h"
#include "overdue/latency/ending_row.h"
#include "overdue/latency/time_grid.h"

namespace overdue {

// SeenPast counts, of the calls of a part of a log, those that could have been seen past a threshold. A call
// given up before could not: where a limit of 150 ms was in force no second has calls later than 225 ms,
// however slow it is, and that is no sign of bursts (STATISTICS 8).
//
// Which of the calls that ended early would have been given up before the threshold nobody knows. Each counts
// with the chance that it would not have, G(threshold) / G(its end), with G of STATISTICS 1 taken over the
// part alone, or with as many of its neighbours as it takes until five calls tell: watched past the
// threshold, or the last to give up before. In a short stretch with a limit of 60 ms nobody may reach it by
// chance. Where nobody gave up before the threshold every call counts.
//
// Threads: const and shared.
class SeenPast {
 public:
  // `table` is of the whole log; of the threshold's own bucket it says how much lies below.
  SeenPast(Duration threshold, const EndingTable& table);

  // Nobody gave up before the threshold, in the whole log: everybody counts.
  bool everybody() const { return !any_gave_up_; }

  struct Count {
    double calls = 0;  // Every ending that could have been seen past it, the late ones too.
    std::uint64_t all_calls = 0;
  };
  // Of a block of Measurement::blocks(), over these backends.
  Count in(const TimeGrid& blocks, std::uint32_t block, const std::vector<std::uint16_t>& backends) const;

 private:
  struct Told {
    Count count;
    double by = 0;  // By so many calls.
  };
  // Of the blocks from the first to the last together.
  Told told_by(const TimeGrid& blocks, std::uint32_t first, std::uint32_t last,
               const std::vector<std::uint16_t>& backends) const;

  std::uint32_t bucket_;
  bool any_gave_up_ = false;
  // Of the endings in the threshold's own bucket, the shares that lie at or below it.
  double replies_share_ = 1;
  double gave_up_share_ = 0;  // Before it.
};

}  // namespace overdue
