#include "overdue/latency/seen_past.h"

#include <gtest/gtest.h>

#include "overdue/latency/measurement.h"

namespace overdue {
namespace {

using namespace std::chrono_literals;

class SeenPastTest : public ::testing::Test {
 protected:
  void add(int calls, Duration elapsed, Ending ending = Ending::replied) {
    Attempt row;
    row.start = WallTime(1'700'000'000s);
    row.has_start = true;
    row.elapsed = elapsed;
    row.ending = ending;
    measurement_.add(std::vector<Attempt>(static_cast<std::size_t>(calls), row), NameTable(), NameTable());
  }
  SeenPast::Count count(Duration threshold) {
    const EndingTable table = measurement_.table();
    return SeenPast(threshold, GiveUps(table)).in(measurement_.blocks(), 0, {0});
  }
  bool everybody(Duration threshold) {
    const EndingTable table = measurement_.table();
    return SeenPast(threshold, GiveUps(table)).everybody();
  }
  Measurement measurement_;
};

TEST_F(SeenPastTest, EverybodyCountsWhereNobodyGaveUpBeforeTheThreshold) {
  add(10, 10ms);
  add(2, 20ms, Ending::reset);
  add(3, 80ms, Ending::timed_out);
  add(5, 100ms);
  EXPECT_TRUE(everybody(80ms));
  EXPECT_EQ(count(80ms).early_replies, 10);
  EXPECT_EQ(count(80ms).calls, 20);
  EXPECT_FALSE(everybody(80ms + 1ns));
}

TEST_F(SeenPastTest, NobodyCountsWhereAllWhoReachedTheLimitGaveUpThere) {
  add(1000, 10ms);
  add(7, 50ms, Ending::timed_out);
  EXPECT_EQ(count(80ms).early_replies, 0);
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
  EXPECT_DOUBLE_EQ(count(80ms).early_replies, (10 * 0.5 + 1) * 2 / 3);
  EXPECT_DOUBLE_EQ(count(80ms).calls, ((10 + 4) * 0.5 + 1) * 2 / 3 + 2);
}

// The log's replies later than 80 ms: one at 100, one at 200 ms. A third of those watched gave up between.
TEST_F(SeenPastTest, OfLaterRepliesTheShareIsKnownThatCouldBeSeen) {
  add(10, 10ms);
  add(1, 100ms);
  add(1, 150ms, Ending::timed_out);
  add(2, 200ms);
  add(4, 1s, Ending::timed_out);
  // In the curve 1 of 18 reply at 100 ms and 2 of 18 times 7/6 at 200 ms; of the block's own 6/7 stayed.
  EXPECT_TRUE(everybody(80ms));
  EXPECT_DOUBLE_EQ(count(80ms).seen_share, (1 + 2.0 * 7 / 6 * 6 / 7) / (1 + 2.0 * 7 / 6));
  EXPECT_EQ(count(80ms).early_replies, 10);
  EXPECT_EQ(count(80ms).calls, 18);
  EXPECT_EQ(count(160ms).seen_share, 1.0);
}

// Of two in one bucket only one is later than the other. Of three still watched at 150 ms two gave up: who
// replied at 200 ms stands for three in the log's curve, and was seen with a chance of a third.
TEST_F(SeenPastTest, OfItsOwnBucketOnlyWhatIsLaterIsALaterReply) {
  add(10, 10ms);
  add(1, 101ms);
  add(1, 101'500us);
  add(2, 150ms, Ending::timed_out);
  add(1, 200ms);
  EXPECT_DOUBLE_EQ(count(101ms).seen_share, (1 + 1.0) / (1 + 3));
}

// 101 ms and 101.5 ms share a bucket, which cannot say which of its endings were first: the table can.
TEST_F(SeenPastTest, TheThresholdsOwnBucketIsSharedOutAsInTheWholeLog) {
  ASSERT_EQ(LatencyHistogram::bucket_of(101ms), LatencyHistogram::bucket_of(101ms + 500us));
  add(90, 10ms);
  add(5, 101ms, Ending::timed_out);
  add(5, 101ms + 500us);
  EXPECT_EQ(count(101ms).early_replies, 90);
  EXPECT_DOUBLE_EQ(count(101ms + 200us).early_replies, 45);
}

}  // namespace
}  // namespace overdue
