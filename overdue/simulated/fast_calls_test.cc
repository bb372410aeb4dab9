#include "overdue/simulated/fast_calls.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

namespace overdue {
namespace {

TEST(FastExp, IsWithinItsStatedErrorOverItsRange) {
  double worst = 0;
  for (double x = -40; x <= 40; x += 0.001) worst = std::max(worst, std::abs(fast_exp(x) / std::exp(x) - 1));
  EXPECT_LT(worst, 8e-9);
  EXPECT_EQ(fast_exp(0), 1);
  EXPECT_NEAR(fast_exp(699) / std::exp(699), 1, 8e-9);
  EXPECT_NEAR(fast_exp(-699) / std::exp(-699), 1, 8e-9);
}

TEST(ReplyCounts, PutsEveryTimeBetweenTheEdgesOfItsBucket) {
  for (const double ms : {0.0078125, 0.5, 9.7, 383.4, 1e4, 7.9e3}) {
    ReplyCounts counts(1e4);
    counts.add(ms);
    const std::uint64_t bucket = counts.bucket_at(0);
    EXPECT_LE(ReplyCounts::low_of(bucket), ms);
    EXPECT_GT(ReplyCounts::high_of(bucket), ms);
    EXPECT_LE(ReplyCounts::high_of(bucket) / ReplyCounts::low_of(bucket), 1 + 1.0 / 1024);
    EXPECT_EQ(counts.count_through(bucket), 1U);
    EXPECT_EQ(bucket == 0 ? 0 : counts.count_through(bucket - 1), 0U);
  }
}

TEST(ReplyCounts, CountsWhatIsOutOfRangeInItsLastBucket) {
  ReplyCounts counts(100);
  counts.add(1e300);
  counts.add(1e-300);
  counts.add(50);
  EXPECT_EQ(counts.total(), 3U);
  EXPECT_LT(ReplyCounts::low_of(counts.bucket_at(0)), 51);
  EXPECT_GT(ReplyCounts::high_of(counts.bucket_at(1)), 100);
}

TEST(ReplyCounts, MergesByAddingInAnyOrder) {
  ReplyCounts one(100);
  ReplyCounts two(100);
  for (const double ms : {1.0, 5.0, 9.0}) one.add(ms);
  for (const double ms : {2.0, 5.0}) two.add(ms);
  ReplyCounts forth = one;
  forth.merge(two);
  ReplyCounts back;
  back.merge(two);
  back.merge(one);
  back.merge(ReplyCounts());
  EXPECT_EQ(forth.total(), 5U);
  for (std::uint64_t i = 0; i < 5; ++i) EXPECT_EQ(forth.bucket_at(i), back.bucket_at(i));
}

// What the batches draw has the distribution of the model written out plainly: two samples,
// Kolmogorov-Smirnov.
TEST(FastCalls, DrawsTheDistributionOfTheModel) {
  constexpr std::size_t kCalls = 300'000;
  const double factor = 3;
  LessonOptions options;
  options.slow_path = Probability(0.1);
  std::vector<double> batched;
  std::uint64_t lost_replies = 0;
  std::uint64_t lost_requests = 0;
  Random random(1);
  FastCalls(options).draw(
      random, factor, kCalls, [&](double ms) { batched.push_back(ms); },
      [&](bool applied) { ++(applied ? lost_replies : lost_requests); });
  EXPECT_EQ(batched.size() + lost_replies + lost_requests, kCalls);
  const double lost_error = 5 * std::sqrt(0.002 / kCalls);
  EXPECT_NEAR(static_cast<double>(lost_requests) / kCalls, 0.002, lost_error);
  EXPECT_NEAR(static_cast<double>(lost_replies) / kCalls, 0.998 * 0.002, lost_error);

  const Lognormal one_way{.log_median = 0, .log_sigma = 0.4};
  const Lognormal service{.log_median = 2, .log_sigma = 0.5};
  const Uniform slow{.low = 40, .high = 400};
  Random other(2);
  std::vector<double> plain(batched.size());
  for (double& ms : plain) {
    const double work = other.uniform() < 0.1 ? slow.draw(other) : service.draw(other);
    ms = one_way.draw(other) + factor * work + one_way.draw(other);
  }
  std::ranges::sort(batched);
  std::ranges::sort(plain);
  const double n = static_cast<double>(plain.size());
  double largest = 0;
  for (std::size_t i = 0; i < plain.size(); ++i) {
    const auto below = std::ranges::upper_bound(batched, plain[i]) - batched.begin();
    largest = std::max(largest, std::abs(static_cast<double>(below) - static_cast<double>(i + 1)) / n);
  }
  EXPECT_LT(largest, 1.95 * std::sqrt(2 / n));
}

TEST(FastCalls, LosesNothingAndEverythingWhereAsked) {
  LessonOptions options;
  options.lost_request = options.lost_reply = options.slow_path = Probability(0.0);
  std::uint64_t replies = 0;
  std::uint64_t lost = 0;
  Random random(3);
  const auto draw = [&](std::uint64_t calls) {
    replies = lost = 0;
    FastCalls(options).draw(
        random, 1, calls, [&](double) { ++replies; }, [&](bool applied) { lost += applied; });
  };
  draw(1000);
  EXPECT_EQ(replies, 1000U);
  options.lost_reply = Probability(1.0);
  draw(257);
  EXPECT_EQ(lost, 257U);
  options.lost_request = Probability(1.0);
  draw(1);
  EXPECT_EQ(replies + lost, 0U);
}

}  // namespace
}  // namespace overdue
