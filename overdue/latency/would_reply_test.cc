#include "overdue/latency/would_reply.h"

#include <gtest/gtest.h>

#include "overdue/latency/histogram.h"
#include "overdue/latency/measurement.h"

namespace overdue {
namespace {

using namespace std::chrono_literals;

class WouldReplyTest : public ::testing::Test {
 protected:
  void add(std::size_t calls, Duration elapsed, Ending ending = Ending::replied) {
    Attempt row;
    row.elapsed = elapsed;
    row.ending = ending;
    measurement_.add(std::vector<Attempt>(calls, row), NameTable(), NameTable());
  }
  // Of a call given up at `at`.
  WouldReply::Chance chance(Duration at, Duration threshold) const {
    const EndingTable table = measurement_.table();
    const SurvivalCurve curve(table);
    const WouldReply would_reply(curve);
    return would_reply.chances(threshold).at(LatencyHistogram::bucket_of(at) - would_reply.first_bucket());
  }
  Measurement measurement_;
};

TEST_F(WouldReplyTest, IsNoneWhereNobodyGaveUpBeforeAReply) {
  add(10, 10ms);
  add(2, 100ms);
  add(3, 100ms, Ending::timed_out);
  add(3, 1s, Ending::abandoned);
  const EndingTable table = measurement_.table();
  const SurvivalCurve curve(table);
  EXPECT_TRUE(WouldReply(curve).is_none());
  EXPECT_TRUE(WouldReply(curve).chances(50ms).empty());
}

// Of 8 open at 50 ms the 4 that were watched on stand for two each. One replied at 60 ms; of three watched at
// 70 ms one left, and the two others replied at 100 ms.
TEST_F(WouldReplyTest, AsThoseDidThatWereWatchedOn) {
  add(10, 10ms);
  add(4, 50ms, Ending::abandoned);
  add(1, 60ms);
  add(1, 70ms, Ending::timed_out);
  add(2, 100ms);
  EXPECT_DOUBLE_EQ(chance(50ms, 80ms).replied, 1);
  EXPECT_DOUBLE_EQ(chance(50ms, 80ms).late, 0.75);
  EXPECT_DOUBLE_EQ(chance(70ms, 80ms).late, 1);
  EXPECT_DOUBLE_EQ(chance(50ms, 20ms).late, 1);
  EXPECT_NEAR(chance(50ms, 100ms).late, 0, 1e-15);
}

TEST_F(WouldReplyTest, WhoIsLostDoesNotReplyLaterEither) {
  add(10, 10ms);
  add(4, 50ms, Ending::timed_out);
  add(2, 100ms);
  add(2, 1s, Ending::timed_out);
  EXPECT_DOUBLE_EQ(chance(50ms, 80ms).replied, 0.5);
  EXPECT_DOUBLE_EQ(chance(50ms, 80ms).late, 0.5);
}

// 101 ms to 101.5 ms are one bucket. Of who gave up at its end all later replies are late.
TEST_F(WouldReplyTest, InTheThresholdsOwnBucketWhoGaveUpBeforeItAndAfterIsToldApart) {
  ASSERT_EQ(LatencyHistogram::bucket_of(101ms), LatencyHistogram::bucket_of(101ms + 500us));
  add(2, 101ms, Ending::timed_out);
  add(1, 101ms + 200us);
  add(2, 101ms + 500us, Ending::timed_out);
  add(2, 200ms);
  EXPECT_DOUBLE_EQ(chance(101ms, 101ms + 200us).late, (0.8 + 1) / 2);
  EXPECT_DOUBLE_EQ(chance(101ms, 101ms + 200us).replied, 1);
}

}  // namespace
}  // namespace overdue
