#include "overdue/simulated/rate_curve.h"

#include <gtest/gtest.h>

#include "overdue/latency/distribution.h"

namespace overdue {
namespace {

using namespace std::chrono_literals;

std::optional<Duration> after(const RateCurve& curve, Duration from, double area) {
  const auto at = curve.after(Instant{} + from, area);
  if (!at) return std::nullopt;
  return *at - Instant{};
}

TEST(RateCurve, IsCrossedWhereItsAreaIsFull) {
  const RateCurve constant({.per_second = 10}, 1);
  EXPECT_EQ(after(constant, 2s, 1.5), 2150ms);
  EXPECT_EQ(after(RateCurve({.per_second = 10}, 0.5), 2s, 1.5), 2300ms);
  // From 10 a second at 1 s to 30 a second at 3 s: 40 in between.
  const RateCurve ramp({.per_second = 10, .changes = {{.at = 1s, .over = 2s, .per_second = 30}}}, 1);
  EXPECT_EQ(after(ramp, 0s, 10), 1s);
  EXPECT_EQ(after(ramp, 0s, 10 + 15), 2s);
  EXPECT_EQ(after(ramp, 0s, 10 + 40 + 30), 4s);
  EXPECT_EQ(after(ramp, 2s, 25), 3s);
}

TEST(RateCurve, ASpikeIsTwoChanges) {
  const RateCurve spike(
      {.per_second = 1, .changes = {{.at = 10s, .per_second = 100}, {.at = 11s, .per_second = 1}}}, 1);
  EXPECT_EQ(after(spike, 9s, 1 + 50), 10500ms);
  EXPECT_EQ(after(spike, 9s, 1 + 100 + 2), 13s);
}

TEST(RateCurve, WhereTheRateIsZeroNobodyComes) {
  EXPECT_EQ(after(RateCurve({.per_second = 0}, 1), 0s, 1e-9), std::nullopt);
  const RateCurve falls({.per_second = 10, .changes = {{.at = 1s, .over = 2s, .per_second = 0}}}, 1);
  EXPECT_EQ(after(falls, 0s, 20.1), std::nullopt);
  EXPECT_LE(after(falls, 0s, 19.999).value(), 3s);
  const RateCurve later({.per_second = 0, .changes = {{.at = 5s, .per_second = 10}}}, 1);
  EXPECT_EQ(after(later, 0s, 1), 5100ms);
}

// On a ramp from nothing, half of all come in the last 29 % of it.
TEST(RateCurve, ExponentialStepsMakeAPoissonProcessOfTheRate) {
  const RateCurve ramp({.per_second = 0, .changes = {{.at = 0s, .over = 100s, .per_second = 1'000}}}, 1);
  Random random(1);
  Instant at{};
  int before = 0;
  int all = 0;
  for (;;) {
    at = ramp.after(at, standard_exponential(random)).value();
    if (at >= Instant{} + 100s) break;
    ++all;
    before += at < Instant{} + 70'710'678us ? 1 : 0;
  }
  EXPECT_NEAR(all, 50'000, 3 * 224);
  EXPECT_NEAR(before, 25'000, 3 * 158);
}

}  // namespace
}  // namespace overdue
