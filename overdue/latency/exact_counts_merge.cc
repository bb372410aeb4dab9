#include "overdue/latency/exact_counts_merge.h"

#include <algorithm>
#include <limits>

// One ExactCounts added to another. Only rows of counters are long; each belongs to one series of ours, so
// that those of different series can be added at the same time.

namespace overdue {

void ExactCounts::merge(const ExactCounts& other, const std::vector<std::uint16_t>& to_series) {
  Merge merge(*this, other, to_series);
  merge.begin();
  for (std::size_t part = 0; part < Merge::kParts; ++part) merge.add_rows(part);
  merge.finish();
}

std::uint16_t ExactCounts::Merge::own_series(std::uint64_t series) const {
  const std::uint16_t to = theirs_.pooled_ ? static_cast<std::uint16_t>(series) : to_series_[series];
  return ours_.pooled_ ? static_cast<std::uint16_t>(to % kEndingCount) : to;
}

// Afterwards every row is there, and long enough.
void ExactCounts::Merge::begin() {
  if (theirs_.dropped_) ours_.drop();
  if (ours_.dropped_) return;
  ours_.index_ = {};
  if (theirs_.pooled_ && !ours_.pooled_) ours_.pool();
  numbers_.resize(theirs_.distinct());
  for (std::size_t number = 0; number < numbers_.size(); ++number) {
    numbers_[number] = ours_.number_of(static_cast<std::uint64_t>(theirs_.latencies_[number].count()));
    if (ours_.dropped_) return;
  }
  if (numbers_.empty()) return;
  const std::uint32_t greatest = std::ranges::max(numbers_);
  for (std::size_t series = 0; series < theirs_.rows_.size(); ++series) {
    if (!theirs_.rows_[series].empty()) ours_.add_to_row(greatest, own_series(series), 0);
  }
  divide();
}

// Two parts that take equally long. Pooled, several of their rows are one of ours, and all in the first.
void ExactCounts::Merge::divide() {
  constexpr std::size_t kCountersOfAPair = 24;  // A pair is looked for in a table.
  second_from_ = theirs_.rows_.size();
  if (ours_.pooled_) return;
  pairs_in_second_ = ours_.pairs_used_ + theirs_.pairs_used_ <= kPairsMax;
  std::size_t of_first = 0;
  std::size_t of_second = pairs_in_second_ ? kCountersOfAPair * theirs_.pairs_used_ : 0;
  for (const Row& row : theirs_.rows_) of_first += row.size();
  while (second_from_ > 0 && of_second < of_first) {
    of_first -= theirs_.rows_[--second_from_].size();
    of_second += theirs_.rows_[second_from_].size();
  }
}

// Of their counters as they stand: their carries are not in them.
void ExactCounts::Merge::add_rows(std::size_t part) {
  if (ours_.dropped_) return;
  const std::size_t end = part == 0 ? second_from_ : theirs_.rows_.size();
  for (std::size_t series = part == 0 ? 0 : second_from_; series < end; ++series) {
    if (!theirs_.rows_[series].empty()) add_row(own_series(series), theirs_.rows_[series], left_[part]);
  }
  if (part != 0 && pairs_in_second_) add_pairs();
}

void ExactCounts::Merge::add_pairs() {
  for (const Pair& pair : theirs_.pairs_) {
    if (pair.key_plus_1 == 0) continue;
    const std::uint64_t key = pair.key_plus_1 - 1;
    ours_.add_to(numbers_[key >> 16], own_series(key & 0xffff), pair.count);
  }
}

void ExactCounts::Merge::add_row(std::uint16_t series, const Row& theirs, std::vector<Left>& left) {
  Row& ours = ours_.rows_[series];
  const std::size_t size = std::min(theirs.size(), numbers_.size());  // Rows have room for more.
  // Half of them are 0, in no order that a processor could foresee: they are added too.
  for (std::size_t at = 0; at < size; ++at) {
    const std::uint32_t sum = *ours.low(numbers_[at]) + theirs[at];
    if (sum > CounterRow::kLowMax) [[unlikely]] {
      left.push_back({numbers_[at], theirs[at], series});
    } else {
      *ours.low(numbers_[at]) = static_cast<std::uint8_t>(sum);
    }
  }
}

void ExactCounts::Merge::finish() {
  if (ours_.dropped_) return;
  for (const std::vector<Left>& left : left_) {
    for (const Left& one : left) ours_.add_to_row(one.number, one.series, one.count);
  }
  for (const auto& [key, carry] : theirs_.carries_) {
    const std::uint64_t count = carry > kCarryMax ? std::numeric_limits<std::uint64_t>::max() : carry << 16;
    ours_.add_to(numbers_[key & 0xffff'ffff], own_series(key >> 32), count);
  }
  if (!pairs_in_second_) add_pairs();
}

}  // namespace overdue
