#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "overdue/base/time.h"

namespace overdue {

// What one block of equal time holds: calls that replied, and how many of them later than a threshold, as
// LaterThan counts them. Replies of calls that could not have been seen past the threshold are not among them
// (SeenPast), so that their number need not be whole.
struct BlockTail {
  double replied = 0;
  double late = 0;
  double spread = 0;  // The variance of `late`: 0 where it is counted.
};
// The blocks of a log in the order of time, for a late threshold; empty where the log has no start times.
using TailByBlock = std::function<std::vector<BlockTail>(Duration late_above)>;

// BlockInflation says how much less a log's late calls tell than as many independent ones: with dependence,
// `vif` times the calls are needed for the same certainty (STATISTICS 5). Late calls that come in pauses of a
// server are one piece of evidence each pause, not one each call.
struct BlockInflation {
  bool known = false;               // There were at least two blocks with replies.
  double vif = 1;                   // 1 where the late calls fall like independent ones.
  std::uint64_t late_calls = 0;     // To the nearest.
  double effective_late_calls = 0;  // late_calls / vif.
  std::uint64_t blocks_with_replies = 0;
};

BlockInflation block_inflation(const std::vector<BlockTail>& blocks);

}  // namespace overdue
