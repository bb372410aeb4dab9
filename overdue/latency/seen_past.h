#pragma once

#include <cstdint>
#include <vector>

#include "overdue/base/time.h"
#include "overdue/latency/ending_row.h"
#include "overdue/latency/time_grid.h"

namespace overdue {

// GiveUps is what a table says of the calls given up, found once for the many thresholds of SeenPast.
//
// Requires: the table lives as long, and stays as it is. Threads: const and shared.
class GiveUps {
 public:
  // `table` is of the whole log.
  explicit GiveUps(const EndingTable& table);

 private:
  friend class SeenPast;
  // The rows of one bucket.
  struct Part {
    std::uint32_t bucket = 0;
    std::size_t first_row = 0;
    double watched = 0;  // Before them.
    double share = 1;    // Of one watched call in the curve (SurvivalCurve), as it was at the beginning.
    double replied = 0;  // What replies among them, in the curve.
  };
  // What rows of `part` replied later than the threshold.
  double replied_later(const Part& part, Duration threshold) const;

  const EndingTable* table_;
  Duration first_ = Duration::max();
  Duration last_before_a_reply_ = Duration::min();  // The last that a later reply came after.
  Duration last_reply_ = Duration::min();
  std::vector<Part> parts_;  // None where nobody gave up before a reply.
};

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
// Threads: const and shared.
class SeenPast {
 public:
  // `give_ups` is of the whole log; of the threshold's own bucket its table says how much lies below.
  SeenPast(Duration threshold, const GiveUps& give_ups);

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
  // Of the whole log's curve, what replies in each bucket, from the threshold's own on; empty where all late
  // replies were seen.
  std::vector<double> later_;
  // Of the endings in the threshold's own bucket, the shares that lie at or below it.
  double replies_share_ = 1;
  double gave_up_share_ = 0;  // Before it.
};

}  // namespace overdue
