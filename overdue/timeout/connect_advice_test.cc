#include "overdue/timeout/connect_advice.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "overdue/latency/test_tables.h"

namespace overdue {
namespace {

using namespace std::chrono_literals;
using namespace testing_tables;
using ::testing::HasSubstr;

// 10,000 connects of 0.1 to 20 ms, and `late` at the given time.
EndingTable connects(Duration late_at, std::uint64_t late) {
  std::vector<Ended> ended = {{late_at, Ending::replied, late}};
  for (int i = 1; i <= 200; ++i) ended.push_back({i * 100us, Ending::replied, 50});
  return exact_table(ended);
}

TEST(ConnectAdvice, FarFromARetransmissionItIsTheAdviceOfTheCurve) {
  const ConnectAdvice advice = advise_connect_timeout(connects(130ms, 100), {});
  EXPECT_EQ(advice.connect_timeout, 130ms);
  EXPECT_FALSE(advice.near_retransmission);
  EXPECT_EQ(advice.retransmitted_share, 0.0);
  EXPECT_THAT(advice.note, HasSubstr("just under 1, 3 or 7 s never lets"));
}

TEST(ConnectAdvice, IsNeverBelowWhatNobodyNoticesHoweverShortTheConnectsAre) {
  const ConnectAdvice advice = advise_connect_timeout(connects(30ms, 100), {});
  EXPECT_EQ(advice.advice.request_timeout, 30ms);
  EXPECT_EQ(advice.connect_timeout, 100ms);
  EXPECT_THAT(advice.note, HasSubstr("needs no more than 30 ms"));
}

TEST(ConnectAdvice, ConnectionsKeptFromBeforeAreNoConnectsWhereThereAreOthersEnough) {
  const EndingTable table = exact_table(
      {{0ns, Ending::replied, 90'000}, {200ms, Ending::replied, 5'000}, {300ms, Ending::replied, 100}});
  EXPECT_EQ(advise_connect_timeout(table, {}).advice.request_timeout, 300ms);
  EXPECT_EQ(advise_connect_timeout(exact_table({{0ns, Ending::replied, 90'000}}), {}).connect_timeout, 100ms);
}

TEST(ConnectAdvice, ALimitJustUnderARetransmissionIsMovedPastItsAnswer) {
  for (const Duration late_at : {Duration(800ms), Duration(999ms)}) {
    const ConnectAdvice advice = advise_connect_timeout(connects(late_at, 100), {});
    EXPECT_EQ(advice.advice.request_timeout, late_at);
    EXPECT_EQ(advice.near_retransmission, 1s);
    EXPECT_GT(*advice.connect_timeout, 1s);
    EXPECT_LT(*advice.connect_timeout, 2s);
    EXPECT_THAT(advice.note, HasSubstr("in vain"));
  }
}

TEST(ConnectAdvice, ALimitThatLeavesTheAnswerNoTimeIsMovedToo) {
  const ConnectAdvice advice = advise_connect_timeout(connects(3005ms, 100), {});
  EXPECT_EQ(advice.near_retransmission, 3s);
  EXPECT_EQ(advice.connect_timeout, 3020ms);  // Their 99 % is 19.9 ms.
  EXPECT_NEAR(advice.retransmitted_share, 100.0 / 10'100, 1e-12);
}

TEST(ConnectAdvice, ARetransmissionThatHadItsTimeIsLeftAlone) {
  const ConnectAdvice advice = advise_connect_timeout(connects(1050ms, 100), {});
  EXPECT_EQ(advice.connect_timeout, 1050ms);
  EXPECT_FALSE(advice.near_retransmission);
}

TEST(ConnectAdvice, TooFewConnectsGiveNone) {
  const ConnectAdvice advice = advise_connect_timeout(exact_table({{1ms, Ending::replied, 20}}), {});
  EXPECT_FALSE(advice.connect_timeout);
  EXPECT_EQ(advice.advice.declined, "too_few_calls");
}

}  // namespace
}  // namespace overdue
