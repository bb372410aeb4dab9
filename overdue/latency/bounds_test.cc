#include "overdue/latency/bounds.h"

#include <gtest/gtest.h>

#include <cmath>

namespace overdue {
namespace {

void expect_close(double actual, double expected) {
  EXPECT_NEAR(actual, expected, 1e-9 * std::abs(expected) + 1e-300);
}

TEST(Bounds, BinomialTailsOfWholeCountsAreSumsOfTheirTerms) {
  expect_close(binomial_at_least(3, 3, 0.9), 0.729);
  expect_close(binomial_at_least(2, 3, 0.9), 0.972);
  expect_close(binomial_at_most(0, 3, 0.9), 0.001);
  expect_close(binomial_at_most(1, 3, 0.9), 0.028);
  expect_close(binomial_at_most(5, 1000, 0.01) + binomial_at_least(6, 1000, 0.01), 1.0);
}

TEST(Bounds, BinomialTailsOutsideTheirRangeAreCertain) {
  EXPECT_EQ(binomial_at_most(10, 10, 0.3), 1.0);
  EXPECT_EQ(binomial_at_most(-1, 10, 0.3), 0.0);
  EXPECT_EQ(binomial_at_least(0, 10, 0.3), 1.0);
  EXPECT_EQ(binomial_at_least(11, 10, 0.3), 0.0);
}

TEST(Bounds, RealCountsLieBetweenTheirWholeNeighbours) {
  EXPECT_LT(binomial_at_most(983, 1000, 0.99), binomial_at_most(983.5, 1000, 0.99));
  EXPECT_LT(binomial_at_most(983.5, 1000, 0.99), binomial_at_most(984, 1000, 0.99));
  EXPECT_LT(binomial_at_least(299, 299, 0.99), binomial_at_least(298.5, 298.5, 0.99));
}

struct RateCase {
  double events;
  double trials;
  double miss;
  double upper;
};

TEST(Bounds, RateBoundsAreClopperAndPearsons) {
  for (const RateCase& one : {RateCase{0, 20, 0.05, 0.13910834066826516},
                              {5, 1000, 0.05, 0.010484076911415272},
                              {0, 299, 0.05, 0.009969146792899269},
                              {31, 10'000, 0.05, 0.00418149510171139},
                              {0, 368, 0.025, 0.009974054826946393},
                              {3, 1000, 0.025, 0.008742023238477725}}) {
    expect_close(rate_upper_bound(one.events, one.trials, one.miss), one.upper);
    // The lower bound is the upper one of the calls that had no event.
    expect_close(1.0 - rate_lower_bound(one.trials - one.events, one.trials, one.miss), one.upper);
  }
}

TEST(Bounds, RatesOfAllAndOfNoneReachTheEnds) {
  EXPECT_EQ(rate_upper_bound(20, 20, 0.05), 1.0);
  EXPECT_EQ(rate_upper_bound(0, 0, 0.05), 1.0);
  EXPECT_EQ(rate_lower_bound(0, 20, 0.05), 0.0);
}

TEST(Bounds, QuantilesOfTheNamedDistributions) {
  expect_close(chi_squared_quantile(0.975, 2), 7.377758908227866);
  expect_close(chi_squared_quantile(0.025, 7.5), 1.9305886206109988);
  expect_close(chi_squared_quantile(0.999, 40), 73.40195751899083);
  // With one degree of freedom Student's t is Cauchy's: tan(pi (share - 1/2)).
  expect_close(student_t_quantile(0.975, 1), std::tan(0.475 * std::acos(-1.0)));
  expect_close(student_t_above(student_t_quantile(0.975, 15), 15), 0.025);
  expect_close(normal_above(0), 0.5);
  EXPECT_NEAR(normal_above(1.959963984540054), 0.025, 1e-12);
}

TEST(Bounds, WilsonsIntervalSolvesItsQuadraticAtBothEnds) {
  // |rate - p| = z sqrt(p (1 - p) / n) at p = low and p = high.
  constexpr double kZ = 1.959963984540054;
  for (const auto& [events, trials] : {std::pair(190.0, 200.0), std::pair(1.0, 20.0), std::pair(7.0, 9.0)}) {
    const RateInterval interval = wilson_interval(events, trials, kZ);
    for (const double p : {interval.low, interval.high})
      EXPECT_NEAR(std::abs(events / trials - p), kZ * std::sqrt(p * (1 - p) / trials), 1e-12);
    EXPECT_LT(interval.low, events / trials);
    EXPECT_GT(interval.high, events / trials);
  }
  // All of 200: low = n / (n + z^2).
  EXPECT_NEAR(wilson_interval(200, 200, kZ).low, 200 / (200 + kZ * kZ), 1e-12);
  EXPECT_EQ(wilson_interval(200, 200, kZ).high, 1.0);
  EXPECT_EQ(wilson_interval(0, 200, kZ).low, 0.0);
  EXPECT_EQ(wilson_interval(0, 0, kZ).low, 0.0);
  EXPECT_EQ(wilson_interval(0, 0, kZ).high, 1.0);
}

TEST(Bounds, PoissonTailsAreSumsOfTheirTerms) {
  expect_close(poisson_at_most(0, 3), std::exp(-3.0));
  expect_close(poisson_at_most(2, 3), std::exp(-3.0) * (1 + 3 + 4.5));
  expect_close(poisson_at_least(3, 3) + poisson_at_most(2, 3), 1.0);
  EXPECT_EQ(poisson_at_least(0, 3), 1.0);
  // 3.689 expected calls without one: the watch of an adaptive timeout at weight 1 (Fay and Feuer).
  expect_close(chi_squared_quantile(0.975, 2) / 2, 3.688879454113933);
}

}  // namespace
}  // namespace overdue
