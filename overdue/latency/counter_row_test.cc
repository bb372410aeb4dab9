#include "overdue/latency/counter_row.h"

#include <gtest/gtest.h>

#include <vector>

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

TEST(CounterRow, SumsAnyStretchOfItWithItsHighBytes) {
  CounterRow row;
  row.resize(20);
  for (std::size_t at = 0; at < 20; ++at) row.set(at, at * 100);  // From the third on, high bytes.
  for (std::size_t from = 0; from <= 20; ++from) {
    std::uint64_t sum = 0;
    for (std::size_t to = from; to <= 20; ++to) {
      EXPECT_EQ(row.sum(from, to), sum) << from << " to " << to;
      sum += to * 100;
    }
  }
}

TEST(CounterRow, IsBroughtIntoAnotherOrderWithZerosForWhatItDoesNotHave) {
  CounterRow row;
  row.resize(2);
  row.set(0, 5);
  row.set(1, 0x500);
  const std::vector<std::uint32_t> order = {1, 2, 0};
  const CounterRow other = row.in_order(order);
  ASSERT_EQ(other.size(), 3U);
  EXPECT_EQ(other[0], 0x500U);
  EXPECT_EQ(other[1], 0U);
  EXPECT_EQ(other[2], 5U);
  std::vector<std::uint32_t> sums = {1, 1, 1};
  other.add_to(sums);
  EXPECT_EQ(sums, (std::vector<std::uint32_t>{0x501, 1, 6}));
}

TEST(CounterRow, AddsEachOfManyCountersToItsOwnSum) {
  constexpr std::size_t kCounters = 150;  // Some at a time, and a rest.
  CounterRow row;
  row.resize(kCounters);
  for (std::size_t at = 0; at < kCounters; ++at) row.set(at, at * 7);
  std::vector<std::uint32_t> sums(kCounters + 1, 1000);
  row.add_to(sums);
  for (std::size_t at = 0; at < kCounters; ++at) EXPECT_EQ(sums[at], 1000 + at * 7) << at;
  EXPECT_EQ(sums[kCounters], 1000U);
}

}  // namespace
}  // namespace overdue
