#include "overdue/call/retry_budget.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <vector>

namespace overdue {
namespace {

using namespace std::chrono_literals;
constexpr Instant kStart{};

TEST(RetryBudget, RefusesOnceTheSavedRetriesAreSpent) {
  auto budget = RetryBudget::create({.retries_saved_max = 2}, kStart).value();
  EXPECT_TRUE(budget.try_spend_retry(kStart));
  EXPECT_TRUE(budget.try_spend_retry(kStart));
  EXPECT_FALSE(budget.try_spend_retry(kStart));
}

TEST(RetryBudget, FloorGrantsARetryAfterExactlyOneSecond) {
  auto budget = RetryBudget::create({.retries_saved_max = 1}, kStart).value();
  ASSERT_TRUE(budget.try_spend_retry(kStart));
  EXPECT_FALSE(budget.try_spend_retry(kStart + 1s - 1ns));
  EXPECT_TRUE(budget.try_spend_retry(kStart + 1s));
}

TEST(RetryBudget, AFloorBelowOneASecondIsKeptExactly) {
  auto budget =
      RetryBudget::create({.retries_per_1000_seconds_min = 1, .retries_saved_max = 1}, kStart).value();
  ASSERT_TRUE(budget.try_spend_retry(kStart));
  EXPECT_FALSE(budget.try_spend_retry(kStart + 1000s - 1ns));
  EXPECT_TRUE(budget.try_spend_retry(kStart + 1000s));
}

TEST(RetryBudget, EveryTenthFirstAttemptSavesOneRetryAndTheTenthIsNotTheNinth) {
  auto budget =
      RetryBudget::create({.retries_per_1000_seconds_min = 0, .retries_saved_max = 1}, kStart).value();
  ASSERT_TRUE(budget.try_spend_retry(kStart));
  for (int i = 0; i < 9; ++i) budget.on_first_attempt(kStart);
  EXPECT_FALSE(budget.try_spend_retry(kStart));
  budget.on_first_attempt(kStart);
  EXPECT_TRUE(budget.try_spend_retry(kStart));
}

TEST(RetryBudget, SavesForTenThousandFirstAttemptsToTheLastOfThem) {
  auto budget =
      RetryBudget::create({.retries_per_1000_seconds_min = 0, .retries_saved_max = 2'000}, kStart).value();
  while (budget.try_spend_retry(kStart)) continue;
  for (int i = 0; i < 9'999; ++i) budget.on_first_attempt(kStart);
  int granted = 0;
  while (budget.try_spend_retry(kStart)) ++granted;
  EXPECT_EQ(granted, 999);
}

TEST(RetryBudget, SavesNoMoreThanItsBurstHoweverLongNothingFails) {
  auto budget = RetryBudget::create({.retries_saved_max = 3}, kStart).value();
  const Instant end = Instant::max();
  budget.on_first_attempt(end);
  int granted = 0;
  while (budget.try_spend_retry(end)) ++granted;
  EXPECT_EQ(granted, 3);
}

// C40 (b): one call in 10 s, every third fails once.
TEST(RetryBudget, AQuietClientRetriesEveryFailureThanksToTheFloorAndWithoutItHardlyAny) {
  const auto share_granted = [](std::int64_t floor_per_1000_seconds) {
    auto budget =
        RetryBudget::create({.retries_per_1000_seconds_min = floor_per_1000_seconds, .retries_saved_max = 1},
                            kStart)
            .value();
    int granted = 0;
    for (int call = 1; call <= 300; ++call) {
      const Instant now = kStart + call * 10s;
      budget.on_first_attempt(now);
      if (call % 3 == 0 && budget.try_spend_retry(now)) ++granted;
    }
    return granted;
  };
  EXPECT_EQ(share_granted(1000), 100);
  EXPECT_LE(share_granted(0), 31) << "0.3 of a retry is earned a failure, and one was there to begin with";
  EXPECT_GE(share_granted(0), 25);
}

// C40 (a): 15 % of live calls, at least 2.
TEST(ConcurrentRetriesMax, IsTheShareOfLiveCallsAndNeverBelowItsFloor) {
  const std::vector<std::pair<int, int>> live_and_most = {{0, 2},  {2, 2},  {10, 2},
                                                          {20, 3}, {40, 6}, {100, 15}};
  for (const auto& [live, most] : live_and_most)
    EXPECT_EQ(concurrent_retries_max(live, 150, 2), most) << live;
}

TEST(RetryBudget, RefusesOptionsThatCannotBeMeantAndNamesThem) {
  EXPECT_EQ(RetryBudget::create({.retries_saved_max = 0}, kStart).error().code, ErrorCode::invalid_argument);
  EXPECT_FALSE(RetryBudget::create({.retries_saved_max = 1'000'001}, kStart).has_value());
  EXPECT_FALSE(RetryBudget::create({.retries_per_1000_requests = -1}, kStart).has_value());
  EXPECT_FALSE(RetryBudget::create({.retries_per_1000_requests = 1'000'001}, kStart).has_value());
  const auto fault = RetryBudget::create({.retries_per_1000_seconds_min = -1}, kStart);
  ASSERT_FALSE(fault.has_value());
  EXPECT_NE(fault.error().message.find("retries_per_1000_seconds_min = -1"), std::string::npos);
}

// The promise in the class comment, for any interleaving of calls, all retried, over every span that begins
// with the first call.
RC_GTEST_PROP(RetryBudget, GrantsNoMoreThanItsStatedBound, ()) {
  const auto ratio = *rc::gen::inRange<std::int64_t>(0, 2'000);
  const auto floor = *rc::gen::inRange<std::int64_t>(0, 5'000);
  const auto saved = *rc::gen::inRange<std::int64_t>(1, 20);
  auto budget = RetryBudget::create({.retries_per_1000_requests = ratio,
                                     .retries_per_1000_seconds_min = floor,
                                     .retries_saved_max = saved},
                                    kStart)
                    .value();
  std::int64_t first_attempts = 0;
  std::int64_t granted = 0;
  Instant now = kStart;
  for (int gap_ms : *rc::gen::container<std::vector<int>>(rc::gen::inRange(0, 3'000))) {
    now += std::chrono::milliseconds(gap_ms);
    budget.on_first_attempt(now);
    ++first_attempts;
    while (budget.try_spend_retry(now)) ++granted;
    // In millionths of a retry: 1 a second is 1000 a millisecond.
    const std::int64_t milliseconds = (now - kStart) / 1ms;
    RC_ASSERT(granted * 1'000'000 <=
              saved * 1'000'000 + first_attempts * ratio * 1'000 + milliseconds * floor);
  }
}

}  // namespace
}  // namespace overdue
