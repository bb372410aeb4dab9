#include "overdue/timeout/advice.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "overdue/base/random.h"
#include "overdue/latency/quantile_interval.h"
#include "overdue/latency/test_tables.h"

namespace overdue {
namespace {

using namespace std::chrono_literals;
using namespace testing_tables;

TimeoutAdvice advise(const EndingTable& table, double accept_false) {
  return advise_timeout(table, {}, {.accept_false = Probability{accept_false}, .headroom = {}});
}

// C12: 0.1 % of 1..10,000 ms is 9,990 and 1 % is 9,900.
TEST(TimeoutAdvice, AnAcceptedRateIsARank) {
  const EndingTable table = evenly_replied(10'000, 1ms);
  EXPECT_EQ(advise(table, 0.001).point, 9990ms);
  EXPECT_EQ(advise(table, 0.01).point, 9900ms);
}

// C13: 19 calls of 10 ms and one of 1000 ms support no p99; a timeout fixed beforehand can still be checked.
TEST(TimeoutAdvice, SaysHowManyCallsATailNeeds) {
  const EndingTable table = exact_table({{10ms, Ending::replied, 19}, {1000ms}});
  const TimeoutAdvice advice = advise(table, 0.01);
  EXPECT_EQ(advice.declined, "too_few_calls");
  EXPECT_FALSE(advice.request_timeout);
  EXPECT_EQ(advice.calls_needed, 299U);
  EXPECT_EQ(advise(table, 0.001).calls_needed, 2995U);
  const SurvivalCurve curve(table);
  const TimeoutCheck check = check_timeout(curve, advice, 1000ms, Probability{0.95});
  EXPECT_EQ(check.replies_above, 0U);
  EXPECT_EQ(check.replies, 20U);
  EXPECT_NEAR(check.false_rate_upper, 0.13910834066826516, 1e-12);
  EXPECT_EQ(check_timeout(curve, advice, 1000ms - 1ns, Probability{0.95}).replies_above, 1U);
  EXPECT_EQ(check_timeout(curve, advice, 10ms - 1ns, Probability{0.95}).false_rate_upper, 1.0);
}

TEST(TimeoutCheck, BoundsTheRateByClopperAndPearson) {
  const EndingTable table = evenly_replied(10'000, 1ms);
  const SurvivalCurve curve(table);
  const TimeoutAdvice advice = advise(table, 0.001);
  const TimeoutCheck check = check_timeout(curve, advice, 9969ms, Probability{0.95});
  EXPECT_EQ(check.replies_above, 31U);
  EXPECT_NEAR(check.rates.false_timeout_rate, 0.0031, 1e-12);
  EXPECT_NEAR(check.false_rate_upper, 0.00418149510171139, 1e-9);
  EXPECT_FALSE(check.beyond_longest_wait);
  EXPECT_TRUE(check_timeout(curve, advice, 10'001ms, Probability{0.95}).beyond_longest_wait);
}

// A check must not pass on the hope that open calls are lost.
TEST(TimeoutCheck, CountsTheOpenOnesAsCutOffWhereTheyLookSlow) {
  const EndingTable table = evenly_replied(3000, 100us, {{300ms, Ending::timed_out, 60}});
  const SurvivalCurve curve(table);
  const TimeoutAdvice advice = advise(table, 0.01);
  ASSERT_EQ(advice.open.verdict, WaitVerdict::slow);
  EXPECT_GT(check_timeout(curve, advice, 300ms, Probability{0.95}).false_rate_upper, 60.0 / 3060);
}

// C16, variant: 5 answers and 195 lost without a time.
TEST(TimeoutAdvice, DeclinesWhenMostGiveUpsHaveNoTime) {
  std::vector<Ended> ended = {{0ms, Ending::timed_out, 195}};
  for (int i = 1; i <= 5; ++i) ended.push_back({i * 10ms});
  const TimeoutAdvice advice = advise(exact_table(ended), 0.01);
  EXPECT_EQ(advice.declined, "too_many_untimed");
  EXPECT_EQ(advice.untimed_give_ups, 195U);
  EXPECT_FALSE(advice.request_timeout);
  EXPECT_FALSE(advice.point);
}

// C17: a rejection is no answer, no loss, and in no denominator.
TEST(TimeoutAdvice, LeavesRejectionsOutOfEveryShare) {
  const TimeoutAdvice failing =
      advise(exact_table({{900ms, Ending::replied, 900}, {4ms, Ending::rejected, 300}}), 0.01);
  EXPECT_EQ(failing.request_timeout, 900ms);
  EXPECT_EQ(failing.open.rejected_share, 0.25);
  EXPECT_EQ(failing.false_timeout_rate, 0.0);
  const EndingTable lossy = exact_table(
      {{4ms, Ending::rejected, 10'000}, {10ms, Ending::replied, 9960}, {1s, Ending::timed_out, 40}});
  const TimeoutAdvice advice = advise(lossy, 0.001);
  EXPECT_EQ(advice.open.verdict, WaitVerdict::lost);
  EXPECT_NEAR(advice.lost_rate, 0.004, 1e-12);
  EXPECT_NEAR(advice.visible_timeout_rate, 0.004, 1e-12);
  const SurvivalCurve curve(lossy);
  const RatesAt rates = rates_at(curve, advice, 10ms);
  EXPECT_NEAR(rates.answered, 0.996, 1e-12);
  EXPECT_NEAR(rates.answered + rates.cut_off + rates.never_answered + rates.reset, 1.0, 1e-12);
}

// A queue's limit of a second turns calls away: cut off before, they are time-outs to the caller, and not
// lost.
TEST(TimeoutAdvice, ARejectionThatComesAfterTheTimeoutIsNoLostCall) {
  const EndingTable table = evenly_replied(4000, 10us, {{1s, Ending::rejected, 20'000}});
  const TimeoutAdvice advice = advise(table, 0.001);
  EXPECT_EQ(advice.request_timeout, 40ms);
  EXPECT_EQ(advice.lost_rate, 0.0);
  EXPECT_NEAR(advice.visible_timeout_rate, 20'000.0 / 24'000, 1e-12);
  const RatesAt rates = rates_at(SurvivalCurve(table), advice, 20ms);
  EXPECT_NEAR(rates.answered, 0.5, 1e-12);
  EXPECT_NEAR(rates.answered + rates.cut_off + rates.never_answered + rates.reset, 1.0, 1e-12);
  EXPECT_NEAR(rates.visible_timeout_rate, 22'000.0 / 24'000, 1e-12);
}

TEST(TimeoutAdvice, WhatRoundingLeavesIsNoLoss) {
  const TimeoutAdvice advice = advise(evenly_replied(5000, 1ms), 0.001);
  EXPECT_EQ(advice.lost_rate, 0.0);
  EXPECT_NEAR(advice.visible_timeout_rate, 0.0002, 1e-12);
}

TEST(TimeoutAdvice, SaysHowManyIndependentRepliesTheIntervalRestsOn) {
  EXPECT_NEAR(advise(evenly_replied(5000, 1ms), 0.001).effective_replies, 5000, 1e-6);
  EXPECT_EQ(advise(evenly_replied(500, 1ms), 0.001).effective_replies, 0.0);
}

TEST(TimeoutAdvice, ReportsEachKindOfFailureApart) {
  // 20,000 replies, 80 lost, 100 reset at 5 ms.
  const EndingTable table =
      evenly_replied(20'000, 10us, {{1s, Ending::timed_out, 80}, {5ms, Ending::reset, 100}});
  const TimeoutAdvice advice = advise(table, 0.001);
  EXPECT_EQ(advice.request_timeout, 200ms);
  EXPECT_EQ(advice.false_timeout_rate, 0.0);
  EXPECT_NEAR(advice.lost_rate, 80.0 / 20'180, 1e-12);
  EXPECT_NEAR(advice.reset_rate, 100.0 / 20'180, 1e-12);
  EXPECT_NEAR(advice.visible_timeout_rate, 80.0 / 20'180, 1e-12);
}

TEST(TimeoutAdvice, HeadroomStretchesThePoint) {
  const EndingTable table = evenly_replied(1000, 1ms);
  const TimeoutAdvice advice =
      advise_timeout(table, {}, {.accept_false = Probability{0.01}, .headroom = 0.2});
  EXPECT_EQ(advice.point, 990ms);
  EXPECT_EQ(advice.request_timeout, 1188ms);
}

TEST(TimeoutAdvice, DependenceAsksForMoreCallsAndSaysWhatTheyAreWorth) {
  const EndingTable table = evenly_replied(20'000, 10us);
  const TailByBlock bursts = [](Duration late_above) {
    EXPECT_EQ(late_above, 198ms);
    std::vector<BlockTail> blocks(64, {.replied = 312, .late = 0});
    for (std::size_t i = 0; i < blocks.size(); i += 8) blocks[i].late = 25;
    return blocks;
  };
  const TimeoutAdvice alone = advise(table, 0.01);
  const TimeoutAdvice bursty =
      advise_timeout(table, bursts, {.accept_false = Probability{0.01}, .headroom = {}});
  EXPECT_FALSE(alone.vif_known);
  EXPECT_EQ(alone.late_calls, 200U);
  EXPECT_TRUE(bursty.vif_known);
  EXPECT_GT(bursty.vif, 5.0);
  EXPECT_EQ(bursty.point, alone.point);
  EXPECT_LT(*bursty.low, *alone.low);
  EXPECT_GT(*bursty.recommended, *alone.recommended);
  EXPECT_GT(bursty.calls_needed, 5 * alone.calls_needed);
  EXPECT_NEAR(bursty.effective_late_calls, 200 / bursty.vif, 1e-9);
  EXPECT_NEAR(bursty.effective_replies, 20'000 / bursty.vif, 1e-6);
}

TEST(TimeoutAdvice, CannotTellSaysHowManyCallsWould) {
  const EndingTable table = evenly_replied(2000, 100us, {{1s, Ending::timed_out, 30}});
  EXPECT_EQ(advise(table, 0.001).calls_needed, 8905U);
}

TEST(TimeoutAdvice, WithoutCallsOrRepliesThereIsNoAdvice) {
  EXPECT_EQ(advise({}, 0.01).declined, "no_calls");
  EXPECT_EQ(advise(exact_table({{1s, Ending::timed_out, 10}}), 0.01).declined, "no_replies");
  EXPECT_EQ(advise(exact_table({{1s, Ending::rejected, 10}}), 0.01).declined, "no_replies");
  EXPECT_EQ(advise(exact_table({{1s}}), 0.01).declined, "too_few_calls");
}

TEST(TimeoutAdvice, AcceptingNothingOrEverythingIsAnswered) {
  const EndingTable table = evenly_replied(1000, 1ms);
  EXPECT_EQ(advise(table, 0.0).declined, "too_few_calls");
  EXPECT_EQ(advise(table, 1.0).declined, "");
}

// Half the callers leave at 100 ms of calls that take 1..400 ms: whether theirs were slower, nobody can know.
TEST(AbandonmentRange, GivesBothEndsWhereCallersWhoLeftCouldDecide) {
  std::vector<Ended> ended = {{100ms, Ending::abandoned, 3000}};
  for (int i = 1; i <= 4000; ++i) ended.push_back({i * 100us});
  const TimeoutAdvice advice = advise(exact_table(ended), 0.01);
  ASSERT_EQ(advice.declined, "");
  const AbandonmentRange& range = advice.abandonment;
  EXPECT_EQ(range.abandoned_before, 3000U);
  EXPECT_NEAR(range.share, 3.0 / 7, 1e-12);
  EXPECT_TRUE(range.matters);
  EXPECT_LT(range.false_rate_if_lost, 0.01);
  EXPECT_NEAR(range.false_rate_if_slow, 3.0 / 7, 0.01);
  EXPECT_EQ(range.timeout_if_lost, 396ms);
  EXPECT_FALSE(range.timeout_if_slow);
}

TEST(AbandonmentRange, AFewWhoLeftDoNotMatter) {
  const EndingTable table =
      evenly_replied(4000, 100us, {{100ms, Ending::abandoned, 30}, {500ms, Ending::abandoned, 10}});
  EXPECT_FALSE(advise(table, 0.01).abandonment.matters);
  EXPECT_EQ(advise(table, 0.01).abandonment.abandoned_before, 30U);
}

// Give-ups at once leave fewer than five watched when the first reply comes.
TEST(TimeoutAdvice, RepliesThatHardlyAnybodyWaitedForAreTooFewAndNotNone) {
  const TimeoutAdvice advice =
      advise(exact_table({{3us, Ending::timed_out, 7}, {800ms, Ending::replied, 3}}), 0.001);
  EXPECT_EQ(advice.declined, "too_few_calls");
  EXPECT_EQ(advice.calls_needed, 2995U);
}

TEST(RoundUpTimeout, IsWholeMillisecondsAndNeverZero) {
  EXPECT_EQ(round_up_timeout(384ms), 384ms);
  EXPECT_EQ(round_up_timeout(384ms + 1ns), 385ms);
  EXPECT_EQ(round_up_timeout(10ms), 10ms);
  EXPECT_EQ(round_up_timeout(10ms + 1ns), 11ms);
  EXPECT_EQ(round_up_timeout(10ms - 1ns), 10ms);
  EXPECT_EQ(round_up_timeout(450us), 450us);
  EXPECT_EQ(round_up_timeout(450us + 1ns), 451us);
  EXPECT_EQ(round_up_timeout(1ms), 1ms);
  EXPECT_EQ(round_up_timeout(1ms + 1ns), 1010us);
  EXPECT_EQ(round_up_timeout(0ns), 1us);
}

std::vector<Ended> any_log(Random& random, int calls, Duration longest = 900ms, bool cut_early = true) {
  std::vector<Ended> ended;
  for (int i = 0; i < calls; ++i) {
    const Duration after(1000 + static_cast<std::int64_t>(2e6 / (1.0 - random.uniform())));
    const double kind = random.uniform();
    const Duration limit = cut_early && random.uniform() < 0.2 ? 60ms : longest;
    if (after > limit || (kind >= 0.03 && kind < 0.034)) {
      ended.push_back({limit, Ending::timed_out});
    } else if (kind < 0.01) {
      ended.push_back({after / 2, Ending::reset});
    } else if (kind < 0.03) {
      ended.push_back({after, Ending::rejected});
    } else {
      ended.push_back({after});
    }
  }
  return ended;
}

// Where both see the same still to come: T/2 and 0.8 T may fall within a bucket, which then counts on one
// side. With early cuts the effective replies differ from row to row and a test on the edge may fall the
// other way; there the curve's own enclosing (QuantileOfAll) is all that holds.
RC_GTEST_PROP(TimeoutAdvice, BucketsEncloseTheExactAnswer, ()) {
  Random random(*rc::gen::arbitrary<std::uint32_t>());
  const Duration longest = *rc::gen::element(Duration(900ms), Duration(10s));
  const std::vector<Ended> ended = any_log(random, 3000, longest, false);
  const TimeoutAdvice exact = advise(exact_table(ended), 0.02);
  const TimeoutAdvice bucket = advise(bucket_table(ended), 0.02);
  if (!exact.point || !bucket.point) return;
  RC_ASSERT(*bucket.low <= *exact.low);
  if (std::abs(exact.replied_ever - bucket.replied_ever) > 1e-12) return;
  RC_ASSERT(exact.recommended.has_value() == bucket.recommended.has_value());
  if (!exact.recommended) return;
  RC_ASSERT(*bucket.recommended >= *exact.recommended);
  RC_ASSERT(exact.high.has_value() == bucket.high.has_value());
  if (exact.high) {
    RC_ASSERT(*bucket.high >= *exact.high);
  }
}

RC_GTEST_PROP(TimeoutAdvice, EndsStandInOrderAndRatesAddUp, ()) {
  Random random(*rc::gen::arbitrary<std::uint32_t>());
  const EndingTable table = exact_table(any_log(random, *rc::gen::inRange(1, 4000)));
  const SurvivalCurve curve(table);
  const TimeoutAdvice advice = advise_timeout(
      curve, {}, {.accept_false = Probability{*rc::gen::element(0.001, 0.01, 0.1)}, .headroom = {}});
  if (advice.low && advice.point) {
    RC_ASSERT(*advice.low <= *advice.point);
  }
  if (advice.recommended) {
    RC_ASSERT(*advice.point <= *advice.recommended);
  }
  if (advice.high) {
    RC_ASSERT(*advice.recommended <= *advice.high);
  }
  if (advice.point && advice.if_open_lost) {
    RC_ASSERT(*advice.if_open_lost <= *advice.point);
  }
  RC_ASSERT(advice.request_timeout.has_value() == advice.declined.empty());
  for (const Duration timeout : {1ms, 5ms, 50ms, 900ms}) {
    const RatesAt rates = rates_at(curve, advice, timeout);
    const double rejected_later =
        advice.open.rejected_share - curve.at(std::min(Duration(timeout), advice.open.longest_wait)).rejected;
    const double sum = rates.answered + rates.cut_off + rates.never_answered + rates.reset;
    RC_ASSERT(sum > 1.0 - 1e-9);
    RC_ASSERT(sum < 1.0 + rejected_later / (1.0 - advice.open.rejected_share) + 1e-9);
  }
}

// 70 replies at 10 ms to 700 ms, and 30 give-ups before them; as many of each, `times` over.
EndingTable cut_early(std::uint64_t times) {
  EndingTable table;
  for (int i = 1; i <= 70; ++i) {
    const Duration at = i * 10ms;
    EndingRow row{.low = at, .mid = at, .high = at, .replied = times};
    if (i == 20) row.timed_out = 10 * times;
    if (i == 50) row.timed_out = 20 * times;
    table.push_back(row);
  }
  return table;
}

TEST(CallsNeeded, IsANumberThatGetsAdviceAndMoreThanThereIs) {
  const TimeoutAdvice few = advise(cut_early(1), 0.1);
  ASSERT_EQ(few.declined, "too_few_calls");
  EXPECT_GT(few.calls_needed, 200U);
  EXPECT_LE(few.calls_needed, 400U);
  const TimeoutAdvice twice = advise(cut_early(2), 0.1);
  ASSERT_EQ(twice.declined, "too_few_calls");
  EXPECT_GT(twice.calls_needed, 200U);
  EXPECT_NEAR(static_cast<double>(twice.calls_needed), static_cast<double>(few.calls_needed), 50);
  EXPECT_EQ(advise(cut_early(4), 0.1).declined, "");
}

TEST(CallsNeeded, IsMoreThanThereIsWhereManyWereResetToo) {
  const EndingTable table =
      evenly_replied(7000, 50us, {{50us, Ending::reset, 3000}, {1s, Ending::timed_out, 30}});
  const TimeoutAdvice advice = advise(table, 0.001);
  ASSERT_EQ(advice.declined, "not_identifiable");
  EXPECT_GT(advice.calls_needed, advice.calls);
}

}  // namespace
}  // namespace overdue
