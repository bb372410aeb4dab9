#include "overdue/latency/counter_row.h"

#include <gtest/gtest.h>

namespace overdue {
namespace {

TEST(CounterRow, KeepsSixteenBitsOfEachCounterWhateverItsNeighboursHold) {
  CounterRow row;
  row.resize(3);
  row.set(0, 0xff);
  row.set(1, 0x100);  // The first that needs a high byte.
  row.set(2, 0x1'2345);
  EXPECT_EQ(row[0], 0xffU);
  EXPECT_EQ(row[1], 0x100U);
  EXPECT_EQ(row[2], 0x2345U);
  row.set(1, 7);
  EXPECT_EQ(row[1], 7U);
}

TEST(CounterRow, NewCountersAreZeroWithAndWithoutHighBytes) {
  CounterRow row;
  row.resize(1);
  row.resize(2);
  EXPECT_EQ(row[1], 0U);
  row.set(0, 0x300);
  row.resize(4);
  EXPECT_EQ(row[0], 0x300U);
  EXPECT_EQ(row[3], 0U);
  row.set(3, 0x4ff);
  EXPECT_EQ(row[3], 0x4ffU);
}

TEST(CounterRow, ALowByteIsCountedUpInPlace) {
  CounterRow row;
  row.resize(2);
  row.set(1, 0x1fe);
  ++*row.low(1);
  EXPECT_EQ(row[1], 0x1ffU);
  EXPECT_EQ(*row.low(1), CounterRow::kLowMax);
  EXPECT_EQ(row[0], 0U);
}

}  // namespace
}  // namespace overdue
