#include "overdue/timeout/open_calls.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "overdue/latency/test_tables.h"

namespace overdue {
namespace {

using namespace std::chrono_literals;
using namespace testing_tables;
using ::testing::HasSubstr;

OpenCalls judge(const EndingTable& table, double accept_false) {
  const SurvivalCurve curve(table);
  return judge_open_calls(curve, accept_false);
}

TEST(OpenCalls, TheLongestWaitIsOfAnyEndingWhenNothingWasCutEarlier) {
  EXPECT_EQ(judge(exact_table({{1ms, Ending::replied, 100}, {2s}}), 0.01).longest_wait, 2s);
  EXPECT_EQ(judge(exact_table({{1ms, Ending::replied, 100}, {2s, Ending::timed_out}}), 0.01).longest_wait,
            2s);
  EXPECT_EQ(judge(exact_table({{1ms, Ending::replied, 100}, {2s, Ending::reset}}), 0.01).longest_wait, 2s);
}

TEST(OpenCalls, WithEarlierCutsFiveCallsMustStillBeWatched) {
  for (const std::uint64_t watched : {4U, 5U}) {
    const OpenCalls open = judge(
        exact_table(
            {{1ms, Ending::replied, 100}, {50ms, Ending::timed_out, 3}, {2s, Ending::replied, watched}}),
        0.01);
    EXPECT_EQ(open.longest_wait, watched == 5 ? Duration(2s) : Duration(50ms));
  }
}

TEST(OpenCalls, WhatEndsAfterTheLongestWaitCountsAsOpen) {
  const OpenCalls open = judge(
      exact_table({{1ms, Ending::replied, 100}, {50ms, Ending::timed_out, 3}, {2s, Ending::replied, 4}}),
      0.01);
  EXPECT_EQ(open.open_calls, 7U);
  EXPECT_NEAR(open.open_share, 7.0 / 107, 1e-12);
}

TEST(OpenCalls, LooksAtTheLastHalfAndTheLastFifth) {
  const OpenCalls open = judge(evenly_replied(1000, 1ms), 0.01);
  EXPECT_EQ(open.last_half.from, 500ms);
  EXPECT_EQ(open.last_half.watched, 500U);
  EXPECT_EQ(open.last_fifth.from, 800ms);
  EXPECT_EQ(open.last_fifth.watched, 200U);
  EXPECT_EQ(open.last_fifth.replies, 200U);
  EXPECT_NEAR(open.last_fifth.open, 0.2, 1e-12);
  EXPECT_NEAR(open.tail_least, 4 * 0.2 * std::pow(0.05, 1.0 / 200),
              1e-9);  // All of 200, Clopper and Pearson.
}

TEST(OpenCalls, SaysWhatItSawInWords) {
  const std::string lost =
      describe(judge(evenly_replied(20'000, 10us, {{1s, Ending::timed_out, 80}}), 0.001));
  EXPECT_THAT(lost, HasSubstr("80 calls were open after 1 s"));
  EXPECT_THAT(lost, HasSubstr("0 replied in the last half"));
  EXPECT_THAT(lost, HasSubstr("look lost"));
  EXPECT_THAT(lost, HasSubstr("as far as the longest wait of 1 s shows"));
  EXPECT_THAT(describe(judge(evenly_replied(3000, 100us, {{300ms, Ending::timed_out, 60}}), 0.01)),
              HasSubstr("replies were still coming"));
  EXPECT_THAT(describe(judge(evenly_replied(2000, 100us, {{1s, Ending::timed_out, 30}}), 0.001)),
              HasSubstr("more calls or a longer limit would tell"));
  EXPECT_THAT(describe(judge(evenly_replied(100, 1ms), 0.001)), HasSubstr("no call was still open"));
}

TEST(OpenCalls, VerdictsHaveTheNamesOfTheReport) {
  EXPECT_EQ(name_of(WaitVerdict::enough), "enough");
  EXPECT_EQ(name_of(WaitVerdict::lost), "lost");
  EXPECT_EQ(name_of(WaitVerdict::slow), "slow");
  EXPECT_EQ(name_of(WaitVerdict::cannot_tell), "cannot_tell");
}

// All calls ended at 0: there is no stretch to look at, and nothing divides by zero.
TEST(OpenCalls, ALogWithoutTimesTellsNothing) {
  const OpenCalls open = judge(exact_table({{0ms, Ending::timed_out, 10}, {0ms, Ending::replied, 10}}), 0.01);
  EXPECT_EQ(open.verdict, WaitVerdict::cannot_tell);
  EXPECT_EQ(open.longest_wait, 0ms);
}

}  // namespace
}  // namespace overdue
