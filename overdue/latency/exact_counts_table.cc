#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include "overdue/base/check.h"
#include "overdue/base/saturating.h"
#include "overdue/latency/exact_counts.h"
#include "overdue/latency/sort_by_digits.h"

// Tables from exact counts. Replies, nearly all there is, are brought into the order of the latencies once
// and added up row by row; the few others are sorted and woven in.

namespace overdue {
namespace {

constexpr std::size_t kTogether = 64;

struct Numbered {
  std::uint64_t latency = 0;
  std::uint32_t number = 0;
};

}  // namespace

// The numbers of the latencies, least latency first. Those at places of their own stand in order as they are.
std::vector<std::uint32_t> ExactCounts::numbers_by_latency() const {
  std::vector<Numbered> others;
  others.reserve(slots_used_);
  for (const Slot& slot : slots_) {
    if (slot.latency_plus_1 != 0) others.push_back({slot.latency_plus_1 - 1, slot.number});
  }
  sort_by_digits(others, [](const Numbered& other) { return other.latency; });
  std::vector<std::uint32_t> numbers(latencies_.size() + 1);
  std::uint32_t* next = numbers.data();
  std::uint64_t place = 0;
  const auto take_places_until = [&](std::uint64_t end) {
    for (; place < end; ++place) {  // Written whether it is there or not: no branch could foresee that.
      *next = direct_[place] - 1;
      next += direct_[place] != 0 ? 1 : 0;
    }
  };
  for (const Numbered& other : others) {
    take_places_until(std::min<std::uint64_t>(direct_.size(), other.latency / kMicrosecond + 1));
    *next++ = other.number;
  }
  take_places_until(direct_.size());
  numbers.pop_back();
  return numbers;
}

const ExactCounts::Index& ExactCounts::index(const RunBoth& run_both) const {
  if (index_.is_fresh) return index_;
  index_ = {};
  const std::vector<std::uint32_t> numbers = numbers_by_latency();
  index_.latencies.reserve(numbers.size());
  for (const std::uint32_t number : numbers) index_.latencies.push_back(latencies_[number]);
  index_.replies.resize(rows_.size());
  // The others take as long as the replies of half the backends: three parts and one make equal jobs.
  const auto index_replies = [&](std::uint32_t first_part, std::uint32_t parts_end) {
    for (std::uint32_t series = 0; series < rows_.size(); ++series) {
      const std::uint32_t part = series / kEndingCount % 4;
      if (is_reply(series) && !rows_[series].empty() && part >= first_part && part < parts_end)
        index_.replies[series] = rows_[series].in_order(numbers);
    }
  };
  run_both([&] { index_replies(0, 3); },
           [&] {
             index_others();
             index_replies(3, 4);
           });
  index_.is_fresh = true;
  return index_;
}

void ExactCounts::index_others() const {
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
  sort_by_digits(others,
                 [](const Index::Other& other) { return static_cast<std::uint64_t>(other.latency.count()); });
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
}

std::span<const ExactCounts::Index::Other> ExactCounts::others_of(const Index& sorted,
                                                                  std::uint16_t backend) const {
  const std::size_t end = backend + std::size_t{1};
  if (end >= sorted.others_of.size()) return {};
  const std::uint32_t begin = sorted.others_of[backend];
  return std::span(sorted.others_by_backend).subspan(begin, sorted.others_of[end] - begin);
}

// Nothing where it has no replies.
const ExactCounts::Row* ExactCounts::replies_of(const Index& sorted, std::uint16_t backend) {
  const std::size_t series = backend * kEndingCount;
  return series < sorted.replies.size() && !sorted.replies[series].empty() ? &sorted.replies[series]
                                                                           : nullptr;
}

std::vector<std::optional<Duration>> ExactCounts::replies_at(std::uint16_t backend,
                                                             std::span<const std::uint64_t> ranks) const {
  OVERDUE_CHECK(!dropped_ && !pooled_);
  std::vector<std::optional<Duration>> latencies(ranks.size());
  const Index& sorted = index();
  const Row* const row = replies_of(sorted, backend);
  const std::span<const Index::Other> others = others_of(sorted, backend);
  auto carry = others.begin();
  std::size_t found = 0;
  std::uint64_t seen = 0;
  const std::size_t count = sorted.latencies.size();
  for (std::size_t at = 0; at < count && found < ranks.size();) {
    const bool has_carries = carry != others.end();
    if (row != nullptr && at + kTogether <= count &&
        (!has_carries || carry->latency > sorted.latencies[at + kTogether - 1])) {
      // None of the ranks among the next: then they need not be looked at one by one.
      const std::uint64_t together = row->sum(at, at + kTogether);
      if (saturating_sum(seen, together) < ranks[found]) {
        seen += together;
        at += kTogether;
        continue;
      }
    }
    for (const std::size_t end = std::min(at + kTogether, count); at < end; ++at) {
      const Duration latency = sorted.latencies[at];
      if (row != nullptr) seen = saturating_sum(seen, std::uint64_t{(*row)[at]});
      for (; carry != others.end() && carry->latency <= latency; ++carry) {
        if (is_reply(carry->series)) seen = saturating_sum(seen, carry->count);
      }
      for (; found < ranks.size() && seen >= ranks[found]; ++found) latencies[found] = latency;
    }
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
  const Row* const row = replies_of(sorted, backend);
  const std::span<const Index::Other> others = others_of(sorted, backend);
  std::size_t at = 0;
  // The replies up to and with `last`, and the latency of the last of them.
  const auto replies_until = [&](Duration last) {
    EndingRow joined;
    const auto begin = sorted.latencies.begin() + static_cast<std::ptrdiff_t>(at);
    const auto end =
        at + static_cast<std::size_t>(std::ranges::upper_bound(begin, sorted.latencies.end(), last) - begin);
    const std::size_t from = std::exchange(at, end);
    if (row == nullptr) return joined;
    joined.replied = row->sum(from, end);
    std::size_t last_reply = end;
    while (joined.replied > 0 && (*row)[last_reply - 1] == 0) --last_reply;
    if (joined.replied > 0) joined.low = sorted.latencies[last_reply - 1];
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
  const Index& sorted = index();
  std::vector<std::uint32_t> replies(sorted.latencies.size());  // 4,097 backends of 65,535: no overflow.
  for (std::uint32_t series = 0; series < sorted.replies.size(); ++series) {
    if (is_in(series)) sorted.replies[series].add_to(replies);
  }
  auto other = sorted.others.begin();
  for (std::size_t at = 0; at < replies.size(); ++at) {
    const Duration latency = sorted.latencies[at];
    const bool has_others = other != sorted.others.end() && other->latency == latency;
    if (replies[at] == 0 && !has_others) continue;
    EndingRow row{.low = latency, .mid = latency, .high = latency, .replied = replies[at]};
    for (; other != sorted.others.end() && other->latency == latency; ++other) {
      if (is_in(other->series)) row.add(static_cast<Ending>(other->series % kEndingCount), other->count);
    }
    if (!row.is_empty()) visit(row);
  }
}

}  // namespace overdue
