#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "overdue/base/probability.h"
#include "overdue/base/result.h"
#include "overdue/base/time.h"

namespace overdue {

// LatencyHistogram counts latencies in 64 equal buckets an octave, read off the bits of the value, so the
// midpoint of a bucket is within 1/129 (0.78 %) of every latency in it. Latencies below 128 ns have buckets
// of 1 ns, and the greatest bucket ends at 2^48 ns (78 hours); what is longer counts there, and in max() as
// it was.
//
// Merging adds counts, so the order of adds and merges does not matter.
// Memory: 8 bytes for each bucket between the least and the greatest latency, at most 22 KB.
// Threads: none. Errors: counters stop at their maximum and saturated() says so; they never wrap.
class LatencyHistogram {
 public:
  static constexpr unsigned kBitsPerOctave = 6;
  static constexpr std::uint32_t kBucketsPerOctave = 1U << kBitsPerOctave;
  static constexpr std::uint64_t kValueMax = (std::uint64_t{1} << 48) - 1;
  static constexpr std::uint32_t kBucketCount = (48 - kBitsPerOctave + 1) * kBucketsPerOctave;

  // Requires: value >= 0.
  static constexpr std::uint32_t bucket_of(Duration value) {
    return static_cast<std::uint32_t>(
        bucket_within(std::min(static_cast<std::uint64_t>(value.count()), kValueMax)));
  }
  static constexpr Duration low_of(std::uint32_t bucket) {
    if (bucket < 2 * kBucketsPerOctave) return Duration(bucket);
    const unsigned shift = bucket / kBucketsPerOctave - 1;
    return Duration(static_cast<std::int64_t>((bucket % kBucketsPerOctave + kBucketsPerOctave) *
                                              (std::uint64_t{1} << shift)));
  }
  // The greatest value in the bucket.
  static constexpr Duration high_of(std::uint32_t bucket) { return low_of(bucket + 1) - Duration(1); }
  // The middle, but no further above the least value than its 129th part: that is what makes 1/129 true of
  // the first bucket of an octave too.
  static constexpr Duration middle_of(std::uint32_t bucket) {
    const Duration low = low_of(bucket);
    return low + std::min((high_of(bucket) - low) / 2, low / 129);
  }

  // Requires: value >= 0.
  void add(Duration value, std::uint64_t count = 1) {
    const auto ns = static_cast<std::uint64_t>(value.count());
    // One comparison: neither a new least nor greatest latency, nor past the last bucket, and it has its
    // counter.
    if (ns - covered_from_ >= covered_count_) [[unlikely]]
      return add_slowly(value, count);
    std::uint64_t& counter = counts_[bucket_within(ns) - first_];
    std::uint64_t sum = 0;
    if (__builtin_add_overflow(counter, count, &sum)) [[unlikely]]
      return add_slowly(value, count);
    counter = sum;
  }
  void merge(const LatencyHistogram& other);
  void clear();  // As new, keeping its memory for the next latencies.

  std::uint64_t count() const;  // Stops at the maximum.
  bool empty() const { return counts_.empty(); }
  Duration min() const;  // Exact. Requires: count() > 0.
  Duration max() const;  // Exact. Requires: count() > 0.
  // A counter, or their sum, has reached its maximum: counts and ranks are lower bounds then.
  bool saturated() const;
  std::uint64_t count_at(std::uint32_t bucket) const {
    const std::uint64_t index = bucket - first_;
    return index < counts_.size() ? counts_[index] : 0;
  }

  // Bucket of the value at 1-based rank ceil(q * count). Requires: count() > 0.
  std::uint32_t bucket_at(Quantile q) const;
  // The midpoint of that bucket, kept within [min, max].
  Duration value_at(Quantile q) const;

  // The compact form of docs/formats/histogram.md, and back. parse() takes only what serialise() can have
  // written; anything else fails with unreadable_input and says what is wrong and at which byte.
  std::string serialise() const;
  static Result<LatencyHistogram> parse(std::string_view bytes);

  bool operator==(const LatencyHistogram& other) const = default;

 private:
  static constexpr std::uint64_t kCountMax = std::numeric_limits<std::uint64_t>::max();

  // Requires: ns <= kValueMax.
  static constexpr std::uint64_t bucket_within(std::uint64_t ns) {
    // The bit below the first octave keeps the shift at 0 there, without a branch.
    const auto highest_bit = 63U ^ static_cast<unsigned>(std::countl_zero(ns | kBucketsPerOctave));
    const unsigned shift = highest_bit - kBitsPerOctave;
    return (std::uint64_t{shift} << kBitsPerOctave) + (ns >> shift);
  }

  void add_slowly(Duration value, std::uint64_t count);
  void make_room(Duration value);
  void cover(std::uint32_t bucket);

  std::vector<std::uint64_t> counts_;  // From the bucket of min_ to that of max_.
  std::uint64_t first_ = 0;
  Duration min_ = Duration::max();
  Duration max_ = Duration(-1);
  // The latencies from min_ to max_ as far as the buckets go; none while nothing is counted.
  std::uint64_t covered_from_ = 0;
  std::uint64_t covered_count_ = 0;
};

}  // namespace overdue
