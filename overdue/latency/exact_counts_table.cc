#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include "overdue/base/check.h"
#include "overdue/base/saturating.h"
#include "overdue/latency/exact_counts.h"

// Tables from exact counts. Replies, nearly all there is, are added up row by row in the order of the numbers
// and written down in the order of the latencies; the few others are sorted and woven in.

namespace overdue {
namespace {

constexpr std::uint64_t kCarryMax = std::numeric_limits<std::uint64_t>::max() >> 16;

std::uint64_t value_of(Duration latency) { return static_cast<std::uint64_t>(latency.count()); }

// By the least significant digits first; the time is that of a few copies.
template <typename Entry>
void sort_by_digits(std::vector<Entry>& entries) {
  constexpr unsigned kDigitBits = 11;
  constexpr std::uint64_t kDigits = 1U << kDigitBits;
  std::uint64_t all = 0;
  for (const Entry& entry : entries) all |= entry.latency;
  std::vector<Entry> sorted(entries.size());
  for (unsigned shift = 0; shift < 64 && all >> shift != 0; shift += kDigitBits) {
    std::array<std::size_t, kDigits + 1> next{};
    for (const Entry& entry : entries) ++next[((entry.latency >> shift) & (kDigits - 1)) + 1];
    for (std::size_t digit = 1; digit <= kDigits; ++digit) next[digit] += next[digit - 1];
    for (const Entry& entry : entries) sorted[next[(entry.latency >> shift) & (kDigits - 1)]++] = entry;
    entries.swap(sorted);
  }
}

}  // namespace

// Hands over the rows in the order of the latencies; `replies_of(number)` of a latency's number.
template <typename IsIn, typename RepliesOf>
void ExactCounts::weave(const Index& sorted, const IsIn& is_in, const RepliesOf& replies_of,
                        const VisitRow& visit) {
  auto other = sorted.others.begin();
  for (const Index::Numbered& entry : sorted.latencies) {
    const Duration latency(static_cast<std::int64_t>(entry.latency));
    const bool has_others = other != sorted.others.end() && other->latency == latency;
    const std::uint64_t replied = replies_of(entry.number);
    if (replied == 0 && !has_others) continue;
    EndingRow row{.low = latency, .mid = latency, .high = latency, .replied = replied};
    for (; other != sorted.others.end() && other->latency == latency; ++other) {
      if (is_in(other->series)) row.add(static_cast<Ending>(other->series % kEndingCount), other->count);
    }
    if (!row.is_empty()) visit(row);
  }
}

const ExactCounts::Index& ExactCounts::index() const {
  if (index_.is_fresh) return index_;
  index_ = {};
  index_.latencies.resize(latencies_.size());
  for (std::uint32_t number = 0; number < latencies_.size(); ++number)
    index_.latencies[number] = {static_cast<std::uint64_t>(latencies_[number].count()), number};
  sort_by_digits(index_.latencies);
  std::vector<Index::Other>& others = index_.others;
  for (std::uint32_t series = 0; series < rows_.size(); ++series) {
    if (is_reply(series)) continue;
    for (std::size_t number = 0; number < rows_[series].size(); ++number) {
      if (rows_[series][number] > 0) others.push_back({latencies_[number], rows_[series][number], series});
    }
  }
  for (const auto& [key, carry] : carries_) {
    others.push_back({latencies_[key & 0xffff'ffff], std::min(carry, kCarryMax) << 16,
                      static_cast<std::uint32_t>(key >> 32)});
  }
  for (const Pair& pair : pairs_) {
    if (pair.key_plus_1 == 0) continue;
    const std::uint64_t key = pair.key_plus_1 - 1;
    others.push_back({latencies_[key >> 16], pair.count, static_cast<std::uint32_t>(key & 0xffff)});
  }
  std::ranges::sort(others, {}, &Index::Other::latency);
  std::vector<std::uint32_t>& begin_of = index_.others_of;
  for (const Index::Other& other : others) {
    const std::size_t backend = other.series / kEndingCount;
    if (backend + 2 > begin_of.size()) begin_of.resize(backend + 2);
    ++begin_of[backend + 1];
  }
  for (std::size_t backend = 1; backend < begin_of.size(); ++backend)
    begin_of[backend] += begin_of[backend - 1];
  std::vector<std::uint32_t> next = begin_of;
  index_.others_by_backend.resize(others.size());
  for (const Index::Other& other : others)
    index_.others_by_backend[next[other.series / kEndingCount]++] = other;
  index_.is_fresh = true;
  return index_;
}

std::span<const ExactCounts::Index::Other> ExactCounts::others_of(const Index& sorted,
                                                                  std::uint16_t backend) const {
  const std::size_t end = backend + std::size_t{1};
  if (end >= sorted.others_of.size()) return {};
  const std::uint32_t begin = sorted.others_of[backend];
  return std::span(sorted.others_by_backend).subspan(begin, sorted.others_of[end] - begin);
}

const ExactCounts::Row& ExactCounts::replies_of(std::uint16_t backend) const {
  static const Row kNothing;
  const std::size_t series = backend * kEndingCount;
  return series < rows_.size() ? rows_[series] : kNothing;
}

std::vector<std::optional<Duration>> ExactCounts::replies_at(std::uint16_t backend,
                                                             std::span<const std::uint64_t> ranks) const {
  OVERDUE_CHECK(!dropped_ && !pooled_);
  std::vector<std::optional<Duration>> latencies(ranks.size());
  const Index& sorted = index();
  const Row& row = replies_of(backend);
  const std::span<const Index::Other> others = others_of(sorted, backend);
  auto carry = others.begin();
  std::size_t found = 0;
  std::uint64_t seen = 0;
  for (auto entry = sorted.latencies.begin(); entry != sorted.latencies.end() && found < ranks.size();
       ++entry) {
    const Duration latency(static_cast<std::int64_t>(entry->latency));
    if (entry->number < row.size()) seen = saturating_sum(seen, row[entry->number]);
    for (; carry != others.end() && carry->latency <= latency; ++carry) {
      if (is_reply(carry->series)) seen = saturating_sum(seen, carry->count);
    }
    for (; found < ranks.size() && seen >= ranks[found]; ++found) latencies[found] = latency;
  }
  return latencies;
}

std::vector<std::pair<Duration, std::uint64_t>> ExactCounts::ends_of(std::uint16_t backend,
                                                                     Ending ending) const {
  OVERDUE_CHECK(!dropped_ && !pooled_ && ending != Ending::replied);
  std::vector<std::pair<Duration, std::uint64_t>> ends;
  for (const Index::Other& other : others_of(index(), backend)) {
    if (static_cast<Ending>(other.series % kEndingCount) == ending)
      ends.emplace_back(other.latency, other.count);
  }
  return ends;
}

void ExactCounts::visit_joined_rows(std::uint16_t backend, Duration split, const VisitRow& visit) const {
  OVERDUE_CHECK(!dropped_ && !pooled_);
  const Index& sorted = index();
  const Row& row = replies_of(backend);
  const std::span<const Index::Other> others = others_of(sorted, backend);
  auto entry = sorted.latencies.begin();
  // The replies up to and with `last`, and the latency of the last of them.
  const auto replies_until = [&](Duration last) {
    EndingRow joined;
    for (; entry != sorted.latencies.end() && entry->latency <= value_of(last); ++entry) {
      if (entry->number >= row.size() || row[entry->number] == 0) continue;
      joined.replied += row[entry->number];
      joined.low = Duration(static_cast<std::int64_t>(entry->latency));
    }
    return joined;
  };
  const auto hand_over = [&visit](EndingRow joined) {
    joined.mid = joined.high = joined.low;
    if (!joined.is_empty()) visit(joined);
  };
  bool is_split = false;
  for (auto other = others.begin(); other != others.end();) {
    const Duration latency = other->latency;
    if (!is_split && split < latency) {
      hand_over(replies_until(split));
      is_split = true;
    }
    EndingRow joined = replies_until(latency);
    joined.low = latency;
    for (; other != others.end() && other->latency == latency; ++other)
      joined.add(static_cast<Ending>(other->series % kEndingCount), other->count);
    hand_over(joined);
  }
  if (!is_split) hand_over(replies_until(split));
  hand_over(replies_until(Duration::max()));
}

void ExactCounts::visit_rows(const std::vector<bool>& included, const VisitRow& visit) const {
  OVERDUE_CHECK(!dropped_);
  const auto is_in = [&](std::uint32_t series) { return pooled_ || included[series / kEndingCount]; };
  std::vector<const Row*> rows;
  for (std::uint32_t series = 0; series < rows_.size(); ++series) {
    if (is_reply(series) && is_in(series) && !rows_[series].empty()) rows.push_back(&rows_[series]);
  }
  const Index& sorted = index();
  if (rows.size() == 1) {  // A backend's own: its counters as they stand.
    const Row& row = *rows.front();
    weave(
        sorted, is_in, [&row](std::uint32_t number) { return number < row.size() ? row[number] : 0U; },
        visit);
    return;
  }
  std::vector<std::uint32_t> replies(latencies_.size());  // 4,097 backends of 65,535: no overflow.
  for (const Row* row : rows) {
    const std::size_t used = std::min(row->size(), replies.size());  // Rows have room for more.
    for (std::size_t number = 0; number < used; ++number) replies[number] += (*row)[number];
  }
  weave(sorted, is_in, [&replies](std::uint32_t number) { return replies[number]; }, visit);
}

}  // namespace overdue
