#include "overdue/call/deadline.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace overdue {
namespace {

using namespace std::chrono_literals;
constexpr Instant kStart{};

TEST(Remaining, IsNothingAtTheDeadlineAndANanosecondJustBefore) {
  EXPECT_EQ(remaining(kStart + 1s - 1ns, kStart + 1s), 1ns);
  EXPECT_EQ(remaining(kStart + 1s, kStart + 1s), std::nullopt);
  EXPECT_EQ(remaining(kStart + 2s, kStart + 1s), std::nullopt);
}

// C29: 300 ms into an API of whole seconds.
TEST(InWholeUnits, RoundsUpAndNeverToZero) {
  EXPECT_EQ(in_whole_units(300ms, 1s), 1);
  EXPECT_EQ(in_whole_units(1ns, 1s), 1);
  EXPECT_EQ(in_whole_units(1s, 1s), 1);
  EXPECT_EQ(in_whole_units(1s + 1ns, 1s), 2);
  EXPECT_EQ(in_whole_units(450us, 1ms), 1);
  EXPECT_EQ(in_whole_units(Duration::max(), 1ns), Duration::max().count());
}

TEST(WayEstimate, HoldsItsStatedEstimateUntilATripWasMeasured) {
  WayEstimate way(40ms);
  EXPECT_EQ(way.margin(), 40ms);
  way.on_round_trip(2ms);
  EXPECT_EQ(way.margin(), 2ms);
}

TEST(WayEstimate, HoldsBackTheMeanAndFourDeviationsAndNoMoreThanTheLongestTrip) {
  WayEstimate way(0ms);
  way.on_round_trip(8ms);
  way.on_round_trip(80ms);
  EXPECT_EQ(way.margin(), 80ms) << "17 ms and four times 21 ms are more";
  for (int trip = 0; trip < 200; ++trip) way.on_round_trip(8ms);
  EXPECT_LT(way.margin(), 8ms + 10us) << "the long one is long ago";
}

TEST(WayEstimate, SettlesOnTheTripsItSeesAndFollowsTheirSpread) {
  WayEstimate way(1s);
  for (int trip = 0; trip < 200; ++trip) way.on_round_trip(5ms);
  EXPECT_GE(way.margin(), 5ms - 10us);
  EXPECT_LE(way.margin(), 5ms + 10us);
  for (int trip = 0; trip < 200; ++trip) way.on_round_trip(trip % 2 == 0 ? 1ms : 9ms);
  EXPECT_EQ(way.margin(), 9ms) << "mean 5 ms and four times a deviation of 4 ms are more";
}

TEST(WayOf, IsTheTripWithoutTheServersTimeAndNeverLessThanNothing) {
  EXPECT_EQ(way_of(12ms, 10ms), 2ms);
  EXPECT_EQ(way_of(10ms, 10ms), 0ns);
  EXPECT_EQ(way_of(10ms, 12ms), 0ns) << "a server that says it took longer than the trip";
}

TEST(WayEstimate, TellsTheNextHopWhatRemainsLessTheMargin) {
  const WayEstimate way(40ms);
  EXPECT_EQ(way.allowance(kStart, kStart + 500ms), 460ms);
  EXPECT_EQ(way.allowance(kStart, kStart + 80ms), 40ms);
  EXPECT_EQ(way.allowance(kStart + 500ms, kStart + 500ms), std::nullopt) << "fail now, without calling";
}

TEST(WayEstimate, AMarginAsLongAsWhatRemainsLeavesHalfOfIt) {
  const WayEstimate way(40ms);
  EXPECT_EQ(way.allowance(kStart, kStart + 30ms), 15ms);
  EXPECT_EQ(way.allowance(kStart, kStart + 1ns), 1ns);
}

RC_GTEST_PROP(WayEstimate, TheNextHopAlwaysGetsSomeTimeAndNeverMoreThanThereIs, ()) {
  WayEstimate way(Duration(*rc::gen::inRange<std::int64_t>(0, 1'000'000'000)));
  for (const auto trip :
       *rc::gen::container<std::vector<std::int64_t>>(rc::gen::inRange<std::int64_t>(0, 1'000'000'000)))
    way.on_round_trip(Duration(trip));
  const Duration left(*rc::gen::inRange<std::int64_t>(1, 1'000'000'000));
  const auto allowance = way.allowance(kStart, kStart + left);
  RC_ASSERT(allowance.has_value());
  RC_ASSERT(*allowance > 0ns);
  RC_ASSERT(*allowance <= left);
  RC_ASSERT(*allowance >= left / 2);
}

TEST(ServerGuard, RefusesWorkThatIsDueNowBeforeItStarts) {
  ServerGuard in_time(kStart + 1s);
  EXPECT_TRUE(in_time.try_start(kStart + 1s - 1ns));
  ServerGuard late(kStart + 1s);
  EXPECT_FALSE(late.try_start(kStart + 1s));
  EXPECT_TRUE(late.may_say_not_executed());
}

TEST(ServerGuard, RefusesAgainBeforeTheCommit) {
  ServerGuard in_time(kStart + 1s);
  ASSERT_TRUE(in_time.try_start(kStart));
  EXPECT_TRUE(in_time.try_commit(kStart + 1s - 1ns));
  ServerGuard late(kStart + 1s);
  ASSERT_TRUE(late.try_start(kStart));
  EXPECT_FALSE(late.try_commit(kStart + 1s));
  EXPECT_TRUE(late.may_say_not_executed());
}

TEST(ServerGuard, NeverSaysNotExecutedWhileItMayBeOrOnceItIs) {
  ServerGuard guard(kStart + 1s);
  EXPECT_FALSE(guard.may_say_not_executed());
  ASSERT_TRUE(guard.try_start(kStart));
  EXPECT_FALSE(guard.may_say_not_executed());
  ASSERT_TRUE(guard.try_commit(kStart + 1s - 1ns));
  EXPECT_FALSE(guard.may_say_not_executed());
  EXPECT_EQ(guard.state(), ServerGuard::State::committed);
}

// C34 (c): one worker, two jobs of 40 s arrive together, the second with a limit of 50 s.
TEST(ServerGuard, ShedsOnArrivalWhatCannotBeFinishedInTime) {
  ServerGuard first(kStart + 50s);
  EXPECT_TRUE(first.try_admit(kStart + 40s));
  ServerGuard second(kStart + 50s);
  EXPECT_FALSE(second.try_admit(kStart + 80s));
  EXPECT_TRUE(second.may_say_not_executed());
  ServerGuard just(kStart + 50s);
  EXPECT_TRUE(just.try_admit(kStart + 50s - 1ns));
  ServerGuard barely(kStart + 50s);
  EXPECT_FALSE(barely.try_admit(kStart + 50s)) << "it could not commit then";
}

TEST(ServerGuard, RefusesNothingWhereNoDeadlineCame) {
  ServerGuard guard(std::nullopt);
  EXPECT_TRUE(guard.try_admit(Instant::max()));
  EXPECT_TRUE(guard.try_start(Instant::max()));
  EXPECT_TRUE(guard.try_commit(Instant::max()));
}

}  // namespace
}  // namespace overdue
