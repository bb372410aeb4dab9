#include "overdue/latency/seen_past.h"

#include <gtest/gtest.h>

#include "overdue/latency/measurement.h"

namespace overdue {
namespace {

using namespace std::chrono_literals;

class SeenPastTest : public ::testing::Test {
 protected:
  void add(int calls, Duration elapsed, Ending ending = Ending::replied, Duration after = 0s) {
    Attempt row;
    row.start = WallTime(1'700'000'000s) + after;
    row.has_start = true;
    row.elapsed = elapsed;
    row.ending = ending;
    measurement_.add(std::vector<Attempt>(static_cast<std::size_t>(calls), row), NameTable(), NameTable());
  }
  SeenPast::Count count(Duration threshold, std::uint32_t block = 0) {
    const EndingTable table = measurement_.table();
    return SeenPast(threshold, table).in(measurement_.blocks(), block, {0});
  }
  bool everybody(Duration threshold) {
    const EndingTable table = measurement_.table();
    return SeenPast(threshold, table).everybody();
  }
  Measurement measurement_;
};

TEST_F(SeenPastTest, EverybodyCountsWhereNobodyGaveUpBeforeTheThreshold) {
  add(10, 10ms);
  add(2, 20ms, Ending::reset);
  add(3, 80ms, Ending::timed_out);
  add(5, 100ms);
  EXPECT_TRUE(everybody(80ms));
  EXPECT_EQ(count(80ms).calls, 20);
  EXPECT_FALSE(everybody(80ms + 1ns));
}

TEST_F(SeenPastTest, NobodyCountsWhereAllWhoReachedTheLimitGaveUpThere) {
  add(1000, 10ms);
  add(7, 50ms, Ending::timed_out);
  EXPECT_EQ(count(80ms).calls, 0);
  EXPECT_EQ(count(80ms).all_calls, 1007U);
}

// Of four calls watched at 50 ms, after the reset, two gave up: G falls to a half. Of the two left, two
// thirds of what replied between stay when one of three gives up at 70 ms.
TEST_F(SeenPastTest, WhoEndedEarlyCountsWithTheChanceOfBeingWatchedSoLong) {
  add(10, 10ms);
  add(4, 20ms, Ending::reset);
  add(4, 50ms, Ending::abandoned);
  add(1, 60ms);
  add(1, 70ms, Ending::timed_out);
  add(2, 100ms);
  EXPECT_DOUBLE_EQ(count(80ms).calls, ((10 + 4) * 0.5 + 1) * 2 / 3 + 2);
}

// Under a limit of 50 ms every second block has nobody who reaches it.
TEST_F(SeenPastTest, ABlockWhereNobodyReachesTheLimitIsToldByItsNeighbours) {
  for (int hour = 0; hour < 20; ++hour) {
    add(100, 10ms, Ending::replied, hour * 1h);
    if (hour < 16 && hour % 2 == 1) add(2, 50ms, Ending::timed_out, hour * 1h);
    if (hour >= 16) add(6, 200ms, Ending::replied, hour * 1h);
  }
  const TimeGrid& blocks = measurement_.blocks();
  const auto hours = [&](int hour) {
    return static_cast<std::uint32_t>((WallTime(1'700'000'000s) + hour * 1h - blocks.first_block_start()) /
                                      blocks.block_length());
  };
  for (int hour = 0; hour < 10; ++hour) EXPECT_EQ(count(80ms, hours(hour)).calls, 0) << hour;
  for (int hour = 16; hour < 20; ++hour) EXPECT_EQ(count(80ms, hours(hour)).calls, 106) << hour;
}

// 101 ms and 101.5 ms share a bucket, which cannot say which of its endings were first: the table can.
TEST_F(SeenPastTest, TheThresholdsOwnBucketIsSharedOutAsInTheWholeLog) {
  ASSERT_EQ(LatencyHistogram::bucket_of(101ms), LatencyHistogram::bucket_of(101ms + 500us));
  add(90, 10ms);
  add(5, 101ms, Ending::timed_out);
  add(5, 101ms + 500us);
  EXPECT_EQ(count(101ms).calls, 100);
  EXPECT_DOUBLE_EQ(count(101ms + 200us).calls, 90 * 0.5 + 5);
}

}  // namespace
}  // namespace overdue
