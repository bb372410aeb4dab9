#include "overdue/latency/histogram.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <fstream>
#include <sstream>
#include <vector>

#include "overdue/base/random.h"

namespace overdue {
namespace {

using namespace std::chrono_literals;
using Histogram = LatencyHistogram;

constexpr std::uint64_t kCountMax = std::numeric_limits<std::uint64_t>::max();

// Evenly spread over the octaves, so that no size of latency is left out.
Duration some_latency() {
  const int bits = *rc::gen::inRange(0, 63);
  return Duration(
      static_cast<std::int64_t>(*rc::gen::arbitrary<std::uint64_t>() & ((std::uint64_t{1} << bits) - 1)));
}

Histogram some_histogram() {
  Histogram histogram;
  const int values = *rc::gen::inRange(0, 20);
  for (int value = 0; value < values; ++value)
    histogram.add(some_latency(), *rc::gen::inRange<std::uint64_t>(1, 1000));
  return histogram;
}

TEST(LatencyHistogram, BucketsFollowOneAnotherWithoutGapOrOverlap) {
  for (std::uint32_t bucket = 0; bucket < Histogram::kBucketCount; ++bucket) {
    ASSERT_EQ(Histogram::bucket_of(Histogram::low_of(bucket)), bucket);
    ASSERT_EQ(Histogram::bucket_of(Histogram::high_of(bucket)), bucket);
    ASSERT_EQ(Histogram::low_of(bucket + 1), Histogram::high_of(bucket) + 1ns);
  }
  EXPECT_EQ(Histogram::low_of(0), 0ns);
  EXPECT_EQ(Histogram::high_of(Histogram::kBucketCount - 1).count(), (std::int64_t{1} << 48) - 1);
}

TEST(LatencyHistogram, HasSixtyFourBucketsAnOctave) {
  EXPECT_EQ(Histogram::bucket_of(2us) - Histogram::bucket_of(1us), 64U);
  EXPECT_EQ(Histogram::bucket_of(2048ms) - Histogram::bucket_of(1024ms), 64U);
  EXPECT_EQ(Histogram::bucket_of(127ns), 127U);
  EXPECT_EQ(Histogram::bucket_of(128ns), 128U);
  EXPECT_EQ(Histogram::bucket_of(129ns), 128U);
  EXPECT_EQ(Histogram::bucket_of(130ns), 129U);
}

TEST(LatencyHistogram, CountsWhatIsLongerThanItsLastBucketThereAndKeepsTheMaximumExact) {
  Histogram histogram;
  histogram.add(Duration::max());
  histogram.add(Duration(std::int64_t{1} << 48));
  EXPECT_EQ(histogram.count_at(Histogram::kBucketCount - 1), 2U);
  EXPECT_EQ(histogram.max(), Duration::max());
  EXPECT_EQ(histogram.min(), Duration(std::int64_t{1} << 48));
}

TEST(LatencyHistogram, MidpointsAreWithinOneIn129OfBothEndsOfEveryBucket) {
  for (std::uint32_t bucket = 0; bucket < Histogram::kBucketCount; ++bucket) {
    const std::int64_t middle = Histogram::middle_of(bucket).count();
    const std::int64_t low = Histogram::low_of(bucket).count();
    const std::int64_t high = Histogram::high_of(bucket).count();
    ASSERT_LE(129 * (middle - low), low) << bucket;
    ASSERT_LE(129 * (high - middle), high) << bucket;
  }
}

RC_GTEST_PROP(LatencyHistogram, QuantilesAreWithinOneIn129OfTheValueAtTheirRank, ()) {
  std::vector<Duration> values;
  Histogram histogram;
  const int count = *rc::gen::inRange(1, 60);
  for (int value = 0; value < count; ++value) {
    values.push_back(std::min(some_latency(), Duration((std::int64_t{1} << 48) - 1)));
    histogram.add(values.back());
  }
  std::ranges::sort(values);
  const Quantile q(static_cast<double>(*rc::gen::inRange(0, 10'001)) / 10'000.0);
  const Duration truth = values[rank_of(q, values.size()) - 1];
  RC_ASSERT(histogram.bucket_at(q) == Histogram::bucket_of(truth));
  RC_ASSERT(std::abs((histogram.value_at(q) - truth).count()) * 129 <= truth.count());
}

RC_GTEST_PROP(LatencyHistogram, KeepsItsLeastAndGreatestLatencyExactly, ()) {
  Histogram histogram;
  std::vector<Duration> values;
  const int count = *rc::gen::inRange(1, 40);
  for (int value = 0; value < count; ++value) {
    values.push_back(some_latency());
    histogram.add(values.back());
  }
  RC_ASSERT(histogram.min() == *std::ranges::min_element(values));
  RC_ASSERT(histogram.max() == *std::ranges::max_element(values));
  RC_ASSERT(histogram.count() == values.size());
}

RC_GTEST_PROP(LatencyHistogram, MergesInAnyOrderToTheSame, ()) {
  const Histogram first = some_histogram();
  const Histogram second = some_histogram();
  Histogram forward = first;
  forward.merge(second);
  Histogram backward = second;
  backward.merge(first);
  RC_ASSERT(forward == backward);
  RC_ASSERT(forward.count() == first.count() + second.count());
  for (std::uint32_t bucket = 0; bucket < Histogram::kBucketCount; bucket += 7) {
    RC_ASSERT(forward.count_at(bucket) == first.count_at(bucket) + second.count_at(bucket));
  }
}

TEST(LatencyHistogram, AddingNoneOfALatencyChangesNothing) {
  Histogram histogram;
  histogram.add(5ms, 0);
  EXPECT_TRUE(histogram.empty());
  histogram.add(5ms);
  histogram.add(9ms, 0);
  EXPECT_EQ(histogram.max(), 5ms);
}

TEST(LatencyHistogram, ClearedItIsAsNew) {
  LatencyHistogram histogram;
  histogram.add(5ms);
  histogram.add(1s);
  histogram.clear();
  EXPECT_EQ(histogram, LatencyHistogram());
  histogram.add(20ms);
  LatencyHistogram fresh;
  fresh.add(20ms);
  EXPECT_EQ(histogram, fresh);
}

TEST(LatencyHistogram, CountersStopAtTheirMaximumAndSaySo) {
  Histogram histogram;
  histogram.add(5ms, kCountMax - 1);
  EXPECT_FALSE(histogram.saturated());
  histogram.add(5ms, 2);
  EXPECT_EQ(histogram.count_at(Histogram::bucket_of(5ms)), kCountMax);
  EXPECT_EQ(histogram.count(), kCountMax);
  EXPECT_TRUE(histogram.saturated());
  Histogram twice = histogram;
  twice.merge(histogram);
  EXPECT_EQ(twice.count_at(Histogram::bucket_of(5ms)), kCountMax);
}

TEST(LatencyHistogram, ASumPastTheMaximumIsSaturatedThoughNoCounterIs) {
  Histogram histogram;
  histogram.add(5ms, kCountMax / 2 + 1);
  histogram.add(9ms, kCountMax / 2 + 1);
  EXPECT_EQ(histogram.count(), kCountMax);
  EXPECT_TRUE(histogram.saturated());
  EXPECT_EQ(histogram.bucket_at(Quantile{1.0}), Histogram::bucket_of(9ms));
}

// ---- docs/formats/histogram.md

std::string bytes_of_hex(const std::string& hex) {
  std::string bytes;
  std::istringstream words(hex);
  for (std::string word; words >> word;) bytes.push_back(static_cast<char>(std::stoi(word, nullptr, 16)));
  return bytes;
}

std::string golden_bytes() {
  std::ifstream file("tests/golden/histogram_v1.hex");
  std::stringstream text;
  for (std::string line; std::getline(file, line);) text << line.substr(0, line.find('#')) << '\n';
  return bytes_of_hex(text.str());
}

Histogram golden_histogram() {
  Histogram histogram;
  histogram.add(0ns, 3);
  histogram.add(1ms, 1);
  histogram.add(1001us, 299);
  histogram.add(250ms, 70'000);
  histogram.add(100h);
  return histogram;
}

TEST(HistogramFormat, WritesTheGoldenSampleOfVersionOne) {
  EXPECT_EQ(golden_histogram().serialise(), golden_bytes());
}

TEST(HistogramFormat, ReadsTheGoldenSampleOfVersionOne) {
  const auto parsed = Histogram::parse(golden_bytes());
  ASSERT_TRUE(parsed.has_value()) << parsed.error().message;
  EXPECT_EQ(*parsed, golden_histogram());
}

RC_GTEST_PROP(HistogramFormat, WhatIsWrittenReadsBackTheSame, ()) {
  const Histogram histogram = some_histogram();
  const auto parsed = Histogram::parse(histogram.serialise());
  RC_ASSERT(parsed.has_value());
  RC_ASSERT(*parsed == histogram);
}

RC_GTEST_PROP(HistogramFormat, AnyChangedByteIsNoticed, ()) {
  std::string bytes = some_histogram().serialise();
  const auto at = *rc::gen::inRange<std::size_t>(0, bytes.size());
  bytes[at] = static_cast<char>(bytes[at] ^ *rc::gen::inRange(1, 256));
  RC_ASSERT(!Histogram::parse(bytes).has_value());
}

RC_GTEST_PROP(HistogramFormat, AnyCutIsNoticed, ()) {
  const std::string bytes = some_histogram().serialise();
  RC_ASSERT(
      !Histogram::parse(std::string_view(bytes).substr(0, *rc::gen::inRange<std::size_t>(0, bytes.size()))));
  RC_ASSERT(!Histogram::parse(bytes + '\0'));
}

TEST(HistogramFormat, IsCompact) {
  Histogram histogram;
  Random random(7);
  for (int call = 0; call < 100'000; ++call)
    histogram.add(Duration(static_cast<std::int64_t>(1e6 / (1.001 - random.uniform()))));
  EXPECT_LT(histogram.serialise().size(), 2'100U);  // 640 buckets over ten octaves.
}

// A checksum that fits shows what the fields themselves are checked for. Written out bit by bit, apart from
// the code.
std::string with_checksum(std::string bytes) {
  std::uint32_t remainder = 0xffffffffU;
  for (const char byte : bytes) {
    for (unsigned bit = 0; bit < 8; ++bit) {
      const std::uint32_t in = (static_cast<unsigned char>(byte) >> bit) & 1U;
      const bool carry = ((remainder ^ in) & 1U) != 0;
      remainder = carry ? (remainder >> 1) ^ 0xedb88320U : remainder >> 1;
    }
  }
  remainder = ~remainder;
  for (unsigned shift = 0; shift < 32; shift += 8)
    bytes.push_back(static_cast<char>((remainder >> shift) & 0xffU));
  return bytes;
}

struct BadForm {
  const char* name;
  std::string fields;  // After magic and version, before the checksum.
  const char* message;
};

TEST(HistogramFormat, SaysWhatIsWrongWithFieldsThatCannotBe) {
  const std::string ten_ff(10, '\xff');
  const BadForm forms[] = {
      {"no fields", "", "cut short"},
      {"more buckets than there are", std::string("\xff\x7f", 2), "more than"},
      {"number longer than needed", std::string("\x80\x00", 2), "longer form"},
      {"number of more than 64 bits", std::string("\x01", 1) + ten_ff, "more than 64 bits"},
      {"ends within a count", std::string("\x01\x05\x00\x00", 4), "ends within a count"},
      {"empty bucket", std::string("\x01\x05\x00\x00\x00", 5), "empty bucket"},
      {"first bucket is not that of the least", std::string("\x01\x05\x09\x01\x01", 5), "do not match"},
      {"last bucket is not that of the greatest", std::string("\x01\x05\x09\x00\x01", 5), "do not match"},
      {"bucket after that of the greatest", std::string("\x02\x05\x01\x00\x01\x01\x01", 7), "do not match"},
      {"one call of two latencies", std::string("\x01\x81\x02\x01\x00\x01", 6), "a single call"},
      {"bytes left over", std::string("\x01\x05\x00\x00\x01\x00", 6), "after its last bucket"},
  };
  for (const BadForm& form : forms) {
    SCOPED_TRACE(form.name);
    const auto parsed = Histogram::parse(with_checksum(std::string("ODLH\x01", 5) + form.fields));
    ASSERT_FALSE(parsed.has_value());
    EXPECT_EQ(parsed.error().code, ErrorCode::unreadable_input);
    EXPECT_THAT(parsed.error().message, testing::HasSubstr(form.message));
  }
  EXPECT_TRUE(Histogram::parse(with_checksum(std::string("ODLH\x01\x00", 6))).has_value());
}

TEST(HistogramFormat, NamesAVersionItDoesNotKnow) {
  const auto parsed = Histogram::parse(with_checksum(std::string("ODLH\x02\x00", 6)));
  ASSERT_FALSE(parsed.has_value());
  EXPECT_NE(parsed.error().message.find("version 2"), std::string::npos);
}

}  // namespace
}  // namespace overdue
