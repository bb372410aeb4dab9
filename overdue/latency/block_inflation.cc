#include "overdue/latency/block_inflation.h"

#include <algorithm>
#include <cmath>

#include "overdue/latency/bounds.h"

namespace overdue {
namespace {

// v_m of STATISTICS 5: how much more the late counts of blocks differ than a fair coin a call would make
// them, and 1 where that is no more than chance does. Blocks without a reply say nothing and are not counted.
double excess(const std::vector<BlockTail>& blocks, std::size_t joined, double replied, double late) {
  const double share = late / replied;
  double squares = 0;
  double used = 0;
  for (std::size_t first = 0; first < blocks.size(); first += joined) {
    BlockTail block;
    for (std::size_t i = first; i < std::min(first + joined, blocks.size()); ++i) {
      block.replied += blocks[i].replied;
      block.late += blocks[i].late;
      block.spread += blocks[i].spread;
    }
    if (!(block.replied > 0)) continue;
    used += 1;
    const double difference = block.late - share * block.replied;
    squares += difference * difference + block.spread;
  }
  if (used < 2) return 1.0;
  const double degrees = used - 1;
  const double ratio = used / degrees * squares / (late * (1.0 - share));
  if (ratio <= chi_squared_quantile(0.9975, degrees) / degrees) return 1.0;
  const double widening = student_t_quantile(0.975, degrees) / 1.96;
  return ratio * widening * widening;
}

}  // namespace

BlockInflation block_inflation(const std::vector<BlockTail>& blocks) {
  BlockInflation result;
  double replied = 0;
  double late = 0;
  for (const BlockTail& block : blocks) {
    replied += block.replied;
    late += block.late;
    if (block.replied > 0) ++result.blocks_with_replies;
  }
  result.known = result.blocks_with_replies >= 2;
  result.late_calls = static_cast<std::uint64_t>(std::llround(late));
  if (result.known && result.late_calls > 0 && late < replied) {
    for (const std::size_t joined : {1U, 2U, 4U, 8U}) {
      result.vif = std::max(result.vif, excess(blocks, joined, replied, late));
    }
  }
  result.effective_late_calls = static_cast<double>(result.late_calls) / result.vif;
  return result;
}

}  // namespace overdue
