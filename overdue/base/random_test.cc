#include "overdue/base/random.h"

#include <gtest/gtest.h>

namespace overdue {
namespace {

// Computed apart from this code, from the published definitions of xoshiro256++ and SplitMix64.
TEST(Random, DrawsTheSameNumbersEverywhere) {
  Random first(0);
  EXPECT_EQ(first.next(), 3111432756820968828U);
  EXPECT_EQ(first.next(), 5083097436175625547U);
  EXPECT_EQ(first.next(), 1343230460292762905U);
  Random entity(7, 3);
  EXPECT_EQ(entity.next(), 1200016476702830474U);
  EXPECT_EQ(entity.next(), 3029734474635608632U);
}

TEST(Random, GivesEachEntityOfASeedAStreamOfItsOwn) {
  Random one(5, 1);
  Random two(5, 2);
  int equal = 0;
  for (int i = 0; i < 1000; ++i) equal += one.next() == two.next() ? 1 : 0;
  EXPECT_EQ(equal, 0);
}

TEST(Random, StaysBelowOneAndBelowTheBound) {
  Random random(9);
  double sum = 0;
  for (int i = 0; i < 100'000; ++i) {
    const double uniform = random.uniform();
    ASSERT_GE(uniform, 0);
    ASSERT_LT(uniform, 1);
    sum += uniform;
    ASSERT_LT(random.below(3), 3U);
  }
  EXPECT_NEAR(sum / 100'000, 0.5, 0.005);
  EXPECT_EQ(random.below(1), 0U);
}

}  // namespace
}  // namespace overdue
