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

  void add(std::uint32_t bucket, std::uint64_t count = 1);
  // Where its counters lie, for one who adds many; until anything else changes it. Of one or two bytes, else
  // none.
  struct Counters {
    std::uint8_t* bytes = nullptr;
    std::uint32_t first = 0;
    std::uint32_t size = 0;
    bool wide = false;  // Two bytes each.

    // Adds one, or changes nothing: there is no counter for it, or it is full.
    bool try_add(std::uint32_t bucket) const {
      const std::uint32_t index = bucket - first;
      if (index >= size) return false;
      if (!wide) [[likely]] {
        if (bytes[index] == 0xff) return false;
        ++bytes[index];
        return true;
      }
      std::uint16_t counter;
      std::memcpy(&counter, bytes + index * sizeof(counter), sizeof(counter));
      if (counter == 0xffff) return false;
      ++counter;
      std::memcpy(bytes + index * sizeof(counter), &counter, sizeof(counter));
      return true;
    }
  };
  Counters counters() { return {bytes_.data(), first_, width_log2_ <= 1 ? size() : 0, width_log2_ == 1}; }
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
  // Calls visit(bucket, count) for every count above 0, ascending.
  template <typename Visit>
  void for_each(const Visit& visit) const {
    switch (width_log2_) {
      case 0:
        return for_each_as<std::uint8_t>(visit);
      case 1:
        return for_each_as<std::uint16_t>(visit);
      case 2:
        return for_each_as<std::uint32_t>(visit);
      default:
        return for_each_as<std::uint64_t>(visit);
    }
  }
  // Adds each count to the sum of its bucket. Requires: a sum for every bucket below first() + size(). Errors:
  // the sums must not pass 64 bits.
  void add_to(std::span<std::uint64_t> sums) const;
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
  template <typename Counter, typename Visit>
  void for_each_as(const Visit& visit) const {
    constexpr std::uint32_t kInAWord = 8 / sizeof(Counter);
    for (std::uint32_t index = 0; index < size(); index += kInAWord) {  // The size is a multiple of 64.
      std::uint64_t word = 0;
      std::memcpy(&word, bytes_.data() + index * sizeof(Counter), sizeof(word));
      if (word == 0) continue;
      for (std::uint32_t i = index; i < index + kInAWord; ++i) {
        if (const auto count = load_as<Counter>(i); count > 0) visit(first_ + i, std::uint64_t{count});
      }
    }
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
    if (!is_in_block(at)) [[unlikely]]
      move_to(at);
    add_to_cell(series, histogram_bucket >> bucket_shift_, count);
  }
  // The same for many at once. Requires: equal sizes, and each time within `span`.
  struct TimeSpan {
    WallTime first{};
    WallTime last{};
  };
  void add(std::span<const std::uint16_t> series, std::span<const WallTime> at, const TimeSpan& span,
           std::span<const std::uint16_t> histogram_buckets);
  void add(std::uint32_t series, std::span<const WallTime> at, const TimeSpan& span,
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
  void move_to(WallTime at);
  std::size_t end_of_run(std::span<const WallTime> at, std::size_t begin, const TimeSpan& span);
  void forget_current();
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
  // By series, the counters of the block of the last add; without bytes until the series is met in it.
  std::vector<BucketCounts::Counters> current_;
  std::vector<std::uint32_t> met_;  // The series that are.
};

}  // namespace overdue
