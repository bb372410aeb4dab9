#pragma once

#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "overdue/base/time.h"
#include "overdue/latency/block_range.h"

namespace overdue {

// BucketCounts is the counts of one histogram between its first and last used bucket, rounded out to
// multiples of kBucketsTogether, and nothing around them. Counters are 1, 2, 4 or 8 bytes wide, as the
// greatest of them needs: a log keeps thousands of these, and most counts are small. Errors: stops at the
// greatest 64-bit count, never wraps. Threads: none.
class BucketCounts {
 public:
  static constexpr std::uint32_t kBucketsTogether = 64;

  void add(std::uint32_t bucket, std::uint64_t count = 1) {
    if (!try_add(bucket, count)) add_wide(bucket, count);
  }
  // The common case alone: there is a counter for it already, of one byte, and it stays one. Else changes
  // nothing.
  bool try_add(std::uint32_t bucket, std::uint64_t count) {
    const std::uint32_t index = bucket - first_;
    if (width_log2_ == 0 && index < bytes_.size()) [[likely]] {
      const std::uint64_t sum = bytes_[index] + count;
      if (sum <= 0xff && count <= 0xff) [[likely]] {
        bytes_[index] = static_cast<std::uint8_t>(sum);
        return true;
      }
    }
    return false;
  }
  void add_wide(std::uint32_t bucket, std::uint64_t count);
  // Makes room for the buckets the other has something in, to be spared doing so step by step.
  void cover_used_of(const BucketCounts& other);
  void merge(const BucketCounts& other);

  bool empty() const { return bytes_.empty(); }
  std::uint32_t first() const { return first_; }
  std::uint32_t size() const { return static_cast<std::uint32_t>(bytes_.size() >> width_log2_); }
  std::uint64_t count_at(std::uint32_t bucket) const {
    const std::uint32_t index = bucket - first_;
    return index < size() ? load(index) : 0;
  }
  // Index i is bucket first() + i; what is above 32 bits stands at their maximum. A copy: take it once.
  std::vector<std::uint32_t> counts() const;
  std::uint64_t total() const;                           // Adds them up.
  std::uint64_t count_from(std::uint32_t bucket) const;  // How many in `bucket` and above.

 private:
  std::uint64_t load(std::uint32_t index) const {
    switch (width_log2_) {
      case 0:
        return bytes_[index];
      case 1:
        return load_as<std::uint16_t>(index);
      case 2:
        return load_as<std::uint32_t>(index);
      default:
        return load_as<std::uint64_t>(index);
    }
  }
  template <typename Counter>
  std::uint64_t load_as(std::uint32_t index) const {
    Counter counter;
    std::memcpy(&counter, bytes_.data() + index * sizeof(Counter), sizeof(Counter));
    return counter;
  }
  void store(std::uint32_t index, std::uint64_t count);
  bool try_merge_narrow(const BucketCounts& other);
  void cover(std::uint32_t first, std::uint32_t end);
  void reshape(std::uint32_t first, std::uint32_t size, unsigned width_log2);

  std::vector<std::uint8_t> bytes_;
  std::uint32_t first_ = 0;
  unsigned width_log2_ = 0;
};

// TimeGrid keeps a histogram for each block of equal time and each series, in bounded memory and one pass.
//
// Blocks start at whole multiples of the block length since 1970. When the log outgrows blocks_max blocks,
// neighbours merge and the length doubles, so the final state depends on the calls alone and not on their
// order (STATISTICS 5; see BlockRange). Series are numbered by the caller from 0 (see Measurement).
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

  void add(std::uint32_t series, WallTime at, std::uint32_t histogram_bucket, std::uint64_t count = 1) {
    const auto offset = static_cast<std::uint64_t>(at.time_since_epoch().count()) - block_start_;
    // Logs are nearly sorted by time: most calls fall in the block of the one before.
    if (offset >= block_span_ || series >= series_.size() || series_[series].empty()) [[unlikely]]
      move_to(series, at);
    if (!series_[series][block_slot_].try_add(histogram_bucket >> bucket_shift_, count)) {
      add_to_cell(series, histogram_bucket >> bucket_shift_, count);
    }
  }
  // The same for many at once. Requires: equal sizes.
  void add(std::span<const std::uint16_t> series, std::span<const WallTime> at,
           std::span<const std::uint16_t> histogram_buckets);
  void add(std::uint32_t series, std::span<const WallTime> at,
           std::span<const std::uint16_t> histogram_buckets);
  // Adds the other's series `from` to our series `to_series[from]`. Requires: equal Options but for
  // blocks_max.
  void merge(const TimeGrid& other, const std::vector<std::uint32_t>& to_series);
  // Merges neighbouring blocks until at most `blocks_max` are left; later adds keep that bound.
  void limit_blocks(std::uint32_t blocks_max);

  bool empty() const { return range_.empty(); }
  Duration block_length() const { return range_.length(); }
  WallTime first_block_start() const;  // Requires: !empty().
  std::uint32_t block_count() const {
    return range_.count();
  }  // First with a call to the last, gaps included.
  std::uint32_t series_count() const { return static_cast<std::uint32_t>(series_.size()); }
  // Empty counts where nothing fell. Requires: block < block_count().
  const BucketCounts& at(std::uint32_t series, std::uint32_t block) const;

 private:
  // A ring of blocks: block b of the range lies at b modulo the ring's size, a power of two. Empty: nothing
  // yet.
  using Ring = std::vector<BucketCounts>;

  std::uint32_t slot_of(std::int64_t block) const {
    return static_cast<std::uint32_t>(static_cast<std::uint64_t>(block) & (ring_size_ - 1));
  }
  bool is_in_block(WallTime at) const {
    return static_cast<std::uint64_t>(at.time_since_epoch().count()) - block_start_ < block_span_;
  }
  void move_to(std::uint32_t series, WallTime at);
  void add_to_cell(std::uint32_t series, std::uint32_t bucket, std::uint64_t count);
  void ensure_series(std::uint32_t series);
  // After the range changed from `before` by `doublings`: brings every ring to the new numbers.
  void refit(const BlockRange& before, unsigned doublings);

  BlockRange range_;
  std::uint32_t bucket_shift_;
  std::uint32_t ring_size_;
  std::vector<Ring> series_;
  // The block of the last add: its first nanosecond (as two's complement), its length and its place in the
  // rings.
  std::uint64_t block_start_ = 0;
  std::uint64_t block_span_ = 0;
  std::uint32_t block_slot_ = 0;
};

}  // namespace overdue
