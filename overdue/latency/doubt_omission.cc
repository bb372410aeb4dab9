#include <algorithm>

#include "overdue/latency/bounds.h"
#include "overdue/latency/doubt_rules.h"

// Coordinated omission: a client that waits for each answer before the next call sends nothing while the
// service stands still, so the log holds one long call where it should hold a hundred.

namespace overdue {
namespace {

constexpr std::int64_t kMedians = 10;
constexpr double kExpectedMin = 10;
constexpr double kStartedShare = 0.5;
constexpr double kChance = 0.001;
constexpr std::int64_t kOutsideParts = 10;    // Less than a tenth of the log says little of its usual rate.
constexpr std::int64_t kCellsPerStretch = 4;  // A stretch of so many cells is counted from its first one.
constexpr std::int64_t kAround = 4;           // Its lengths before it and after it that tell the rate.
constexpr double kRatesDiffer = 2;
constexpr double kGapsPerStretch = 1.5;

struct Stretch {
  WallTime from{};
  WallTime to{};
};

// The union of the intervals longer than `longer_than`, in order and apart. Cut at `begin`, and at the end of
// the log, which no interval passes but one whose end does not fit a WallTime.
std::vector<Stretch> union_of(std::span<const Measurement::Interval> intervals, Duration longer_than,
                              WallTime begin, WallTime end) {
  std::vector<Stretch> stretches;
  for (const auto& interval : intervals) {
    if (interval.elapsed <= longer_than || interval.start >= end) continue;
    const Duration room = end - interval.start;
    const Stretch stretch{std::max(interval.start, begin), interval.start + std::min(interval.elapsed, room)};
    if (stretch.from < stretch.to) stretches.push_back(stretch);
  }
  std::ranges::sort(stretches, {}, &Stretch::from);
  std::vector<Stretch> apart;
  for (const Stretch& stretch : stretches) {
    if (!apart.empty() && stretch.from <= apart.back().to) {
      apart.back().to = std::max(apart.back().to, stretch.to);
    } else {
      apart.push_back(stretch);
    }
  }
  return apart;
}

struct Inside {
  std::uint64_t started = 0;
  Duration length{};  // Of whole cells of starts().
};

// Half again as long as the usual gap: a client that calls each 15 s sends nothing within 10 s.
bool is_longer_than_usual(const Stretch& stretch, Duration gap) {
  return stretch.to - stretch.from > gap + gap / 2;
}

struct Outside {
  std::int64_t cells = 0;
  std::uint64_t started = 0;
};

// Starts a cell around a stretch. Where it rose or fell by more than twice there, the lower: the load may
// have gone just then.
double rate_of(const Outside& before, const Outside& after) {
  const auto rate = [](const Outside& side) {
    return static_cast<double>(side.started) / static_cast<double>(side.cells);
  };
  if (before.cells > 0 && after.cells > 0) {
    const auto [lower, higher] = std::minmax({rate(before), rate(after)});
    const auto shorter = static_cast<double>(std::min(before.cells, after.cells));
    if (higher * shorter >= kExpectedMin && higher > kRatesDiffer * lower) return lower;
  }
  return rate({before.cells + after.cells, before.started + after.started});
}

// The starts, on the log's own cells, with what the long calls say of them.
class StartCounts {
 public:
  explicit StartCounts(const Measurement::Starts& starts) : starts_(starts) {}

  WallTime begin_of(std::size_t cell) const {
    return starts_.first_cell_start + starts_.cell_length * static_cast<std::int64_t>(cell);
  }
  std::size_t cell_of(WallTime at) const {
    const Duration into = std::max(at - starts_.first_cell_start, Duration{});
    return std::min(static_cast<std::size_t>(into / starts_.cell_length), starts_.counts.size());
  }

  // The first cell in which a call started that took no longer than `usual`. A log that is written as calls
  // end begins with long calls, begun when nothing else was logged yet. nullopt: no such call.
  std::optional<std::size_t> first_with_others(std::span<const Measurement::Interval> longest,
                                               Duration usual) const {
    std::vector<std::uint32_t> long_ones(starts_.counts.size());
    for (const auto& interval : longest) {
      const std::size_t cell = cell_of(interval.start);
      if (interval.elapsed > usual && cell < long_ones.size()) ++long_ones[cell];
    }
    for (std::size_t cell = 0; cell < starts_.counts.size(); ++cell) {
      if (starts_.counts[cell] > long_ones[cell]) return cell;
    }
    return std::nullopt;
  }

  // The gap between starts in which the middle of the time outside the stretches lies. nullopt: no time does.
  std::optional<Duration> usual_gap(std::span<const Stretch> stretches, std::size_t from) const {
    std::vector<std::int64_t> gaps;  // In cells.
    std::int64_t time = 0;
    auto stretch = stretches.begin();
    std::size_t last = from;
    for (std::size_t cell = from + 1; cell < starts_.counts.size(); ++cell) {
      if (starts_.counts[cell] == 0) continue;
      while (stretch != stretches.end() && stretch->to <= begin_of(last)) ++stretch;
      if (stretch == stretches.end() || stretch->from >= begin_of(cell)) {
        gaps.push_back(static_cast<std::int64_t>(cell - last));
        time += gaps.back();
      }
      last = cell;
    }
    std::ranges::sort(gaps);
    std::int64_t seen = 0;
    for (const std::int64_t gap : gaps) {
      seen += gap;
      if (seen * 2 >= time) return starts_.cell_length * gap;
    }
    return std::nullopt;
  }

  // The cells of a stretch, from the one it begins in, or, where cells are long, from the next.
  Inside inside(const Stretch& stretch) const {
    std::size_t first = cell_of(stretch.from);
    const std::size_t end = cell_of(stretch.to);
    const bool is_fine = starts_.cell_length * kCellsPerStretch <= stretch.to - stretch.from;
    if (!is_fine) ++first;
    if (end <= first) return {};
    std::uint64_t started = 0;
    for (std::size_t cell = first; cell < end; ++cell) started += starts_.counts[cell];
    // The long call itself.
    if (is_fine && started > 0) --started;
    return {.started = started, .length = starts_.cell_length * static_cast<std::int64_t>(end - first)};
  }
  // Of a stretch, what lies after the last start: nothing can have started there.
  Duration after_last_start(const Stretch& stretch) const {
    return std::max(stretch.to - std::max(begin_of(starts_.counts.size()), stretch.from), Duration{});
  }

 private:
  const Measurement::Starts& starts_;
};

// The rates outside the stretches, near each: a service is called more by day than at night, and its slow
// calls may all be those of the night.
class RatesAround {
 public:
  // From the cell `from` on.
  RatesAround(const StartCounts& starts, const Measurement::Starts& counts,
              std::span<const Stretch> stretches, std::size_t from)
      : starts_(starts), cell_length_(counts.cell_length), up_to_(counts.counts.size() + 1) {
    std::vector<bool> covered(counts.counts.size());
    for (const Stretch& stretch : stretches) {
      const std::size_t end = std::min(starts.cell_of(stretch.to) + 1, covered.size());
      for (std::size_t cell = starts.cell_of(stretch.from); cell < end; ++cell) covered[cell] = true;
    }
    for (std::size_t cell = 0; cell < covered.size(); ++cell) {
      up_to_[cell + 1] = up_to_[cell];
      if (cell < from || covered[cell]) continue;
      ++up_to_[cell + 1].cells;
      up_to_[cell + 1].started += counts.counts[cell];
    }
  }

  // How many starts were due in `length` of a stretch. nullopt: hardly any time near it lies outside, or it
  // is no longer than the gaps around it.
  std::optional<double> due(const Stretch& stretch, Duration length) const {
    const std::int64_t wanted =
        std::max<std::int64_t>((stretch.to - stretch.from) / cell_length_ * kAround, 1);
    const Outside& begin = up_to_[starts_.cell_of(stretch.from)];
    const Outside& end = up_to_[std::min(starts_.cell_of(stretch.to) + 1, up_to_.size() - 1)];
    const auto first = std::ranges::lower_bound(up_to_, begin.cells - wanted, {}, &Outside::cells);
    const auto last = std::ranges::lower_bound(up_to_, end.cells + wanted, {}, &Outside::cells);
    const Outside before = between(*first, begin);
    const Outside after = between(end, last == up_to_.end() ? up_to_.back() : *last);
    if ((before.cells + after.cells) * kAround < wanted || before.cells + after.cells == 0)
      return std::nullopt;
    const double rate = rate_of(before, after);
    const double cells = static_cast<double>(length.count()) / static_cast<double>(cell_length_.count());
    if (rate * cells <= kGapsPerStretch) return std::nullopt;
    return rate * cells;
  }

 private:
  static Outside between(const Outside& from, const Outside& to) {
    return {.cells = to.cells - from.cells, .started = to.started - from.started};
  }

  const StartCounts& starts_;
  const Duration cell_length_;
  std::vector<Outside> up_to_;  // Before each cell, and after the last.
};

}  // namespace

std::optional<Omission> find_omission(const OmissionInput& input) {
  if (input.starts == nullptr || input.starts->counts.empty() || input.longest.empty() || !input.median)
    return {};
  if (input.starts->cell_length <= Duration{}) return {};
  const Duration longest = std::ranges::max(input.longest, {}, &Measurement::Interval::elapsed).elapsed;
  const Duration medians = *input.median > longest / kMedians ? longest : *input.median * kMedians;
  const Duration longer_than = std::max(medians, longest / 2);

  const StartCounts starts(*input.starts);
  const auto first_cell = starts.first_with_others(input.longest, medians);
  if (!first_cell) return {};
  const WallTime begin = std::max(starts.begin_of(*first_cell), input.first_start);
  const std::vector<Stretch> stretches = union_of(input.longest, longer_than, begin, input.last_end);
  const auto gap = starts.usual_gap(stretches, *first_cell);
  if (!gap) return {};

  const RatesAround rates(starts, *input.starts, stretches, *first_cell);
  Omission omission;
  Duration inside{};
  Duration span = input.last_end - begin;
  for (const auto& interval : input.longest) omission.long_calls += interval.elapsed > longer_than ? 1 : 0;
  for (const Stretch& stretch : stretches) {
    omission.stood_still += stretch.to - stretch.from;
    span -= starts.after_last_start(stretch);
    if (!is_longer_than_usual(stretch, *gap)) continue;
    const Inside here = starts.inside(stretch);
    inside += here.length;
    const auto due = rates.due(stretch, here.length);
    if (!due) continue;
    omission.started += here.started;
    omission.expected += *due;
  }
  if (span - inside < span / kOutsideParts) return {};
  const auto started = static_cast<double>(omission.started);
  if (omission.expected < kExpectedMin || started >= kStartedShare * omission.expected) return {};
  if (poisson_at_most(started, omission.expected) >= kChance) return {};
  return omission;
}

}  // namespace overdue
