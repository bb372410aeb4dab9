#pragma once

#include <cstdint>
#include <vector>

#include "overdue/base/time.h"

namespace overdue {

// BucketCounts is the counts of one histogram between its first and last used bucket, and nothing around them.
// Index i of counts() is bucket first() + i of the mapping of the grid it stands in.
class BucketCounts {
 public:
  void add(std::uint32_t bucket, std::uint64_t count);
  void merge(const BucketCounts& other);
  std::uint32_t first() const { return first_; }
  const std::vector<std::uint32_t>& counts() const { return counts_; }  // Saturates, never wraps.
  std::uint64_t total() const { return total_; }
  std::uint64_t count_from(std::uint32_t bucket) const;  // How many in `bucket` and above.

 private:
  std::uint32_t first_ = 0;
  std::uint64_t total_ = 0;
  std::vector<std::uint32_t> counts_;
};

// TimeGrid keeps a histogram for each block of equal time and each series, in bounded memory and one pass.
//
// Blocks start at whole multiples of the block length since 1970. When the log outgrows blocks_max blocks,
// neighbours merge and the length doubles, so the final state depends on the calls alone and not on their order
// (STATISTICS 5). Series are numbered by the caller from 0 (see Measurement).
//
// Buckets: LatencyHistogram's mapping shifted right by `bucket_shift` (0: 64 an octave, 2: 16 an octave).
// Threads: none.
class TimeGrid {
 public:
  struct Options {
    Duration block_length_min;       // Any positive length; the first length tried.
    std::uint32_t blocks_max = 256;  // At least 2.
    std::uint32_t bucket_shift = 0;
  };
  explicit TimeGrid(const Options& options);

  void add(std::uint32_t series, WallTime at, std::uint32_t histogram_bucket, std::uint64_t count = 1);
  // Adds the other's series `from` to our series `to_series[from]`. Requires: equal Options.
  void merge(const TimeGrid& other, const std::vector<std::uint32_t>& to_series);
  // Merges neighbouring blocks until at most `blocks_max` are left; later adds keep that bound.
  void limit_blocks(std::uint32_t blocks_max);

  bool empty() const;
  Duration block_length() const;
  WallTime first_block_start() const;   // Requires: !empty().
  std::uint32_t block_count() const;    // From the first block with a call to the last, gaps included.
  std::uint32_t series_count() const;
  const BucketCounts& at(std::uint32_t series, std::uint32_t block) const;  // Empty counts where nothing fell.
};

}  // namespace overdue
