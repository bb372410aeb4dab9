#include "overdue/latency/time_grid.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "overdue/base/check.h"

namespace overdue {
namespace {

constexpr std::uint32_t kRingSizeMin = 8;

}  // namespace

TimeGrid::TimeGrid(const Options& options)
    : range_(options.block_length_min, options.blocks_max),
      bucket_shift_(options.bucket_shift),
      ring_size_(kRingSizeMin) {}

// Makes the block of at[begin] the present one; where the next row of another block is. Logs are nearly
// sorted by time, so that many follow each other in one, and often all do.
std::size_t TimeGrid::end_of_run(std::span<const WallTime> at, std::size_t begin, const TimeSpan& span) {
  if (!is_in_block(at[begin])) move_to(at[begin]);
  if (is_in_block(span.first) && is_in_block(span.last)) return at.size();
  std::size_t end = begin + 1;
  while (end < at.size() && is_in_block(at[end])) ++end;
  return end;
}

// In both the shift stands in a local: a counter's byte might be any member, for all the compiler knows.
void TimeGrid::add(std::span<const std::uint16_t> series, std::span<const WallTime> at, const TimeSpan& span,
                   std::span<const std::uint16_t> histogram_buckets) {
  OVERDUE_CHECK(series.size() == at.size() && series.size() == histogram_buckets.size());
  const unsigned shift = bucket_shift_;
  for (std::size_t row = 0; row < at.size();) {
    const std::size_t end = end_of_run(at, row, span);
    std::span<const BucketCounts::Counters> counters = current_;
    for (; row < end; ++row) {
      const std::uint32_t own = series[row];
      const std::uint32_t bucket = std::uint32_t{histogram_buckets[row]} >> shift;
      if (own < counters.size() && counters[own].try_add(bucket)) [[likely]]
        continue;
      add_to_cell(own, bucket, 1);
      counters = current_;
    }
  }
}

void TimeGrid::add(std::uint32_t series, std::span<const WallTime> at, const TimeSpan& span,
                   std::span<const std::uint16_t> histogram_buckets) {
  OVERDUE_CHECK(at.size() == histogram_buckets.size());
  const unsigned shift = bucket_shift_;
  for (std::size_t row = 0; row < at.size();) {
    const std::size_t end = end_of_run(at, row, span);
    BucketCounts::Counters counters = series < current_.size() ? current_[series] : BucketCounts::Counters{};
    for (; row < end; ++row) {
      const std::uint32_t bucket = std::uint32_t{histogram_buckets[row]} >> shift;
      if (counters.try_add(bucket)) [[likely]]
        continue;
      add_to_cell(series, bucket, 1);
      counters = current_[series];
    }
  }
}

void TimeGrid::forget_current() {
  for (const std::uint32_t series : met_) current_[series] = {};
  met_.clear();
  block_span_ = 0;
}

void TimeGrid::move_to(WallTime at) {
  forget_current();
  const BlockRange before = range_;
  const unsigned doublings = range_.include(at);
  refit(before, doublings);
  const std::int64_t block = range_.block_of(at);
  block_start_ = static_cast<std::uint64_t>(range_.start_of(block));
  block_span_ = static_cast<std::uint64_t>(range_.length().count());
  block_slot_ = slot_of(block);
}

void TimeGrid::add_to_cell(std::uint32_t series, std::uint32_t bucket, std::uint64_t count) {
  ensure_series(series);
  Ring& ring = series_[series];
  BucketCounts& cell = ring[block_slot_];
  // A block most likely holds what the one before it held; the ring has at least two.
  if (cell.empty()) cell.cover_used_of(ring[(block_slot_ - 1) & (ring_size_ - 1)]);
  cell.add(bucket, count);
  if (series >= current_.size()) current_.resize(series + 1);
  if (current_[series].bytes == nullptr) met_.push_back(series);
  current_[series] = cell.counters();
}

void TimeGrid::ensure_series(std::uint32_t series) {
  if (series >= series_.size()) series_.resize(series + 1);
  if (series_[series].empty()) series_[series].resize(ring_size_);
}

void TimeGrid::refit(const BlockRange& before, unsigned doublings) {
  const std::uint32_t size_needed = std::max(kRingSizeMin, std::bit_ceil(range_.count()));
  // A ring only grows on the way; it shrinks with the number of blocks, which doubling halves.
  if (doublings == 0 && size_needed <= ring_size_) return;
  const std::uint32_t old_size = ring_size_;
  ring_size_ = doublings == 0 ? size_needed
                              : std::max(size_needed, std::min(old_size, std::bit_ceil(range_.blocks_max())));
  for (Ring& ring : series_) {
    if (ring.empty() || before.empty()) continue;
    Ring refitted(ring_size_);
    for (std::int64_t block = before.first(); block <= before.last(); ++block) {
      BucketCounts& from = ring[static_cast<std::size_t>(static_cast<std::uint64_t>(block) & (old_size - 1))];
      BucketCounts& to = refitted[slot_of(block >> doublings)];
      if (to.empty()) {
        to = std::move(from);
      } else {
        to.merge(from);
      }
    }
    ring = std::move(refitted);
  }
  forget_current();  // The remembered block is another now.
}

void TimeGrid::merge(const TimeGrid& other, const std::vector<std::uint32_t>& to_series) {
  OVERDUE_CHECK(bucket_shift_ == other.bucket_shift_);
  if (other.empty()) return;
  forget_current();
  const BlockRange before = range_;
  const unsigned doublings = range_.include(other.range_);
  refit(before, doublings);
  const int coarser =
      std::countr_zero(static_cast<std::uint64_t>(range_.length().count() / other.range_.length().count()));
  for (std::uint32_t from = 0; from < other.series_count(); ++from) {
    if (other.series_[from].empty()) continue;
    OVERDUE_CHECK(from < to_series.size());
    ensure_series(to_series[from]);
    for (std::int64_t block = other.range_.first(); block <= other.range_.last(); ++block) {
      series_[to_series[from]][slot_of(block >> coarser)].merge(other.series_[from][other.slot_of(block)]);
    }
  }
}

void TimeGrid::expect(const TimeSpan& span) {
  ring_size_ = std::max(kRingSizeMin, std::bit_ceil(range_.expect(span.first, span.last)));
}

void TimeGrid::limit_blocks(std::uint32_t blocks_max) {
  if (empty()) ring_size_ = std::min(ring_size_, std::max(kRingSizeMin, std::bit_ceil(blocks_max)));
  const BlockRange before = range_;
  const unsigned doublings = range_.limit(blocks_max);
  refit(before, doublings);
}

WallTime TimeGrid::first_block_start() const {
  OVERDUE_CHECK(!empty());
  return WallTime(Duration(range_.start_of(range_.first())));
}

const BucketCounts& TimeGrid::at(std::uint32_t series, std::uint32_t block) const {
  static const BucketCounts kNothing;
  OVERDUE_CHECK(block < block_count());
  if (series >= series_.size() || series_[series].empty()) return kNothing;
  return series_[series][slot_of(range_.first() + block)];
}

}  // namespace overdue
