#include "overdue/latency/later_than.h"

#include <gtest/gtest.h>

#include "overdue/latency/histogram.h"

namespace overdue {
namespace {

using namespace std::chrono_literals;

EndingRow row_at(Duration at, std::uint64_t replied, std::uint64_t timed_out = 0) {
  EndingRow row{.low = at, .mid = at, .high = at};
  row.replied = replied;
  row.timed_out = timed_out;
  return row;
}

// The first of a bucket that is 4 ms wide.
constexpr Duration kLow = LatencyHistogram::low_of(LatencyHistogram::bucket_of(502ms));

const EndingTable kTable = {row_at(400ms, 100), row_at(kLow, 3), row_at(kLow + 1ms, 2),
                            row_at(kLow + 3ms, 3, 8), row_at(600ms, 5)};

BucketCounts counts_of(std::initializer_list<std::pair<Duration, std::uint64_t>> entries,
                       unsigned shift = 0) {
  BucketCounts counts;
  for (const auto& [at, count] : entries) counts.add(LatencyHistogram::bucket_of(at) >> shift, count);
  return counts;
}

TEST(LaterThan, TakesOfTheThresholdsOwnBucketTheShareThatIsLaterInTheWholeLog) {
  ASSERT_EQ(LatencyHistogram::bucket_of(kLow), LatencyHistogram::bucket_of(kLow + 3ms));
  const LaterThan later(kLow + 1ms, kTable, LaterThan::Of::replies);
  const LaterThan::Count count = later.in(counts_of({{400ms, 50}, {kLow + 2ms, 4}, {600ms, 2}}));
  EXPECT_DOUBLE_EQ(count.expected, 2 + 4 * 3.0 / 8);
  EXPECT_DOUBLE_EQ(count.spread, 4 * 3.0 / 8 * 5 / 8);
  const LaterThan of_all(kLow + 1ms, kTable, LaterThan::Of::all_calls);
  EXPECT_DOUBLE_EQ(of_all.in(counts_of({{kLow + 2ms, 16}})).expected, 11);
}

TEST(LaterThan, CountsExactlyWhereNoneOfItsBucketIsLater) {
  for (const Duration threshold : {kLow + 3ms, kLow + 4ms}) {
    const LaterThan::Count none =
        LaterThan(threshold, kTable, LaterThan::Of::replies).in(counts_of({{kLow + 2ms, 4}, {600ms, 2}}));
    EXPECT_EQ(none.expected, 2);
    EXPECT_EQ(none.spread, 0);
  }
}

TEST(LaterThan, KnowsBucketsThatWereTakenTogether) {
  const LaterThan later(kLow + 1ms, kTable, LaterThan::Of::replies, 2);
  EXPECT_DOUBLE_EQ(later.in(counts_of({{kLow + 2ms, 8}, {600ms, 1}}, 2)).expected, 1 + 3);
}

TEST(LaterThan, WhereTheLogItselfIsInBucketsNothingOfThePointsBucketIsLater) {
  const std::uint32_t bucket = LatencyHistogram::bucket_of(kLow);
  EndingRow row{.low = LatencyHistogram::low_of(bucket),
                .mid = LatencyHistogram::middle_of(bucket),
                .high = LatencyHistogram::high_of(bucket)};
  row.replied = 7;
  const LaterThan later(row.mid, {row}, LaterThan::Of::replies);
  EXPECT_EQ(later.in(counts_of({{kLow + 2ms, 7}, {600ms, 1}})).expected, 1);
}

}  // namespace
}  // namespace overdue
