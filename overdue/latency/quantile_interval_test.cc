#include "overdue/latency/quantile_interval.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>

#include "overdue/base/random.h"
#include "overdue/latency/bounds.h"
#include "overdue/latency/distribution.h"
#include "overdue/latency/test_tables.h"

namespace overdue {
namespace {

using namespace std::chrono_literals;
using namespace testing_tables;

QuantileOfAll quantile_of(const EndingTable& table, double q, double confidence = 0.95) {
  const SurvivalCurve curve(table);
  return quantiles_of_all(curve, {}, {Quantile{q}}, Probability{confidence}).front();
}

struct RankCase {
  int n;
  double quantile;
  double confidence;
  std::optional<int> low;
  std::optional<int> high;
};

// Computed with exact rationals: low is the largest l with P(Bin(n, q) < l) <= (1 - confidence) / 2.
TEST(QuantileInterval, WithNothingCutOffTheEndsAreTheOrderStatistics) {
  for (const RankCase& one : {RankCase{1000, 0.99, 0.95, 983, 997},
                              {299, 0.99, 0.95, 292, {}},
                              {298, 0.99, 0.95, 291, {}},
                              {58, 0.95, 0.95, 51, {}},
                              {59, 0.95, 0.95, 52, {}},
                              {2995, 0.999, 0.95, 2988, {}},
                              {50'000, 0.999, 0.95, 49'936, 49'964},
                              {50'000, 0.999, 0.99, 49'931, 49'968},
                              {20, 0.5, 0.95, 6, 15},
                              {5, 0.5, 0.95, {}, {}}}) {
    const QuantileOfAll answer = quantile_of(evenly_replied(one.n, 1us), one.quantile, one.confidence);
    SCOPED_TRACE(one.n);
    EXPECT_EQ(answer.low.has_value(), one.low.has_value());
    if (one.low && answer.low) {
      EXPECT_EQ(*answer.low, *one.low * 1us);
    }
    EXPECT_EQ(answer.high.has_value(), one.high.has_value());
    if (one.high && answer.high) {
      EXPECT_EQ(*answer.high, *one.high * 1us);
    }
    EXPECT_FALSE(answer.low_beyond);
  }
}

TEST(QuantileInterval, OneSidedUpperEndsNeedTheStatedCalls) {
  struct Needed {
    double quantile;
    double confidence;
    int calls;
  };
  for (const Needed& one : {Needed{0.99, 0.95, 299},
                            {0.95, 0.95, 59},
                            {0.999, 0.95, 2995},
                            {0.999, 0.99, 4603},
                            {0.5, 0.95, 5}}) {
    for (const int n : {one.calls - 1, one.calls}) {
      const EndingTable table = evenly_replied(n, 1us);
      const SurvivalCurve curve(table);
      const IntervalRows rows =
          interval_rows(curve, {.quantile = one.quantile,
                                .alpha = complement(Probability{one.confidence}).value(),
                                .last_row = curve.size() - 1});
      EXPECT_EQ(rows.high_one_sided.has_value(), n == one.calls) << n;
    }
  }
}

// C11: a float product is a hair over an integer at 7, 14, 28, 55 and 56 of 100.
TEST(QuantileOfAll, EveryWholePercentOfAHundredIsItsOwnRank) {
  const EndingTable table = evenly_replied(100, 1ms);
  for (int k = 1; k <= 100; ++k) {
    const QuantileOfAll answer = quantile_of(table, k / 100.0);
    EXPECT_EQ(answer.all_calls, k * 1ms);
    EXPECT_EQ(answer.replies_only, k * 1ms);
  }
}

// C16: 70 answers at 10, 20, ... 700 ms, 10 callers gave up at 200 ms and 20 at 500 ms.
TEST(QuantileOfAll, CountsGiveUpsForWhatTheyAre) {
  const EndingTable table =
      evenly_replied(70, 10ms, {{200ms, Ending::timed_out, 10}, {500ms, Ending::timed_out, 20}});
  EXPECT_EQ(quantile_of(table, 0.5).all_calls, 470ms);
  EXPECT_EQ(quantile_of(table, 0.9).all_calls, 660ms);
  EXPECT_EQ(quantile_of(table, 0.5).replies_only, 350ms);
  EXPECT_EQ(quantile_of(table, 0.9).replies_only, 630ms);
}

// C17 a and b: what was rejected fast is in no quantile and in no denominator.
TEST(QuantileOfAll, FastRejectionsMakeNothingFaster) {
  const EndingTable failing = exact_table({{900ms, Ending::replied, 90}, {4ms, Ending::rejected, 30}});
  for (const double q : {0.01, 0.5, 0.99}) EXPECT_EQ(quantile_of(failing, q).all_calls, 900ms);
  const EndingTable limited = exact_table({{170ms, Ending::rejected, 300}, {2600ms, Ending::replied, 110}});
  EXPECT_EQ(quantile_of(limited, 0.5).all_calls, 2600ms);
  EXPECT_EQ(quantile_of(limited, 0.5).replies_only, 2600ms);
}

// C09: a histogram that ends at 1 s and a counter that says 50 more calls were sent.
TEST(QuantileOfAll, CallsMissingFromAHistogramMoveTheRank) {
  const EndingTable table = evenly_replied(9950, 100us, {{1s, Ending::timed_out, 50}});
  EXPECT_EQ(quantile_of(table, 0.99).all_calls, 990ms);  // Rank 9,900 of 10,000, not 9,851 of 9,950.
  EXPECT_EQ(quantile_of(table, 0.99).replies_only, 9851 * 100us);
  EXPECT_EQ(quantile_of(table, 0.995).all_calls, 995ms);
  const QuantileOfAll beyond = quantile_of(table, 0.999);
  EXPECT_FALSE(beyond.all_calls);
  EXPECT_EQ(beyond.beyond, 1s);
  EXPECT_TRUE(beyond.low_beyond);
  EXPECT_FALSE(beyond.high);
}

// C22: 95 answers at 100 ms, 5 callers who left at 2 s, and in the variant one who left at 3 ms.
TEST(QuantileOfAll, CallersWhoLeftAreBeyondTheirLimit) {
  std::vector<Ended> ended = {{100ms, Ending::replied, 95}, {2s, Ending::abandoned, 5}};
  for (const bool early : {false, true}) {
    if (early) ended.push_back({3ms, Ending::abandoned});
    const EndingTable table = exact_table(ended);
    EXPECT_EQ(quantile_of(table, 0.95).all_calls, 100ms);
    EXPECT_FALSE(quantile_of(table, 0.99).all_calls);
    EXPECT_EQ(quantile_of(table, 0.99).beyond, 2s);
  }
}

TEST(QuantileOfAll, WithoutRepliesEverythingIsBeyond) {
  const EndingTable table = exact_table({{2s, Ending::timed_out, 5}});
  const QuantileOfAll answer = quantile_of(table, 0.5);
  EXPECT_FALSE(answer.replies_only);
  EXPECT_FALSE(answer.all_calls);
  EXPECT_EQ(answer.beyond, 2s);
  EXPECT_FALSE(quantile_of({}, 0.5).beyond);
}

TEST(QuantileOfAll, DependentCallsWidenTheInterval) {
  const EndingTable table = evenly_replied(20'000, 10us);
  const SurvivalCurve curve(table);
  const TailByBlock bursts = [](Duration) {
    std::vector<BlockTail> blocks(64, {.replied = 312, .late = 0});
    for (std::size_t i = 0; i < blocks.size(); i += 8) blocks[i].late = 25;
    return blocks;
  };
  const QuantileOfAll alone = quantiles_of_all(curve, {}, {Quantile{0.99}}, Probability{0.95}).front();
  const QuantileOfAll bursty = quantiles_of_all(curve, bursts, {Quantile{0.99}}, Probability{0.95}).front();
  EXPECT_EQ(alone.vif, 1.0);
  EXPECT_GT(bursty.vif, 5.0);
  EXPECT_LT(*bursty.low, *alone.low);
  EXPECT_GT(*bursty.high, *alone.high);
  EXPECT_EQ(bursty.all_calls, alone.all_calls);
}

TEST(QuantileInterval, EffectiveRepliesAreTheRepliesWhereNothingWasCutOff) {
  const EndingTable table = evenly_replied(1000, 1ms);
  const SurvivalCurve curve(table);
  for (const std::size_t row : {0U, 1U, 500U, 998U, 999U}) {
    EXPECT_NEAR(effective_replies_before(curve, row, 999, true), 1000.0, 1e-6) << row;
    EXPECT_NEAR(effective_replies_before(curve, row, 999, false), 1000.0, 1e-6) << row;
  }
}

// The scan leaves out binomial tests by Chernoff's bound; asking every row must give the same row.
RC_GTEST_PROP(QuantileInterval, SkippedTestsWouldNotHavePassed, ()) {
  Random random(*rc::gen::arbitrary<std::uint32_t>());
  std::vector<Ended> ended;
  const int calls = *rc::gen::inRange(20, 3000);
  for (int i = 0; i < calls; ++i) {
    const Duration after(1 + static_cast<std::int64_t>(random.below(1'000'000)));
    const double kind = random.uniform();
    ended.push_back({after, kind < 0.8 ? Ending::replied : kind < 0.9 ? Ending::timed_out : Ending::reset});
  }
  const EndingTable table = exact_table(ended);
  const SurvivalCurve curve(table);
  const double q = *rc::gen::element(0.5, 0.9, 0.99, 0.999);
  const std::size_t last_row = curve.size() - 1;
  const double ever = curve.back().replied;
  const IntervalRows rows = interval_rows(curve, {.quantile = q,
                                                  .alpha = 0.05,
                                                  .replied_ever_low = ever,
                                                  .replied_ever_high = ever,
                                                  .of_the_replied = true,
                                                  .last_row = last_row});
  std::optional<std::size_t> low;
  std::optional<std::size_t> high;
  for (std::size_t row = 0; row < curve.size(); ++row) {
    if (table[row].replied == 0) continue;
    const double n = effective_replies_before(curve, row, last_row, true);
    const double share = std::min(1.0, curve[row].replied / ever);
    if (!low && binomial_at_most(n * share * (1.0 + 1e-12), n, q) > 0.025) low = row;
    if (!high && binomial_at_least(n * share, n, q) <= 0.025) high = row;
  }
  if (!rows.low_unbounded) {
    RC_ASSERT(rows.low == low);
  }
  RC_ASSERT(rows.high == high);
}

// Buckets know less than values, and say so: their ends enclose the exact ones, their point is near.
RC_GTEST_PROP(QuantileOfAll, BucketsEncloseTheExactEnds, ()) {
  Random random(*rc::gen::arbitrary<std::uint32_t>());
  std::vector<Ended> ended;
  for (int i = 0; i < 2000; ++i) {
    const double uniform = random.uniform();
    const Duration after(1000 + static_cast<std::int64_t>(1e6 / (1.0 - uniform)));
    ended.push_back(after > 200ms ? Ended{200ms, Ending::timed_out} : Ended{after});
  }
  const double q = *rc::gen::element(0.5, 0.9, 0.99);
  const QuantileOfAll exact = quantile_of(exact_table(ended), q);
  const QuantileOfAll bucket = quantile_of(bucket_table(ended), q);
  RC_ASSERT(exact.low.has_value() && bucket.low.has_value());
  RC_ASSERT(*bucket.low <= *exact.low);
  RC_ASSERT(exact.high.has_value() == bucket.high.has_value());
  if (exact.high) {
    RC_ASSERT(*bucket.high >= *exact.high);
  }
  if (exact.all_calls) {
    const double ratio =
        static_cast<double>(bucket.all_calls->count()) / static_cast<double>(exact.all_calls->count());
    RC_ASSERT(std::abs(ratio - 1.0) <= 1.0 / 129);
  }
}

// The tests of STATISTICS 3 at every row, one after the other.
IntervalRows rows_one_by_one(const SurvivalCurve& curve, const IntervalQuestion& question) {
  IntervalRows rows;
  bool first = true;
  for (std::size_t row = 0; row <= question.last_row; ++row) {
    if (curve.table()[row].replied == 0) continue;
    const double n =
        effective_replies_before(curve, row, question.last_row, question.of_the_replied) / question.vif;
    const double q = question.quantile;
    if (first) rows.low_unbounded = binomial_at_most(0, n, q) > question.alpha / 2;
    first = false;
    const double low = std::min(1.0, curve[row].replied / question.replied_ever_low);
    const double high = std::min(1.0, curve[row].replied / question.replied_ever_high);
    const double chance = high >= q ? binomial_at_least(n * high, n, q) : 1;
    if (!rows.low && binomial_at_most(n * low * (1 + 1e-12), n, q) > question.alpha / 2) rows.low = row;
    if (!rows.high_one_sided && chance <= question.alpha) rows.high_one_sided = row;
    if (!rows.high && chance <= question.alpha / 2) rows.high = row;
  }
  if (rows.low_unbounded) rows.low.reset();
  rows.low_beyond = !rows.low && !rows.low_unbounded;
  return rows;
}

TEST(QuantileInterval, RowsThatAreNotLookedAtOneByOneCouldNotBeItsEnds) {
  Random random(77);
  for (const double given_up : {0.0, 0.002, 0.1, 0.6}) {
    std::vector<Ended> ended;
    for (int call = 0; call < 6000; ++call) {
      const Duration at = Duration(1 + static_cast<std::int64_t>(5e6 * standard_exponential(random)));
      const double kind = random.uniform();
      ended.push_back({at, kind < given_up          ? Ending::timed_out
                           : kind < given_up + 0.01 ? Ending::rejected
                                                    : Ending::replied});
    }
    const EndingTable table = exact_table(ended);
    const SurvivalCurve curve(table);
    for (const bool of_the_replied : {false, true}) {
      const double ever = of_the_replied ? curve.back().replied : 1 - curve.back().rejected;
      for (const double q : {0.02, 0.3, 0.5, 0.9, 0.99, 0.999}) {
        for (const double vif : {1.0, 40.0}) {
          const IntervalQuestion question{.quantile = q,
                                          .vif = vif,
                                          .replied_ever_low = ever,
                                          .replied_ever_high = std::min(1.0, ever * 1.001),
                                          .of_the_replied = of_the_replied,
                                          .last_row = table.size() - 1};
          const IntervalRows found = interval_rows(curve, question);
          const IntervalRows expected = rows_one_by_one(curve, question);
          SCOPED_TRACE(testing::Message() << given_up << " given up, q " << q << ", vif " << vif
                                          << (of_the_replied ? ", of the replied" : ""));
          EXPECT_EQ(found.low, expected.low);
          EXPECT_EQ(found.low_beyond, expected.low_beyond);
          EXPECT_EQ(found.low_unbounded, expected.low_unbounded);
          EXPECT_EQ(found.high, expected.high);
          EXPECT_EQ(found.high_one_sided, expected.high_one_sided);
        }
      }
    }
  }
}

}  // namespace
}  // namespace overdue
