#pragma once

#include <cstdint>
#include <vector>

#include "overdue/base/time.h"
#include "overdue/latency/ending_row.h"
#include "overdue/latency/time_grid.h"

namespace overdue {

// SeenPast counts, of the calls of a part of a log that ended by a threshold, those that could have been seen
// past it. A call given up before could not: where a limit of 150 ms was in force no block has calls later
// than 225 ms, however slow it is, and that is no sign of dependence (STATISTICS 5 and 8).
//
// Which of the calls that ended early would have been given up before the threshold nobody knows. Each counts
// with the chance that it would not have, G(threshold) / G(its end), with G of STATISTICS 1 taken over the
// part alone. Where nobody gave up before the threshold that is 1. In the same way `seen_share` says how much
// of the replies later than the threshold could be seen, by their latencies in the whole log's curve: of
// those between 225 ms and a second a limit of 300 ms shows a few.
//
// Requires: the table lives as long. Threads: const and shared.
class SeenPast {
 public:
  // `table` is of the whole log; of the threshold's own bucket it says how much lies below.
  SeenPast(Duration threshold, const EndingTable& table);

  // Nobody gave up before the threshold, in the whole log: everybody counts.
  bool everybody() const { return !any_gave_up_; }
  // Nor after it before the last reply: all late replies were seen.
  bool all_replies() const { return everybody() && !any_gave_up_later_; }

  struct Count {
    double early_replies = 0;  // Those up to the threshold, weighted.
    double seen_share = 1;     // Of the replies later than the threshold.
    double calls = 0;          // Every ending that could have been seen past it, the late ones too.
    std::uint64_t all_calls = 0;
  };
  // Of a block of Measurement::blocks(), over these backends.
  Count in(const TimeGrid& blocks, std::uint32_t block, const std::vector<std::uint16_t>& backends) const;

 private:
  std::uint32_t bucket_;
  bool any_gave_up_ = false;
  bool any_gave_up_later_ = false;
  // Of the whole log's curve, what replies in each bucket, from the threshold's own on.
  std::vector<double> later_;
  // Of the endings in the threshold's own bucket, the shares that lie at or below it.
  double replies_share_ = 1;
  double gave_up_share_ = 0;  // Before it.
};

}  // namespace overdue
