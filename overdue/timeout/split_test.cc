#include "overdue/timeout/split.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>

namespace overdue {
namespace {

// C36: 25 calls in a row, each exponential with mean 100 ms.
TEST(SplitRates, TwentyFiveCallsOfOnePercentEachCutOffMoreThanAFifthOfTheOperations) {
  const SplitRates whole = rate_of_whole(Probability{0.01}, 25);
  EXPECT_NEAR(whole.independent.value(), 0.222, 0.0005);
  EXPECT_EQ(whole.at_most, Probability{0.25});
}

TEST(SplitRates, OnePercentOfTheWholeIsAFourHundredthPercentOfEach) {
  const SplitRates each = rate_of_each(Probability{0.01}, 25);
  EXPECT_NEAR(each.independent.value(), 0.000402, 0.0000005);
  EXPECT_EQ(each.at_most, Probability{0.0004});
  EXPECT_NEAR(-100 * std::log(each.independent.value()), 782, 0.5) << "ms a call, not the p99 of 461";
}

TEST(SplitRates, OneCallIsTheWhole) {
  EXPECT_EQ(rate_of_whole(Probability{0.01}, 1).independent, Probability{0.01});
  EXPECT_EQ(rate_of_each(Probability{0.01}, 1).at_most, Probability{0.01});
  EXPECT_EQ(rate_of_whole(Probability{1.0}, 3).independent, Probability{1.0});
  EXPECT_EQ(rate_of_each(Probability{1.0}, 3).independent, Probability{1.0});
  EXPECT_EQ(rate_of_whole(Probability{}, 3).at_most, Probability{});
}

RC_GTEST_PROP(SplitRates, SplittingAndPuttingTogetherAgree, ()) {
  const auto calls = *rc::gen::inRange<std::uint32_t>(1, 1000);
  const auto whole = Probability::from_parts(*rc::gen::inRange<std::int64_t>(0, Probability::kScale / 2));
  const SplitRates each = rate_of_each(whole, calls);
  RC_ASSERT(each.at_most <= each.independent);
  // Each is rounded to 1e-12, and there are `calls` of them.
  const double back = rate_of_whole(each.independent, calls).independent.value();
  RC_ASSERT(std::abs(back - whole.value()) <= 1e-12 * (calls + 1));
  RC_ASSERT(rate_of_whole(each.at_most, calls).at_most <= whole);
}

}  // namespace
}  // namespace overdue
