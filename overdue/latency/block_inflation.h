#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "overdue/base/time.h"

namespace overdue {

// What one block of equal time holds: calls that replied, and how many of them later than a threshold, as
// LaterThan counts them. A call given up counts with the chances that it would have (WouldReply), so that the
// numbers need not be whole.
struct BlockTail {
  double replied = 0;
  double late = 0;
  double spread = 0;  // The variance of `late`: 0 where it is counted.

  // A chance varies less than a call that was seen to reply or be late. Over the calls given up, with their
  // chances r and l: the sums of what r^2, r l and l^2 lack of that.
  struct GivenUp {
    double late = 0;           // Their part of `late`: l.
    double lacks_replied = 0;  // r - r^2.
    double lacks_both = 0;     // l - r l.
    double lacks_late = 0;     // l - l^2.
  };
  GivenUp given_up;

  // Each of `calls` would have replied with this chance, and later than the threshold with that.
  void add_given_up(double calls, double chance_replied, double chance_late) {
    replied += calls * chance_replied;
    late += calls * chance_late;
    given_up.late += calls * chance_late;
    given_up.lacks_replied += calls * chance_replied * (1 - chance_replied);
    given_up.lacks_both += calls * chance_late * (1 - chance_replied);
    given_up.lacks_late += calls * chance_late * (1 - chance_late);
  }
};
// The blocks of a log in the order of time, for a late threshold; empty where the log has no start times.
using TailByBlock = std::function<std::vector<BlockTail>(Duration late_above)>;

// BlockInflation says how much less a log's late calls tell than as many independent ones: with dependence,
// `vif` times the calls are needed for the same certainty (STATISTICS 5). Late calls that come in pauses of a
// server are one piece of evidence each pause, not one each call.
struct BlockInflation {
  bool known = false;               // There were eight blocks with replies, or fewer that differ.
  double vif = 1;                   // 1 where the late calls fall like independent ones.
  std::uint64_t late_calls = 0;     // Those that were seen, to the nearest.
  double effective_late_calls = 0;  // late_calls / vif.
  std::uint64_t blocks_with_replies = 0;
};

BlockInflation block_inflation(const std::vector<BlockTail>& blocks);

}  // namespace overdue
