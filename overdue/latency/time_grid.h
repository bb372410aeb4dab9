#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "overdue/base/time.h"
#include "overdue/latency/block_range.h"
#include "overdue/latency/bucket_counts.h"

namespace overdue {

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
  // Calls at both ends of `span` are to come: what they need is made ready at once, instead of step by step.
  // It changes nothing but the time that takes. Requires: empty().
  void expect(const TimeSpan& span);
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
