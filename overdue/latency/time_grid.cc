#include "overdue/latency/time_grid.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <utility>

#include "overdue/base/saturating.h"
#include "overdue/latency/byte_sums.h"

namespace overdue {
namespace {

constexpr std::uint32_t kRingSizeMin = 8;

unsigned width_log2_for(std::uint64_t count) {
  if (count <= 0xff) return 0;
  if (count <= 0xffff) return 1;
  return count <= 0xffff'ffff ? 2 : 3;
}

std::uint32_t rounded_down(std::uint32_t bucket) { return bucket - bucket % BucketCounts::kBucketsTogether; }

// Calls visit with a counter of that width: loops over counters are made once for each.
template <typename Visit>
auto with_width(unsigned width_log2, const Visit& visit) {
  switch (width_log2) {
    case 0:
      return visit(std::uint8_t{});
    case 1:
      return visit(std::uint16_t{});
    case 2:
      return visit(std::uint32_t{});
    default:
      return visit(std::uint64_t{});
  }
}

template <typename Counter>
void store_as(std::vector<std::uint8_t>& bytes, std::size_t index, std::uint64_t count) {
  const auto counter = static_cast<Counter>(count);
  std::memcpy(bytes.data() + index * sizeof(Counter), &counter, sizeof(Counter));
}

}  // namespace

void BucketCounts::store(std::uint32_t index, std::uint64_t count) {
  with_width(width_log2_, [&](auto own) { store_as<decltype(own)>(bytes_, index, count); });
}

void BucketCounts::add(std::uint32_t bucket, std::uint64_t count) {
  if (count == 0) return;
  if (bucket - first_ >= size()) cover(rounded_down(bucket), rounded_down(bucket) + kBucketsTogether);
  const std::uint64_t sum = saturating_sum(load(bucket - first_), count);
  if (width_log2_for(sum) > width_log2_) reshape(first_, size(), width_log2_for(sum));
  store(bucket - first_, sum);
}

void BucketCounts::reshape(std::uint32_t first, std::uint32_t size, unsigned width_log2) {
  BucketCounts wider;
  wider.first_ = first;
  wider.width_log2_ = width_log2;
  wider.bytes_.resize(std::size_t{size} << width_log2);
  const std::uint32_t up = first_ - first;
  if (width_log2 == width_log2_) {
    std::copy(bytes_.begin(), bytes_.end(), wider.bytes_.begin() + (std::ptrdiff_t{up} << width_log2));
  } else {
    with_width(width_log2_, [&](auto from) {
      with_width(width_log2, [&](auto to) {
        for (std::uint32_t index = 0; index < this->size(); ++index)
          store_as<decltype(to)>(wider.bytes_, index + up, load_as<decltype(from)>(index));
      });
    });
  }
  *this = std::move(wider);
}

void BucketCounts::cover(std::uint32_t first, std::uint32_t end) {
  if (!empty()) {
    first = std::min(first, first_);
    end = std::max(end, first_ + size());
  }
  if (first != first_ || end - first != size()) reshape(first, end - first, width_log2_);
}

void BucketCounts::cover_used_of(const BucketCounts& other) {
  const auto group_is_empty = [&other](std::uint32_t first) {
    const auto begin = other.bytes_.begin() + (std::ptrdiff_t{first} << other.width_log2_);
    return std::all_of(begin, begin + (std::ptrdiff_t{kBucketsTogether} << other.width_log2_),
                       [](std::uint8_t byte) { return byte == 0; });
  };
  std::uint32_t first = 0;
  std::uint32_t end = other.size();
  while (first < end && group_is_empty(first)) first += kBucketsTogether;
  while (first < end && group_is_empty(end - kBucketsTogether)) end -= kBucketsTogether;
  if (first < end) cover(other.first_ + first, other.first_ + end);
}

void BucketCounts::merge(const BucketCounts& other) {
  if (other.empty()) return;
  cover(other.first_, other.first_ + other.size());
  if (try_merge_narrow(other)) return;
  const std::uint32_t up = other.first_ - first_;
  const auto for_each_sum = [&](const auto& use) {
    with_width(width_log2_, [&](auto own) {
      with_width(other.width_log2_, [&](auto theirs) {
        for (std::uint32_t index = 0; index < other.size(); ++index) {
          use(own, index + up,
              saturating_sum(load_as<decltype(own)>(index + up), other.load_as<decltype(theirs)>(index)));
        }
      });
    });
  };
  std::uint64_t greatest = 0;
  for_each_sum([&](auto, std::uint32_t, std::uint64_t sum) { greatest = std::max(greatest, sum); });
  if (width_log2_for(greatest) > width_log2_) reshape(first_, size(), width_log2_for(greatest));
  for_each_sum(
      [&](auto own, std::uint32_t index, std::uint64_t sum) { store_as<decltype(own)>(bytes_, index, sum); });
}

// Eight counters of a byte at a time, while none of them can carry into its neighbour. All or nothing.
// Requires: covers the other's buckets.
bool BucketCounts::try_merge_narrow(const BucketCounts& other) {
  if (width_log2_ != 0 || other.width_log2_ != 0) return false;
  std::uint8_t* const own = bytes_.data() + (other.first_ - first_);
  const auto eight_at = [](const std::uint8_t* bytes) {
    std::uint64_t eight = 0;
    std::memcpy(&eight, bytes, sizeof(eight));
    return eight;
  };
  std::uint64_t all = 0;
  for (std::size_t at = 0; at < other.bytes_.size(); at += 8) {
    all |= eight_at(own + at) | eight_at(other.bytes_.data() + at);
  }
  if ((all & 0x8080'8080'8080'8080U) != 0) return false;
  for (std::size_t at = 0; at < other.bytes_.size(); at += 8) {
    const std::uint64_t sum = eight_at(own + at) + eight_at(other.bytes_.data() + at);
    std::memcpy(own + at, &sum, sizeof(sum));
  }
  return true;
}

void BucketCounts::add_to(std::span<std::uint64_t> sums) const {
  OVERDUE_CHECK(empty() || sums.size() >= std::size_t{first_} + size());
  with_width(width_log2_, [&](auto own) {
    std::uint64_t* const out = sums.data() + first_;
    for (std::uint32_t index = 0; index < size(); ++index) out[index] += load_as<decltype(own)>(index);
  });
}

std::vector<std::uint32_t> BucketCounts::counts() const {
  std::vector<std::uint32_t> narrowed(size());
  for (std::uint32_t index = 0; index < size(); ++index) {
    narrowed[index] = static_cast<std::uint32_t>(std::min<std::uint64_t>(load(index), 0xffff'ffff));
  }
  return narrowed;
}

std::uint64_t BucketCounts::total() const { return count_from(0); }

std::uint64_t BucketCounts::count_from(std::uint32_t bucket) const {
  const std::uint32_t from = bucket > first_ ? bucket - first_ : 0;
  if (from >= size()) return 0;
  if (width_log2_ == 0) return sum_of_bytes(std::span(bytes_).subspan(from));
  return with_width(width_log2_, [&](auto own) {
    std::uint64_t sum = 0;
    for (std::uint32_t index = from; index < size(); ++index) {
      const std::uint64_t count = load_as<decltype(own)>(index);
      // Sums of what has less than 64 bits fit: there are fewer than 2^32 buckets.
      sum = sizeof(own) == sizeof(count) ? saturating_sum(sum, count) : sum + count;
    }
    return sum;
  });
}

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

void TimeGrid::limit_blocks(std::uint32_t blocks_max) {
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
