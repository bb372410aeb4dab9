#include "overdue/latency/redistribution.h"

#include <gtest/gtest.h>

namespace overdue {
namespace {

TEST(Redistribution, HandsTheWeightOfThoseWhoGaveUpToThoseStillWatched) {
  Redistribution calls(7);
  calls.reply(1);
  EXPECT_EQ(calls.still_open(), 6);
  calls.give_up(3);
  EXPECT_EQ(calls.weight(), 2);
  EXPECT_EQ(calls.watched(), 3U);
  EXPECT_EQ(calls.still_open(), 6) << "giving up is no reply";
  calls.reply(2);
  EXPECT_EQ(calls.still_open(), 2);
  calls.reply(1);
  EXPECT_EQ(calls.still_open(), 0);
}

TEST(Redistribution, StaysOpenWhereTheLastWatchedGaveUp) {
  Redistribution calls(10);
  calls.reply(5);
  calls.give_up(5);
  EXPECT_EQ(calls.watched(), 0U);
  EXPECT_EQ(calls.still_open(), 5);
  calls.give_up(0);
  EXPECT_EQ(calls.still_open(), 5);
}

}  // namespace
}  // namespace overdue
