#include "overdue/latency/duration_draw.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <vector>

namespace overdue {
namespace {

using namespace std::chrono_literals;
constexpr std::size_t kDraws = 200'000;

std::vector<Duration> sorted_draws(const DurationDraw& from, std::uint64_t seed) {
  Random random(seed);
  std::vector<Duration> draws(kDraws);
  for (Duration& value : draws) value = from.draw(random);
  std::ranges::sort(draws);
  return draws;
}

double share_below(const std::vector<Duration>& draws, Duration limit) {
  return static_cast<double>(std::ranges::lower_bound(draws, limit) - draws.begin()) / kDraws;
}

double mean_ms(const std::vector<Duration>& draws) {
  double sum = 0;
  for (const Duration value : draws) sum += static_cast<double>(value.count()) / 1e6;
  return sum / kDraws;
}

// Five standard errors of a share.
constexpr double kTolerance = 0.0056;

TEST(DurationDraw, ConstantIsAlwaysItselfAndDrawsNothing) {
  Random random(1);
  const Random before = random;
  EXPECT_EQ(DurationDraw::constant(7ms).draw(random), 7ms);
  EXPECT_EQ(DurationDraw().draw(random), 0ns);
  EXPECT_EQ(random.next(), Random(before).next());
  EXPECT_TRUE(DurationDraw().always_zero());
  EXPECT_FALSE(DurationDraw::constant(1ns).always_zero());
  EXPECT_FALSE(DurationDraw::exponential(1ms).always_zero());
}

TEST(DurationDraw, NamedOnesHaveTheirMeansAndShapes) {
  const auto uniform = sorted_draws(DurationDraw::uniform(40ms, 400ms), 2);
  EXPECT_GE(uniform.front(), 40ms);
  EXPECT_LT(uniform.back(), 400ms);
  EXPECT_NEAR(share_below(uniform, 130ms), 0.25, kTolerance);
  const auto exponential = sorted_draws(DurationDraw::exponential(100ms), 3);
  EXPECT_NEAR(mean_ms(exponential), 100, 1.2);
  EXPECT_NEAR(share_below(exponential, 100ms), 1 - std::exp(-1), kTolerance);
  const auto lognormal = sorted_draws(DurationDraw::lognormal(10ms, 0.5), 4);
  EXPECT_NEAR(share_below(lognormal, 10ms), 0.5, kTolerance);
  EXPECT_NEAR(mean_ms(lognormal), 10 * std::exp(0.125), 0.07);
}

TEST(DurationDraw, ParetoFallsByItsShapeAndStopsAtItsGreatest) {
  const auto draws = sorted_draws(DurationDraw::pareto(10ms, 1.5, 500ms), 5);
  EXPECT_GE(draws.front(), 10ms);
  EXPECT_EQ(draws.back(), 500ms);
  EXPECT_NEAR(1 - share_below(draws, 20ms), std::pow(0.5, 1.5), kTolerance);
  EXPECT_NEAR(1 - share_below(draws, 500ms), std::pow(0.02, 1.5), kTolerance / 5);
}

TEST(DurationDraw, MeasuredFollowsItsBucketsAndIsEvenWithinThem) {
  const std::array<DurationDraw::Bucket, 4> buckets = {
      {{1ms, 2ms, 30}, {2ms, 4ms, 0}, {4ms, 8ms, 60}, {9ms, 9ms, 10}}};
  const auto draws = sorted_draws(DurationDraw::measured(buckets), 6);
  EXPECT_NEAR(share_below(draws, 2ms), 0.3, kTolerance);
  EXPECT_EQ(share_below(draws, 2ms), share_below(draws, 4ms));
  EXPECT_NEAR(share_below(draws, 6ms), 0.6, kTolerance);
  EXPECT_NEAR(share_below(draws, 9ms), 0.9, kTolerance);
  EXPECT_EQ(draws.back(), 9ms);
}

TEST(DurationDraw, MixtureDrawsEachPartByItsShare) {
  const std::array<double, 3> shares = {0.98, 0.02, 0};
  const std::array parts = {DurationDraw::lognormal(7ms, 0.5), DurationDraw::uniform(400ms, 500ms),
                            DurationDraw::constant(1h)};
  const auto draws = sorted_draws(DurationDraw::mixture(shares, parts), 7);
  EXPECT_NEAR(share_below(draws, 400ms), 0.98, kTolerance / 3);
  EXPECT_LT(draws.back(), 500ms);
}

}  // namespace
}  // namespace overdue
