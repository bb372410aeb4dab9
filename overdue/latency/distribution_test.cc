#include "overdue/latency/distribution.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <numbers>
#include <vector>

namespace overdue {
namespace {

constexpr std::size_t kDraws = 1'000'000;

std::vector<double> sorted_draws(const std::function<double(Random&)>& draw, std::uint64_t seed) {
  Random random(seed);
  std::vector<double> draws(kDraws);
  for (double& value : draws) value = draw(random);
  std::ranges::sort(draws);
  return draws;
}

double normal_cdf(double x) { return 0.5 * std::erfc(-x / std::numbers::sqrt2); }

// The largest distance between the sample's distribution and the true one (Kolmogorov), times sqrt(n):
// above 1.95 once in a thousand seeds.
double distance(const std::vector<double>& draws, const std::function<double(double)>& cdf) {
  const double n = static_cast<double>(draws.size());
  double largest = 0;
  for (std::size_t i = 0; i < draws.size(); ++i) {
    const double expected = cdf(draws[i]);
    largest = std::max({largest, std::abs(expected - static_cast<double>(i) / n),
                        std::abs(expected - static_cast<double>(i + 1) / n)});
  }
  return largest * std::sqrt(n);
}

// The mean of value^power.
double moment(const std::vector<double>& draws, int power) {
  double sum = 0;
  for (const double value : draws) sum += std::pow(value, power);
  return sum / static_cast<double>(draws.size());
}

double share_above(const std::vector<double>& draws, double limit) {
  const auto first = std::ranges::upper_bound(draws, limit);
  return static_cast<double>(draws.end() - first) / static_cast<double>(draws.size());
}

// Five standard errors of a share of kDraws.
double tolerance(double share) { return 5 * std::sqrt(share * (1 - share) / static_cast<double>(kDraws)); }

TEST(Ziggurat, LayersHaveEqualAreasAndMeetAtTheTop) {
  for (const Ziggurat* table : {&kNormalZiggurat, &kExponentialZiggurat}) {
    const double area = table->edge[0] * table->height[1];
    for (std::size_t i = 1; i < Ziggurat::kLayers; ++i) {
      EXPECT_NEAR(table->edge[i] * (table->height[i + 1] - table->height[i]), area, 1e-9) << i;
      EXPECT_GT(table->edge[i], table->edge[i + 1]) << i;
    }
  }
  EXPECT_NEAR(kNormalZiggurat.edge[0] * kNormalZiggurat.height[1], 0.00492867323399, 1e-13);
  EXPECT_NEAR(kExponentialZiggurat.edge[0] * kExponentialZiggurat.height[1], 0.0039496598225815572, 1e-15);
  EXPECT_DOUBLE_EQ(kNormalZiggurat.height[100],
                   std::exp(-kNormalZiggurat.edge[100] * kNormalZiggurat.edge[100] / 2));
  EXPECT_DOUBLE_EQ(kExponentialZiggurat.height[100], std::exp(-kExponentialZiggurat.edge[100]));
}

TEST(StandardNormal, HasTheMomentsAndTheShapeOfTheNormal) {
  const auto draws = sorted_draws(standard_normal, 1);
  // Moments 0, 1, 0, 3 with variances 1, 2, 15, 96.
  const double n = std::sqrt(static_cast<double>(kDraws));
  EXPECT_NEAR(moment(draws, 1), 0, 5 / n);
  EXPECT_NEAR(moment(draws, 2), 1, 5 * std::sqrt(2.0) / n);
  EXPECT_NEAR(moment(draws, 3), 0, 5 * std::sqrt(15.0) / n);
  EXPECT_NEAR(moment(draws, 4), 3, 5 * std::sqrt(96.0) / n);
  EXPECT_LT(distance(draws, normal_cdf), 1.95);
}

// 3.6541528853610088 is where the ziggurat's tail begins.
TEST(StandardNormal, HasBothTails) {
  const auto draws = sorted_draws(standard_normal, 2);
  for (const double limit : {1.0, 2.0, 3.0, 3.6541528853610088, 4.0, 4.4}) {
    const double expected = normal_cdf(-limit);
    EXPECT_NEAR(share_above(draws, limit), expected, tolerance(expected)) << limit;
    EXPECT_NEAR(1 - share_above(draws, -limit), expected, tolerance(expected)) << limit;
  }
}

TEST(StandardExponential, HasTheMomentsAndTheShapeOfTheExponential) {
  const auto draws = sorted_draws(standard_exponential, 3);
  // Moments 1, 2, 6 with variances 1, 20, 684.
  const double n = std::sqrt(static_cast<double>(kDraws));
  EXPECT_NEAR(moment(draws, 1), 1, 5 / n);
  EXPECT_NEAR(moment(draws, 2), 2, 5 * std::sqrt(20.0) / n);
  EXPECT_NEAR(moment(draws, 3), 6, 5 * std::sqrt(684.0) / n);
  EXPECT_LT(distance(draws, [](double x) { return -std::expm1(-x); }), 1.95);
  EXPECT_GE(draws.front(), 0);
  for (const double limit : {1.0, 4.0, 7.69711747013104972, 9.0, 11.0}) {
    EXPECT_NEAR(share_above(draws, limit), std::exp(-limit), tolerance(std::exp(-limit))) << limit;
  }
}

TEST(Lognormal, HasItsMedianAndItsShape) {
  const auto service = Lognormal::with_median(std::exp(2.0), 0.5);
  const auto draws = sorted_draws([&](Random& random) { return service.draw(random); }, 4);
  EXPECT_LT(distance(draws, [](double x) { return normal_cdf((std::log(x) - 2.0) / 0.5); }), 1.95);
  EXPECT_NEAR(draws[kDraws / 2], std::exp(2.0), 0.03);
}

TEST(Uniform, FillsItsRangeEvenly) {
  const Uniform slow{.low = 40, .high = 400};
  const auto draws = sorted_draws([&](Random& random) { return slow.draw(random); }, 5);
  EXPECT_GE(draws.front(), 40);
  EXPECT_LT(draws.back(), 400);
  EXPECT_LT(distance(draws, [](double x) { return (x - 40) / 360; }), 1.95);
}

TEST(Distributions, ScaleAndShiftTheStandardDraw) {
  Random a(6);
  Random b(6);
  const double normal = standard_normal(a);
  EXPECT_EQ((Normal{.mean = 10, .sigma = 2}.draw(b)), 10 + 2 * normal);
  const double exponential = standard_exponential(a);
  EXPECT_EQ((Exponential{.mean = 100}.draw(b)), 100 * exponential);
}

// Layer and place come from different bits: within each layer the four quarters of its width are as likely.
TEST(StandardNormal, TakesLayersPlacesAndSignsIndependently) {
  constexpr unsigned kFirst = 100;
  Random random(7);
  std::array<std::array<int, 4>, 8> counts{};
  for (std::size_t i = 0; i < kDraws; ++i) {
    const unsigned layer = Random(random).next() & 0xff;
    const double x = standard_normal(random);
    if (layer < kFirst || layer >= kFirst + counts.size()) continue;
    const double reach = kNormalZiggurat.edge[layer + 1];  // The part accepted at once.
    if (std::abs(x) < reach) ++counts[layer - kFirst][static_cast<std::size_t>(2 * (x + reach) / reach)];
  }
  for (const auto& row : counts) {
    const double total = row[0] + row[1] + row[2] + row[3];
    ASSERT_GT(total, 3'000);
    for (const int count : row) EXPECT_NEAR(count / total, 0.25, 5 * std::sqrt(0.1875 / total));
  }
}

}  // namespace
}  // namespace overdue
