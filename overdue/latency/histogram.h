#pragma once

#include <bit>
#include <cstdint>
#include <vector>

#include "overdue/base/probability.h"
#include "overdue/base/time.h"

namespace overdue {

// LatencyHistogram counts latencies in 64 equal buckets an octave, read off the bits of the value, so the midpoint
// of a bucket is within 1/129 (0.78 %) of every latency in it. Latencies below 64 ns have buckets of 1 ns, and the
// greatest bucket ends at 2^48 ns (78 hours); what is longer counts there, and in max() as it was.
//
// Merging adds counts, so the order of adds and merges does not matter.
// Threads: none. Errors: counters stop at their maximum and saturated() says so; they never wrap.
class LatencyHistogram {
 public:
  static constexpr unsigned kBitsPerOctave = 6;
  static constexpr std::uint32_t kBucketsPerOctave = 1U << kBitsPerOctave;
  static constexpr std::uint64_t kValueMax = (std::uint64_t{1} << 48) - 1;
  static constexpr std::uint32_t kBucketCount = (48 - kBitsPerOctave + 1) * kBucketsPerOctave;

  // Requires: value >= 0.
  static constexpr std::uint32_t bucket_of(Duration value) {
    const std::uint64_t ns = static_cast<std::uint64_t>(value.count());
    const std::uint64_t capped = ns > kValueMax ? kValueMax : ns;
    const unsigned octave = static_cast<unsigned>(std::bit_width(capped >> kBitsPerOctave));
    const unsigned shift = octave == 0 ? 0 : octave - 1;
    return static_cast<std::uint32_t>(octave * kBucketsPerOctave - (octave == 0 ? 0 : kBucketsPerOctave) +
                                      (capped >> shift));
  }
  static constexpr Duration low_of(std::uint32_t bucket) {
    if (bucket < 2 * kBucketsPerOctave) return Duration(bucket);
    const unsigned shift = bucket / kBucketsPerOctave - 1;
    return Duration(static_cast<std::int64_t>((bucket % kBucketsPerOctave + kBucketsPerOctave) * (std::uint64_t{1} << shift)));
  }
  // The greatest value in the bucket.
  static constexpr Duration high_of(std::uint32_t bucket) { return low_of(bucket + 1) - Duration(1); }
  static constexpr Duration middle_of(std::uint32_t bucket) {
    return low_of(bucket) + (high_of(bucket) - low_of(bucket)) / 2;
  }

  void add(Duration value, std::uint64_t count = 1);
  void merge(const LatencyHistogram& other);

  std::uint64_t count() const;
  Duration min() const;  // Exact. Requires: count() > 0.
  Duration max() const;  // Exact. Requires: count() > 0.
  bool saturated() const;
  std::uint64_t count_at(std::uint32_t bucket) const;

  // Bucket of the value at 1-based rank ceil(q * count). Requires: count() > 0.
  std::uint32_t bucket_at(Quantile q) const;
  // The midpoint of that bucket, kept within [min, max].
  Duration value_at(Quantile q) const;
};

}  // namespace overdue
