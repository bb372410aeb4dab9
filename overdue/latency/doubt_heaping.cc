#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <numeric>
#include <utility>

#include "overdue/latency/bounds.h"
#include "overdue/latency/doubt_rules.h"

// Doubts about calls that pile up at one latency: replies (a hidden retry, a timer, a retransmission) and
// give-ups (a limit of the caller's own).

namespace overdue {
namespace {

using namespace std::chrono_literals;

constexpr int kCellsPerOctave = 32;
constexpr std::size_t kWindow = 3;  // Cells in a window; neighbours lie one cell away on either side.
constexpr std::uint64_t kHeapMin = 10;
constexpr double kHeapFactor = 3;
constexpr double kNeighbourMin = 2;
constexpr double kHeapChance = 1e-7;
constexpr double kTicksPerWindow = 2;  // Any two windows then hold numbers of ticks within a factor 1.5.
constexpr double kTickShare = 0.99;

constexpr std::uint64_t kPileMin = 5;

struct Pile {
  std::size_t cell = 0;  // The middle one.
  std::uint64_t count = 0;
};

// Counts by latency in cells of 1/32 octave.
class OctaveCells {
 public:
  template <typename CountOf>
  OctaveCells(const EndingTable& table, const CountOf& count_of) {
    // The table ascends: all rows of a cell lie together, and a few logarithms find their end.
    auto row = std::ranges::upper_bound(table, Duration{}, {}, &EndingRow::mid);
    while (row != table.end()) {
      const std::size_t cell = cell_of(row->mid);
      const auto end = std::partition_point(
          row, table.end(), [cell](const EndingRow& one) { return cell_of(one.mid) == cell; });
      std::uint64_t count = 0;
      for (; row != end; ++row) count += count_of(*row);
      if (count == 0) continue;
      if (cell >= counts_.size()) counts_.resize(cell + 1);
      counts_[cell] += count;
    }
  }

  static std::size_t cell_of(Duration latency) {
    return static_cast<std::size_t>(
        std::floor(kCellsPerOctave * std::log2(static_cast<double>(latency.count()))));
  }
  std::size_t size() const { return counts_.size(); }
  // The window of 3 cells around `middle`; 0 outside.
  std::uint64_t window(std::ptrdiff_t middle) const {
    std::uint64_t sum = 0;
    for (std::ptrdiff_t cell = middle - 1; cell <= middle + 1; ++cell) {
      if (cell >= 0 && cell < std::ssize(counts_)) sum += counts_[static_cast<std::size_t>(cell)];
    }
    return sum;
  }
  std::uint64_t larger_neighbour(std::size_t middle) const {
    const auto at = static_cast<std::ptrdiff_t>(middle);
    constexpr auto kAway = static_cast<std::ptrdiff_t>(kWindow) + 1;
    return std::max(window(at - kAway), window(at + kAway));
  }
  Pile largest_window() const {
    Pile pile;
    for (std::size_t cell = 0; cell < counts_.size(); ++cell) {
      const std::uint64_t count = window(static_cast<std::ptrdiff_t>(cell));
      if (count > pile.count) pile = {cell, count};
    }
    return pile;
  }

 private:
  std::vector<std::uint64_t> counts_;
};

// The middle one of the calls in the window around `cell`: where they pile up, since most are of the pile.
template <typename CountOf>
Duration middle_of_window(const EndingTable& table, const Pile& pile, const CountOf& count_of) {
  std::uint64_t seen = 0;
  const auto is_before = [&pile](const EndingRow& row) {
    return row.mid <= Duration{} || OctaveCells::cell_of(row.mid) + 1 < pile.cell;
  };
  for (auto row = std::ranges::partition_point(table, is_before); row != table.end(); ++row) {
    if (count_of(*row) == 0) continue;
    seen += count_of(*row);
    if (seen * 2 >= pile.count) return row->mid;
  }
  return {};
}

bool nearly_all_are_multiples(const EndingTable& table, std::uint64_t replies, Duration step) {
  const auto enough = [replies](std::uint64_t whole) {
    return static_cast<double>(whole) >= kTickShare * static_cast<double>(replies);
  };
  std::uint64_t whole = replies;  // At most.
  for (auto row = table.begin(); row != table.end() && enough(whole); ++row) {
    if (row->low != row->high || row->low % step != Duration{}) whole -= row->replied;
  }
  return enough(whole);
}

// What the most frequent latencies are all multiples of: the tick of a clock that does not count in powers of
// ten (4 ms, 15.625 ms). Of few values that is no tick.
Duration common_step(const EndingTable& table) {
  constexpr std::size_t kLooked = 8;
  if (table.size() < kLooked) return Duration(1);
  std::vector<EndingRow> most(kLooked);
  std::ranges::partial_sort_copy(table, most, std::greater<>{}, &EndingRow::replied, &EndingRow::replied);
  std::int64_t step = 0;
  for (const EndingRow& row : most) step = std::gcd(step, row.low.count());
  return Duration(std::max<std::int64_t>(step, 1));
}

// The coarsest step that nearly all latencies are whole multiples of: the tick of the log's clock.
Duration tick_of(const EndingTable& table, std::uint64_t replies) {
  Duration least{1};
  if (const Duration common = common_step(table); nearly_all_are_multiples(table, replies, common))
    least = common;
  for (const Duration tick : {Duration(1s), Duration(100ms), Duration(10ms), Duration(1ms), Duration(100us),
                              Duration(10us), Duration(1us)}) {
    if (tick <= least || nearly_all_are_multiples(table, replies, tick)) return std::max(tick, least);
  }
  return least;
}

struct Replies {
  std::uint64_t count = 0;
  Duration median{};
  Duration tick{1};
};

Replies replies_of(const EndingTable& table) {
  Replies replies;
  for (const EndingRow& row : table) replies.count += row.replied;
  if (replies.count == 0) return replies;
  std::uint64_t seen = 0;
  for (const EndingRow& row : table) {
    seen += row.replied;
    if (seen < rank_of(Quantile(0.5), replies.count)) continue;
    replies.median = row.mid;
    break;
  }
  replies.tick = tick_of(table, replies.count);
  return replies;
}

bool stands_out(std::uint64_t count, double expected) {
  const auto observed = static_cast<double>(count);
  return count >= kHeapMin && observed >= kHeapFactor * expected &&
         poisson_at_least(observed, expected) < kHeapChance;
}

void mark_ladders(std::vector<Heap>& heaps) {
  for (Heap& step : heaps) {
    for (const Heap& other : heaps) {
      const double times = static_cast<double>(other.at.count()) / static_cast<double>(step.at.count());
      if (std::abs(times - 2) < 0.06 || std::abs(times - 3) < 0.09) step.ladder = true;
    }
  }
}

// The least latency from which a window is wide enough to hold ticks evenly.
Duration coarse_below(Duration tick) {
  const double window_share = std::exp2(static_cast<double>(kWindow) / kCellsPerOctave) - 1;
  return Duration(
      static_cast<std::int64_t>(kTicksPerWindow * static_cast<double>(tick.count()) / window_share));
}

std::uint64_t count_replied(const EndingRow& row) { return row.replied; }
std::uint64_t count_abandoned(const EndingRow& row) { return row.abandoned; }

}  // namespace

std::vector<Heap> find_heaps(const EndingTable& table) {
  const Replies replies = replies_of(table);
  if (replies.count < kHeapMin) return {};
  const OctaveCells cells(table, count_replied);
  const Duration least = std::max(replies.median, coarse_below(replies.tick));
  std::vector<Pile> candidates;
  for (std::size_t cell = least > Duration{} ? OctaveCells::cell_of(least) + 3 : 0; cell < cells.size();
       ++cell) {
    const std::uint64_t count = cells.window(static_cast<std::ptrdiff_t>(cell));
    const double expected = std::max(static_cast<double>(cells.larger_neighbour(cell)), kNeighbourMin);
    if (stands_out(count, expected)) candidates.push_back({cell, count});
  }
  std::ranges::stable_sort(candidates, std::greater<>{}, &Pile::count);
  std::vector<Heap> heaps;
  std::vector<std::size_t> taken;
  for (const Pile& pile : candidates) {
    const bool overlaps = std::ranges::any_of(taken, [&pile](std::size_t cell) {
      return (cell > pile.cell ? cell - pile.cell : pile.cell - cell) < 2 * kWindow;
    });
    if (overlaps) continue;
    taken.push_back(pile.cell);
    const double expected = std::max(static_cast<double>(cells.larger_neighbour(pile.cell)), kNeighbourMin);
    heaps.push_back({middle_of_window(table, pile, count_replied), pile.count, expected, false});
  }
  mark_ladders(heaps);
  return heaps;
}

std::optional<CallerLimit> find_caller_limit(const EndingTable& table, std::optional<Duration> limit) {
  std::uint64_t abandoned = 0;
  std::uint64_t timed_out = 0;
  Duration last{};
  for (const EndingRow& row : table) {
    abandoned += row.abandoned;
    timed_out += row.timed_out;
    if (row.timed_out > 0) last = row.mid;
  }
  const Duration known = limit.value_or(last);
  const auto at_known_limit = [known](Duration at) { return at * 10 >= known * 9 && at * 10 <= known * 11; };

  const Pile left = abandoned > 0 ? OctaveCells(table, count_abandoned).largest_window() : Pile();
  if (left.count >= kPileMin && left.count * 2 >= abandoned) {
    const Duration at = middle_of_window(table, left, count_abandoned);
    if (!limit || !at_known_limit(at)) return CallerLimit{at, left.count, abandoned, true};
  }
  const auto count_cut_early = [known](const EndingRow& row) {
    return row.mid * 10 < known * 9 ? row.timed_out : std::uint64_t{0};
  };
  const Pile cut = timed_out > 0 ? OctaveCells(table, count_cut_early).largest_window() : Pile();
  if (cut.count >= kPileMin && cut.count * 5 >= timed_out) {
    return CallerLimit{middle_of_window(table, cut, count_cut_early), cut.count, timed_out, false};
  }
  return std::nullopt;
}

}  // namespace overdue
