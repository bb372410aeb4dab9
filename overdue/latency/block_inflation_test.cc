#include "overdue/latency/block_inflation.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "overdue/base/random.h"
#include "overdue/latency/bounds.h"

namespace overdue {
namespace {

TEST(BlockInflation, NothingIsKnownWithoutTwoBlocksOfReplies) {
  EXPECT_FALSE(block_inflation({}).known);
  const BlockInflation one = block_inflation({{.replied = 1000, .late = 10}, {}});
  EXPECT_FALSE(one.known);
  EXPECT_EQ(one.vif, 1.0);
  EXPECT_EQ(one.effective_late_calls, 10.0);
}

TEST(BlockInflation, EvenlySpreadLateCallsAreWorthTheirNumber) {
  const BlockInflation even = block_inflation(std::vector<BlockTail>(64, {.replied = 1000, .late = 10}));
  EXPECT_TRUE(even.known);
  EXPECT_EQ(even.vif, 1.0);
  EXPECT_EQ(even.effective_late_calls, 640.0);
  EXPECT_EQ(even.blocks_with_replies, 64U);
}

// Ten late calls in 2 of 16 blocks of 100, p = 1/80. By hand,
//     v_1 = 16/15 * (2 * 8.75^2 + 14 * 1.25^2) / (1600 p (1 - p)),
// likewise for 2 and 4 blocks joined; with 8 joined the two halves are equal and do not stand out.
TEST(BlockInflation, IsTheLargestExcessOfTheStretchesThatStandOut) {
  std::vector<BlockTail> blocks(16, {.replied = 100, .late = 0});
  blocks[3].late = 10;
  blocks[11].late = 10;
  const double share = 1.0 / 80;
  const auto widened = [&](double squares, double count) {
    const double widening = student_t_quantile(0.975, count - 1) / 1.96;
    return count / (count - 1) * squares / (1600 * share * (1 - share)) * widening * widening;
  };
  const double one = widened(2 * 8.75 * 8.75 + 14 * 1.25 * 1.25, 16);
  const double two = widened(2 * 7.5 * 7.5 + 6 * 2.5 * 2.5, 8);
  const double four = widened(4 * 5.0 * 5.0, 4);
  const BlockInflation inflation = block_inflation(blocks);
  EXPECT_NEAR(inflation.vif, std::max({one, two, four}), 1e-12);
  EXPECT_NEAR(inflation.effective_late_calls, 20 / inflation.vif, 1e-12);
}

// Of each block's hundred replies ten are those of twenty calls given up that would have replied with a
// chance of a half, and been late with one of a hundredth: chances vary less than as many replies, and they
// are no late calls that were seen.
TEST(BlockInflation, AChanceVariesLessThanACall) {
  std::vector<BlockTail> given_up(16, {.replied = 90, .late = 0});
  given_up[3].late = given_up[11].late = 10;
  std::vector<BlockTail> seen;
  for (BlockTail& block : given_up) {
    block.add_given_up(20, 0.5, 0.01);
    seen.push_back({.replied = block.replied, .late = block.late});
  }
  const double share = (20 + 16 * 0.2) / 1600;
  const double chance = 1600 * share * (1 - share);
  const double lacks = 320 * (0.0099 - 2 * share * 0.005 + share * share * 0.25);
  const BlockInflation inflation = block_inflation(given_up);
  EXPECT_NEAR(inflation.vif / block_inflation(seen).vif, chance / (chance - lacks), 1e-9);
  EXPECT_EQ(inflation.late_calls, 20U);
}

// In the other blocks everybody was given up at once: they vary by nothing, and that is no evenness.
TEST(BlockInflation, BlocksInWhichNothingCouldBeSeenAreNoDegreesOfFreedom) {
  std::vector<BlockTail> seen(4, {.replied = 100, .late = 0});
  seen[0].late = 20;
  std::vector<BlockTail> with_blind = seen;
  with_blind.resize(32);
  for (std::size_t block = seen.size(); block < with_blind.size(); ++block)
    with_blind[block].add_given_up(100, 1, 0.05);
  EXPECT_GT(block_inflation(seen).vif, 1.0);
  EXPECT_NEAR(block_inflation(with_blind).vif, block_inflation(seen).vif, 1e-9);
}

// Every second block empty: joining two gives the dense ones again, and single ones are the same.
TEST(BlockInflation, EmptyBlocksBetweenSayNothing) {
  std::vector<BlockTail> dense(16, {.replied = 100, .late = 0});
  dense[3].late = dense[11].late = 10;
  std::vector<BlockTail> sparse;
  for (const BlockTail& block : dense) {
    sparse.push_back(block);
    sparse.push_back({});
  }
  EXPECT_GT(block_inflation(dense).vif, 1.0);
  EXPECT_NEAR(block_inflation(sparse).vif, block_inflation(dense).vif, 1e-12);
  EXPECT_EQ(block_inflation(sparse).blocks_with_replies, 16U);
}

TEST(BlockInflation, AnUnevenDayWithEmptyHoursIsNoDependence) {
  std::vector<BlockTail> blocks(200);
  for (std::size_t i = 0; i < 8; ++i) blocks[i * 16] = {.replied = 1000, .late = i % 2 == 0 ? 14.0 : 6.0};
  // v = 8/7 * 8 * 16 / (8000 p (1 - p)) = 1.85 on 7 degrees: within chance. Of 200 blocks it would not be.
  EXPECT_EQ(block_inflation(blocks).vif, 1.0);
}

TEST(BlockInflation, AllLateOrNoneLateIsNoEvidence) {
  EXPECT_EQ(block_inflation({{.replied = 9, .late = 9}, {.replied = 90, .late = 90}}).vif, 1.0);
  EXPECT_EQ(block_inflation({{.replied = 9, .late = 0}, {.replied = 90, .late = 0}}).vif, 1.0);
}

// Independent late calls at 1 %: some blocks stand out by chance, seldom (STATISTICS 5 measured 0 to 2 %).
TEST(BlockInflation, SeldomSeesDependenceInIndependentCalls) {
  Random random(11);
  int inflated = 0;
  for (int log = 0; log < 300; ++log) {
    std::vector<BlockTail> blocks(128, {.replied = 400, .late = 0});
    for (BlockTail& block : blocks) {
      for (int call = 0; call < 400; ++call) block.late += random.uniform() < 0.01 ? 1U : 0U;
    }
    if (block_inflation(blocks).vif > 1.0) ++inflated;
  }
  EXPECT_LE(inflated, 12);  // 4 %.
}

}  // namespace
}  // namespace overdue
