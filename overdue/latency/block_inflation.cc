#include "overdue/latency/block_inflation.h"

#include <algorithm>
#include <cmath>

#include "overdue/latency/bounds.h"

namespace overdue {
namespace {

BlockTail& operator+=(BlockTail& sum, const BlockTail& block) {
  sum.replied += block.replied;
  sum.late += block.late;
  sum.spread += block.spread;
  sum.given_up.late += block.given_up.late;
  sum.given_up.lacks_replied += block.given_up.lacks_replied;
  sum.given_up.lacks_both += block.given_up.lacks_both;
  sum.given_up.lacks_late += block.given_up.lacks_late;
  return sum;
}

// By how much less the calls given up make `late - share * replied` vary than calls that were seen.
double lacking(const BlockTail::GivenUp& given_up, double share) {
  return given_up.lacks_late - 2 * share * given_up.lacks_both + share * share * given_up.lacks_replied;
}

// v_m of STATISTICS 5: how much more the late counts of blocks differ than a fair coin a call would make
// them, and 1 where that is no more than chance does. Blocks without a reply say nothing and are not counted.
// Where late calls could be seen in some blocks only, the others vary little and are no degrees of freedom:
// with q the share of a block's variance that is left, the blocks count as (sum of q)^2 / sum of q^2.
double excess(const std::vector<BlockTail>& blocks, std::size_t joined, const BlockTail& all) {
  const double share = all.late / all.replied;
  const double by_chance = all.late * (1.0 - share) - lacking(all.given_up, share);
  if (!(by_chance > 0)) return 1.0;
  double squares = 0;
  double left = 0;
  double left_squares = 0;
  for (std::size_t first = 0; first < blocks.size(); first += joined) {
    BlockTail block;
    for (std::size_t i = first; i < std::min(first + joined, blocks.size()); ++i) block += blocks[i];
    if (!(block.replied > 0)) continue;
    const double of_replies = block.replied * share * (1.0 - share);
    const double here = std::max(0.0, of_replies - lacking(block.given_up, share)) / of_replies;
    left += here;
    left_squares += here * here;
    const double difference = block.late - share * block.replied;
    squares += difference * difference + block.spread;
  }
  const double used = left_squares > 0 ? left * left / left_squares : 0;
  if (used < 2) return 1.0;
  const double degrees = used - 1;
  const double ratio = used / degrees * squares / by_chance;
  if (ratio <= chi_squared_quantile(0.9975, degrees) / degrees) return 1.0;
  const double widening = student_t_quantile(0.975, degrees) / 1.96;
  return ratio * widening * widening;
}

}  // namespace

BlockInflation block_inflation(const std::vector<BlockTail>& blocks) {
  BlockInflation result;
  BlockTail all;
  for (const BlockTail& block : blocks) {
    all += block;
    if (block.replied > 0) ++result.blocks_with_replies;
  }
  result.late_calls = static_cast<std::uint64_t>(std::llround(std::max(0.0, all.late - all.given_up.late)));
  if (result.blocks_with_replies >= 2 && all.late > 0 && all.late < all.replied) {
    for (const std::size_t joined : {1U, 2U, 4U, 8U}) {
      result.vif = std::max(result.vif, excess(blocks, joined, all));
    }
  }
  // As many as replicas are compared by: of two files a day apart each is one block or two.
  constexpr std::uint64_t kBlocksMin = 8;
  result.known = result.blocks_with_replies >= kBlocksMin || result.vif > 1;
  result.effective_late_calls = static_cast<double>(result.late_calls) / result.vif;
  return result;
}

}  // namespace overdue
