#include "overdue/latency/time_grid.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <map>
#include <tuple>
#include <vector>

namespace overdue {
namespace {

using namespace std::chrono_literals;

constexpr WallTime at(Duration since_1970) { return WallTime(since_1970); }

// A grid as what it says, whatever room its counts happen to have: (series, first of block, bucket) -> count.
using Cells = std::map<std::tuple<std::uint32_t, std::int64_t, std::uint32_t>, std::uint64_t>;
Cells cells_of(const TimeGrid& grid) {
  Cells cells;
  for (std::uint32_t series = 0; series < grid.series_count(); ++series) {
    for (std::uint32_t block = 0; block < grid.block_count(); ++block) {
      const BucketCounts& counts = grid.at(series, block);
      // A block may begin where no WallTime is left to say so.
      std::int64_t start = 0;
      __builtin_mul_overflow(static_cast<std::int64_t>(block), grid.block_length().count(), &start);
      __builtin_add_overflow(grid.first_block_start().time_since_epoch().count(), start, &start);
      for (std::uint32_t bucket = counts.first(); bucket < counts.first() + counts.size(); ++bucket) {
        if (counts.count_at(bucket) > 0) cells[{series, start, bucket}] = counts.count_at(bucket);
      }
    }
  }
  return cells;
}

TEST(TimeGrid, BlocksStartAtWholeMultiplesOfTheirLengthToTheNanosecond) {
  TimeGrid grid({.block_length_min = 10s, .blocks_max = 4});
  grid.add(0, at(29'999'999'999ns), 5);
  grid.add(0, at(30s), 6);
  EXPECT_EQ(grid.block_length(), 10s);
  EXPECT_EQ(grid.first_block_start(), at(20s));
  ASSERT_EQ(grid.block_count(), 2U);
  EXPECT_EQ(grid.at(0, 0).count_at(5), 1U);
  EXPECT_EQ(grid.at(0, 0).count_at(6), 0U);
  EXPECT_EQ(grid.at(0, 1).count_at(6), 1U);
}

TEST(TimeGrid, DoublesTheLengthWhenABlockTooManyIsNeeded) {
  TimeGrid grid({.block_length_min = 10s, .blocks_max = 4});
  grid.add(0, at(15s), 1);
  grid.add(0, at(49s), 2);
  EXPECT_EQ(grid.block_length(), 10s);
  grid.add(0, at(50s), 3);  // Blocks 1 to 5 are five; of twice the length 0 to 2.
  EXPECT_EQ(grid.block_length(), 20s);
  EXPECT_EQ(grid.first_block_start(), at(0s));
  ASSERT_EQ(grid.block_count(), 3U);
  EXPECT_EQ(grid.at(0, 0).count_at(1), 1U);
  EXPECT_EQ(grid.at(0, 1).total(), 0U);
  EXPECT_EQ(grid.at(0, 2).count_at(2), 1U);
  EXPECT_EQ(grid.at(0, 2).count_at(3), 1U);
}

TEST(TimeGrid, TakesTimesBeforeItsFirstBlockAndBefore1970) {
  TimeGrid grid({.block_length_min = 1s, .blocks_max = 8});
  grid.add(0, at(1s), 1);
  grid.add(0, at(-1ns), 2);
  grid.add(0, at(-3s), 3);
  EXPECT_EQ(grid.first_block_start(), at(-3s));
  ASSERT_EQ(grid.block_count(), 5U);
  EXPECT_EQ(grid.at(0, 0).count_at(3), 1U);
  EXPECT_EQ(grid.at(0, 2).count_at(2), 1U);
  EXPECT_EQ(grid.at(0, 4).count_at(1), 1U);
}

TEST(TimeGrid, ATimeCenturiesAwayCostsLengthAndNotMemory) {
  for (const WallTime bogus :
       {WallTime::min(), WallTime::max(), at(-std::chrono::years(140)), at(std::chrono::years(140))}) {
    for (const std::uint32_t blocks_max : {2U, 3U, 256U}) {
      TimeGrid grid({.block_length_min = 1ms, .blocks_max = blocks_max});
      grid.add(0, at(1'790'000'000s), 1);
      grid.add(0, bogus, 2);
      grid.add(0, at(1'790'000'000s), 3);
      EXPECT_LE(grid.block_count(), blocks_max);
      std::uint64_t total = 0;
      for (std::uint32_t block = 0; block < grid.block_count(); ++block) total += grid.at(0, block).total();
      EXPECT_EQ(total, 3U);
    }
  }
}

TEST(TimeGrid, SeriesNeverSeenAreEmpty) {
  TimeGrid grid({.block_length_min = 1s});
  EXPECT_TRUE(grid.empty());
  grid.add(7, at(5s), 1);
  EXPECT_FALSE(grid.empty());
  EXPECT_EQ(grid.series_count(), 8U);
  EXPECT_TRUE(grid.at(3, 0).empty());
  EXPECT_TRUE(grid.at(100, 0).empty());
  EXPECT_EQ(grid.at(7, 0).count_at(1), 1U);
}

TEST(TimeGrid, CoarserBucketsAreNeighboursOfTheFineOnes) {
  TimeGrid grid({.block_length_min = 1s, .blocks_max = 4, .bucket_shift = 2});
  for (std::uint32_t bucket = 400; bucket < 404; ++bucket) grid.add(0, at(1s), bucket);
  EXPECT_EQ(grid.at(0, 0).count_at(100), 4U);
}

struct Fall {
  std::uint32_t series;
  std::int64_t ns;
  std::uint32_t bucket;
};

std::vector<Fall> some_falls() {
  const auto one = rc::gen::apply(
      [](std::uint32_t series, int bits, std::int64_t ns, std::uint32_t bucket) {
        return Fall{series, bits == 40 ? ns : ns % (std::int64_t{1} << bits), bucket};
      },
      rc::gen::inRange<std::uint32_t>(0, 3), rc::gen::inRange(20, 41), rc::gen::arbitrary<std::int64_t>(),
      rc::gen::inRange<std::uint32_t>(0, 2700));
  return *rc::gen::container<std::vector<Fall>>(one);
}

RC_GTEST_PROP(TimeGrid, AnyOrderAnySplitAndAnyLimitOnTheWayGiveTheSame, ()) {
  const std::vector<Fall> falls = some_falls();
  const TimeGrid::Options options{.block_length_min = 7us, .blocks_max = 16};
  TimeGrid in_order(options);
  for (const Fall& fall : falls) in_order.add(fall.series, at(Duration(fall.ns)), fall.bucket);

  std::vector<TimeGrid> parts(3, TimeGrid(options));
  parts[1].limit_blocks(16);
  for (auto fall = falls.rbegin(); fall != falls.rend(); ++fall) {
    parts[*rc::gen::inRange<std::size_t>(0, 3)].add(fall->series, at(Duration(fall->ns)), fall->bucket);
  }
  TimeGrid merged(options);
  for (const TimeGrid& part : parts) merged.merge(part, {0, 1, 2});
  RC_ASSERT(cells_of(merged) == cells_of(in_order));
  RC_ASSERT(merged.block_length() == in_order.block_length());
  RC_ASSERT(merged.block_count() <= 16U);

  TimeGrid limited(options);
  limited.limit_blocks(4);
  for (const Fall& fall : falls) limited.add(fall.series, at(Duration(fall.ns)), fall.bucket);
  in_order.limit_blocks(4);
  RC_ASSERT(cells_of(limited) == cells_of(in_order));
}

RC_GTEST_PROP(TimeGrid, ExpectingWhatComesChangesNothing, ()) {
  const std::vector<Fall> falls = some_falls();
  RC_PRE(!falls.empty());
  const TimeGrid::Options options{.block_length_min = 7us, .blocks_max = 16};
  const auto one_of_them = [&] {
    return at(Duration(falls[*rc::gen::inRange<std::size_t>(0, falls.size())].ns));
  };
  TimeGrid surprised(options);
  TimeGrid ready(options);
  ready.expect({one_of_them(), one_of_them()});
  RC_ASSERT(ready.empty());
  for (const Fall& fall : falls) {
    surprised.add(fall.series, at(Duration(fall.ns)), fall.bucket);
    ready.add(fall.series, at(Duration(fall.ns)), fall.bucket);
  }
  RC_ASSERT(cells_of(ready) == cells_of(surprised));
  RC_ASSERT(ready.block_length() == surprised.block_length());
  RC_ASSERT(ready.block_count() == surprised.block_count());
}

TEST(TimeGrid, HasTheLengthItWillNeedWhereThatIsExpected) {
  TimeGrid grid({.block_length_min = 10s, .blocks_max = 4});
  grid.expect({at(15s), at(50s)});
  grid.add(0, at(15s), 1);
  EXPECT_EQ(grid.block_length(), 20s);
  EXPECT_EQ(grid.block_count(), 1U);
}

RC_GTEST_PROP(TimeGrid, EveryCallLiesInTheBlockOfItsTime, ()) {
  const std::vector<Fall> falls = some_falls();
  TimeGrid grid({.block_length_min = 7us, .blocks_max = 16});
  for (const Fall& fall : falls) grid.add(fall.series, at(Duration(fall.ns)), fall.bucket);
  constexpr std::int64_t kFar = (std::int64_t{1} << 62) - 1;  // Counts as just that far.
  Cells expected;
  for (const Fall& fall : falls) {
    const std::int64_t ns = std::clamp(fall.ns, -kFar - 1, kFar);
    const std::int64_t length = grid.block_length().count();
    const std::int64_t start = (ns / length - (ns % length < 0 ? 1 : 0)) * length;
    ++expected[{fall.series, start, fall.bucket}];
  }
  RC_ASSERT(cells_of(grid) == expected);
}

TimeGrid::TimeSpan span_of(std::span<const WallTime> times) {
  return {std::ranges::min(times), std::ranges::max(times)};
}

TEST(TimeGrid, ManyAtOnceAreTheSameAsOneByOne) {
  const TimeGrid::Options options{.block_length_min = 1ms, .blocks_max = 8};
  TimeGrid one_by_one(options);
  TimeGrid at_once(options);
  TimeGrid one_series(options);
  TimeGrid one_series_at_once(options);
  std::vector<std::uint16_t> series;
  std::vector<WallTime> times;
  std::vector<std::uint16_t> buckets;
  for (int call = 0; call < 2000; ++call) {
    series.push_back(static_cast<std::uint16_t>(call % 3));
    times.push_back(at(5s + call * 40us - (call % 7) * 3ms));
    buckets.push_back(static_cast<std::uint16_t>((call * call) % 2000));
    one_by_one.add(series.back(), times.back(), buckets.back());
    one_series.add(2, times.back(), buckets.back());
  }
  // As many at once as lie in several blocks, and in one.
  for (std::size_t begin = 0, size = 1; begin < times.size(); begin += size, size = size % 300 * 2 + 1) {
    const std::size_t count = std::min(size, times.size() - begin);
    const auto some = [=](const auto& all) { return std::span(all).subspan(begin, count); };
    const TimeGrid::TimeSpan span = span_of(some(times));
    at_once.add(some(std::as_const(series)), some(std::as_const(times)), span, some(std::as_const(buckets)));
    one_series_at_once.add(2, some(std::as_const(times)), span, some(std::as_const(buckets)));
  }
  EXPECT_EQ(cells_of(at_once), cells_of(one_by_one));
  EXPECT_EQ(cells_of(one_series_at_once), cells_of(one_series));
}

TEST(TimeGrid, CountsOneByOnePastEveryWidthAndBackInAnEarlierBlock) {
  const std::vector<WallTime> late(140'000, WallTime(std::chrono::seconds(2)));
  const std::vector<std::uint16_t> buckets(late.size(), 700);
  TimeGrid grid({.block_length_min = std::chrono::seconds(1)});
  grid.add(0, late, span_of(late), buckets);
  grid.add(0, WallTime(std::chrono::seconds(1)), 700);
  grid.add(0, late, span_of(late), buckets);
  ASSERT_EQ(grid.block_count(), 2U);
  EXPECT_EQ(grid.at(0, 0).count_at(700), 1U);
  EXPECT_EQ(grid.at(0, 1).count_at(700), 280'000U);
}

}  // namespace
}  // namespace overdue
