#include "overdue/latency/exact_counts.h"

#include <algorithm>
#include <array>
#include <bit>
#include <limits>
#include <utility>

#include "overdue/base/check.h"
#include "overdue/base/saturating.h"

namespace overdue {
namespace {

constexpr std::size_t kPairSlotsMin = 64;
constexpr std::uint32_t kNoPlace = UINT32_MAX;
constexpr std::size_t kShortRow = 16'384;
constexpr std::size_t kTogether = 512;  // Their counters stay in the nearest cache from one pass to the next.

std::uint64_t value_of(Duration latency) { return static_cast<std::uint64_t>(latency.count()); }

std::uint64_t pair_key_of(std::uint64_t number, std::uint32_t series) {
  return ((number << 16) | series) + 1;
}

}  // namespace

void ExactCounts::add(std::span<const Duration> latencies, std::span<const std::uint16_t> series) {
  if (dropped_) return;
  index_.is_fresh = false;
  OVERDUE_CHECK(latencies.size() == series.size() && latencies.size() <= kBatchMax);
  for (std::size_t done = 0; done < latencies.size(); done += kTogether) {
    const std::size_t count = std::min(kTogether, latencies.size() - done);
    add_some(latencies.subspan(done, count), series.subspan(done, count));
  }
}

void ExactCounts::add_some(std::span<const Duration> latencies, std::span<const std::uint16_t> series) {
  if (dropped_) return;
  // Each pass asks memory for what the next will need. The few that have no counter yet come last: making
  // room for them moves the others.
  std::array<std::uint32_t, kTogether> places;
  const std::uint32_t* const direct = direct_.data();
  const std::uint64_t direct_size = direct_.size();
  for (std::size_t index = 0; index < latencies.size(); ++index) {
    const std::uint64_t latency = value_of(latencies[index]);
    const std::uint64_t place = latency / kMicrosecond;
    const bool is_direct = place < direct_size && place * kMicrosecond == latency;
    places[index] = is_direct ? static_cast<std::uint32_t>(place) : kNoPlace;
    __builtin_prefetch(direct + (is_direct ? place : 0));
  }
  std::array<std::uint8_t*, kTogether> counters;
  for (std::size_t index = 0; index < latencies.size(); ++index) {
    counters[index] = places[index] == kNoPlace ? nullptr : counter_of(places[index], series[index]);
    __builtin_prefetch(counters[index], 1);
  }
  std::array<std::uint16_t, kTogether> left;
  std::size_t left_size = 0;
  for (std::size_t index = 0; index < latencies.size(); ++index) {
    if (counters[index] != nullptr && *counters[index] != CounterRow::kLowMax) [[likely]] {
      ++*counters[index];
    } else {
      left[left_size++] = static_cast<std::uint16_t>(index);
    }
  }
  for (const std::uint16_t index : std::span(left).first(left_size)) {
    const std::uint32_t number = number_of(value_of(latencies[index]));
    if (dropped_) return;
    add_to(number, series[index], 1);
  }
}

void ExactCounts::add(Duration latency, std::uint16_t series, std::uint64_t count) {
  if (dropped_ || count == 0) return;
  index_.is_fresh = false;
  const std::uint32_t number = number_of(value_of(latency));
  if (!dropped_) add_to(number, series, count);
}

std::optional<std::uint32_t> ExactCounts::next_number(std::uint64_t latency) {
  if (latencies_.size() == kDistinctMax) {
    drop();
    return std::nullopt;
  }
  latencies_.push_back(Duration(static_cast<std::int64_t>(latency)));
  return static_cast<std::uint32_t>(latencies_.size() - 1);
}

std::uint32_t ExactCounts::insert(std::size_t at, std::uint64_t latency_plus_1) {
  const std::optional<std::uint32_t> number = next_number(latency_plus_1 - 1);
  if (!number) return 0;
  slots_[at] = {latency_plus_1, *number};
  if (++slots_used_ * 5 > slots_.size() * 4) resize_slots(slots_.size() * 2);
  pool_if_too_many();
  return *number;
}

std::uint32_t ExactCounts::insert_direct(std::uint64_t latency) {
  const std::optional<std::uint32_t> number = next_number(latency);
  if (!number) return 0;
  const std::uint64_t place = latency / kMicrosecond;
  if (place >= direct_.size()) direct_.resize(std::bit_ceil(place + 1));
  direct_[place] = *number + 1;
  pool_if_too_many();
  return *number;
}

void ExactCounts::resize_slots(std::size_t size) {
  std::vector<Slot> old(size);
  old.swap(slots_);
  slots_shift_ = 64 - static_cast<unsigned>(std::countr_zero(size));
  for (const Slot& slot : old) {
    if (slot.latency_plus_1 == 0) continue;
    std::size_t at = home_of(slot.latency_plus_1);
    while (slots_[at].latency_plus_1 != 0) at = (at + 1) & (size - 1);
    slots_[at] = slot;
  }
}

void ExactCounts::add_to(std::uint32_t number, std::uint16_t series, std::uint64_t count) {
  const auto own = static_cast<std::uint16_t>(pooled_ ? series % kEndingCount : series);
  if (pooled_ || is_reply(own)) {
    add_to_row(number, own, count);
  } else {
    add_to_pair(number, own, count);
  }
}

void ExactCounts::add_to_row(std::uint32_t number, std::uint16_t series, std::uint64_t count) {
  if (series >= rows_.size()) rows_.resize(series + 1U);
  Row& row = rows_[series];
  if (row.empty()) {
    row.resize(1);
    ++reply_rows_;
    const bool was_pooled = pooled_;
    pool_if_too_many();
    if (pooled_ != was_pooled) return add_to(number, series, count);  // `row` is gone.
  }
  if (number >= row.size()) {
    // Room that nothing was written to costs no memory; a longer row that moves costs all its pages again.
    if (number >= kShortRow && row.capacity() < kDistinctMax) row.reserve(kDistinctMax);
    row.resize(std::max<std::size_t>(number + 1, std::min(row.size() * 5 / 4, kDistinctMax)));
  }
  const std::uint64_t sum = saturating_sum(std::uint64_t{row[number]}, count);
  row.set(number, sum);
  if (sum > 0xffff) {
    std::uint64_t& carry = carries_[(static_cast<std::uint64_t>(series) << 32) | number];
    carry = saturating_sum(carry, sum >> 16);
  }
}

void ExactCounts::add_to_pair(std::uint32_t number, std::uint16_t series, std::uint64_t count) {
  if ((pairs_used_ + 1) * 4 > pairs_.size() * 3) {
    std::vector<Pair> old(std::max(kPairSlotsMin, pairs_.size() * 2));
    old.swap(pairs_);
    for (const Pair& pair : old) {
      if (pair.key_plus_1 != 0) pair_of(pair.key_plus_1) = pair;
    }
  }
  Pair& pair = pair_of(pair_key_of(number, series));
  if (pair.key_plus_1 == 0) {
    pair.key_plus_1 = pair_key_of(number, series);
    ++pairs_used_;
  }
  pair.count = saturating_sum(pair.count, count);
  pool_if_too_many();
}

const ExactCounts::Pair* ExactCounts::find_pair(std::uint64_t key_plus_1) const {
  if (pairs_.empty()) return nullptr;
  std::size_t at = mixed(key_plus_1) >> (64 - std::countr_zero(pairs_.size()));
  while (pairs_[at].key_plus_1 != 0 && pairs_[at].key_plus_1 != key_plus_1)
    at = (at + 1) & (pairs_.size() - 1);
  return &pairs_[at];
}

ExactCounts::Pair& ExactCounts::pair_of(std::uint64_t key_plus_1) {
  return const_cast<Pair&>(*find_pair(key_plus_1));
}

void ExactCounts::pool_if_too_many() {
  if (!pooled_ && (latencies_.size() * reply_rows_ > kReplyCellsMax || pairs_used_ > kPairsMax)) pool();
}

void ExactCounts::pool() {
  ExactCounts by_backend = std::move(*this);
  *this = ExactCounts();
  pooled_ = true;
  latencies_ = std::move(by_backend.latencies_);
  slots_ = std::move(by_backend.slots_);
  slots_shift_ = by_backend.slots_shift_;
  slots_used_ = by_backend.slots_used_;
  direct_ = std::move(by_backend.direct_);
  for (std::uint32_t series = 0; series < by_backend.rows_.size(); ++series) {
    for (std::uint32_t number = 0; number < by_backend.rows_[series].size(); ++number) {
      const std::uint64_t count = by_backend.count_at(number, series);
      if (count > 0) add_to(number, static_cast<std::uint16_t>(series), count);
    }
    by_backend.rows_[series] = Row();
  }
  for (const Pair& pair : by_backend.pairs_) {
    if (pair.key_plus_1 == 0) continue;
    const std::uint64_t key = pair.key_plus_1 - 1;
    add_to(static_cast<std::uint32_t>(key >> 16), static_cast<std::uint16_t>(key & 0xffff), pair.count);
  }
}

void ExactCounts::drop() {
  *this = ExactCounts();
  dropped_ = true;
}

std::uint64_t ExactCounts::count_at(std::size_t number, std::uint32_t series) const {
  if (!pooled_ && !is_reply(series)) {
    const Pair* pair = find_pair(pair_key_of(number, series));
    return pair == nullptr ? 0 : pair->count;
  }
  if (series >= rows_.size() || number >= rows_[series].size()) return 0;
  const std::uint64_t low = rows_[series][number];
  if (carries_.empty()) return low;
  const auto carry = carries_.find((static_cast<std::uint64_t>(series) << 32) | number);
  if (carry == carries_.end()) return low;
  return carry->second > kCarryMax ? std::numeric_limits<std::uint64_t>::max() : (carry->second << 16) + low;
}

}  // namespace overdue
