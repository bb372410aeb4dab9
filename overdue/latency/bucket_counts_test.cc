#include "overdue/latency/bucket_counts.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <map>
#include <vector>

#include "overdue/base/random.h"

namespace overdue {
namespace {

TEST(BucketCounts, WidensItsCountersAndNeverWraps) {
  for (const std::uint64_t limit : {0xffULL, 0xffffULL, 0xffff'ffffULL}) {
    BucketCounts counts;
    counts.add(100, limit);
    counts.add(101, 7);
    counts.add(100);
    EXPECT_EQ(counts.count_at(100), limit + 1);
    EXPECT_EQ(counts.count_at(101), 7U);
    EXPECT_EQ(counts.total(), limit + 8);
  }
  BucketCounts counts;
  counts.add(3, ~std::uint64_t{0});
  counts.add(3);
  EXPECT_EQ(counts.count_at(3), ~std::uint64_t{0});
  EXPECT_EQ(counts.counts()[3 - counts.first()], 0xffff'ffffU);
}

TEST(BucketCounts, CountsFromABucketUp) {
  BucketCounts counts;
  counts.add(500, 2);
  counts.add(10, 3);
  counts.add(501, 4);
  EXPECT_EQ(counts.count_from(0), 9U);
  EXPECT_EQ(counts.count_from(11), 6U);
  EXPECT_EQ(counts.count_from(500), 6U);
  EXPECT_EQ(counts.count_from(501), 4U);
  EXPECT_EQ(counts.count_from(502), 0U);
  EXPECT_EQ(counts.count_from(5000), 0U);
}

TEST(BucketCounts, FindsTheBucketOfEveryRankInCountersOfEveryWidth) {
  for (const std::uint64_t more : {0ULL, 0x100ULL, 0x1'0000ULL}) {
    BucketCounts counts;
    std::vector<std::uint32_t> bucket_of(1);  // By rank, from 1.
    Random random(7);
    for (std::uint32_t bucket = 3; bucket < 400; bucket += 1 + static_cast<std::uint32_t>(random.below(40))) {
      const std::uint64_t count = 1 + random.below(4) + (bucket > 200 && bucket < 220 ? more : 0);
      counts.add(bucket, count);
      bucket_of.insert(bucket_of.end(), count, bucket);
    }
    for (std::size_t rank = 1; rank < bucket_of.size(); ++rank)
      EXPECT_EQ(counts.bucket_of_rank(rank), bucket_of[rank]) << rank;
  }
}

TEST(BucketCounts, CountsFullCountersFromEveryBucketUp) {
  BucketCounts counts;
  for (std::uint32_t bucket = 64; bucket < 192; ++bucket) counts.add(bucket, 0xff);
  for (std::uint32_t bucket = 0; bucket <= 256; ++bucket) {
    const std::uint32_t left = bucket >= 192 ? 0 : 192 - std::max(bucket, 64U);
    EXPECT_EQ(counts.count_from(bucket), left * std::uint64_t{0xff}) << bucket;
  }
}

RC_GTEST_PROP(BucketCounts, MergeAddsEveryCount, ()) {
  const auto some = [] {
    return *rc::gen::container<std::vector<std::pair<std::uint32_t, std::uint32_t>>>(
        rc::gen::pair(rc::gen::inRange<std::uint32_t>(0, 700),
                      rc::gen::element<std::uint32_t>(1, 100, 200, 255, 256, 70'000)));
  };
  std::map<std::uint32_t, std::uint64_t> expected;
  BucketCounts first;
  BucketCounts second;
  for (const auto& [bucket, count] : some()) first.add(bucket, count), expected[bucket] += count;
  for (const auto& [bucket, count] : some()) second.add(bucket, count), expected[bucket] += count;
  first.merge(second);
  for (std::uint32_t bucket = 0; bucket < 700; ++bucket) {
    RC_ASSERT(first.count_at(bucket) == (expected.contains(bucket) ? expected[bucket] : 0));
  }
}

TEST(BucketCounts, MergesCountersOfEveryWidthIntoEveryOther) {
  const std::uint64_t sizes[] = {1, 200, 0xffff, 0x1'0000, 0xffff'ffff, 0x1'0000'0000, ~std::uint64_t{0} - 3};
  for (const std::uint64_t own : sizes) {
    for (const std::uint64_t theirs : sizes) {
      BucketCounts left;
      left.add(100, own);
      left.add(130, 7);
      BucketCounts right;
      right.add(40, 3);
      right.add(100, theirs);
      right.add(900, 9);
      left.merge(right);
      const std::uint64_t sum = own > ~theirs ? ~std::uint64_t{0} : own + theirs;
      EXPECT_EQ(left.count_at(100), sum) << own << " and " << theirs;
      EXPECT_EQ(left.count_at(40), 3U);
      EXPECT_EQ(left.count_at(130), 7U);
      EXPECT_EQ(left.count_at(900), 9U);
      EXPECT_EQ(left.count_at(101), 0U);
      EXPECT_EQ(left.count_from(131), 9U);
      EXPECT_EQ(left.total(), sum > ~std::uint64_t{0} - 19 ? ~std::uint64_t{0} : sum + 19);
    }
  }
}

TEST(BucketCounts, AddsItsCountsToSumsWhateverTheirWidth) {
  for (const std::uint64_t most : {0xffULL, 0xffffULL, 0xffff'ffffULL, 0x1'0000'0000ULL}) {
    BucketCounts counts;
    counts.add(70, most);
    counts.add(200, 3);
    std::vector<std::uint64_t> sums(counts.first() + counts.size(), 1);
    counts.add_to(sums);
    EXPECT_EQ(sums[70], most + 1);
    EXPECT_EQ(sums[200], 4U);
    EXPECT_EQ(sums[71], 1U);
  }
}

}  // namespace
}  // namespace overdue
