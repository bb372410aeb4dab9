#include <algorithm>
#include <numeric>

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

  std::uint64_t from(std::size_t cell) const {
    return std::accumulate(starts_.counts.begin() + static_cast<std::ptrdiff_t>(cell), starts_.counts.end(),
                           std::uint64_t{0});
  }
  // The cells of a stretch, from the one it begins in, or, where cells are long, from the next.
  void add_inside(const Stretch& stretch, Inside& inside) const {
    std::size_t first = cell_of(stretch.from);
    const std::size_t end = cell_of(stretch.to);
    const bool is_fine = starts_.cell_length * kCellsPerStretch <= stretch.to - stretch.from;
    if (!is_fine) ++first;
    if (end <= first) return;
    std::uint64_t started = 0;
    for (std::size_t cell = first; cell < end; ++cell) started += starts_.counts[cell];
    // The long call itself.
    if (is_fine && started > 0) --started;
    inside.started += started;
    inside.length += starts_.cell_length * static_cast<std::int64_t>(end - first);
  }
  // Of a stretch, what lies after the last start: nothing can have started there.
  Duration after_last_start(const Stretch& stretch) const {
    return std::max(stretch.to - std::max(begin_of(starts_.counts.size()), stretch.from), Duration{});
  }

 private:
  const Measurement::Starts& starts_;
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

  Omission omission;
  Inside inside;
  Duration outside = input.last_end - begin;
  for (const auto& interval : input.longest) omission.long_calls += interval.elapsed > longer_than ? 1 : 0;
  for (const Stretch& stretch : stretches) {
    omission.stood_still += stretch.to - stretch.from;
    outside -= starts.after_last_start(stretch);
    if (is_longer_than_usual(stretch, *gap)) starts.add_inside(stretch, inside);
  }
  const Duration span = outside;
  outside -= inside.length;
  if (outside <= Duration{} || inside.length <= Duration{}) return {};
  if (outside < span / kOutsideParts) return {};
  const double rate =
      static_cast<double>(starts.from(*first_cell) - inside.started) / static_cast<double>(outside.count());
  omission.started = inside.started;
  omission.expected = rate * static_cast<double>(inside.length.count());
  const auto started = static_cast<double>(inside.started);
  if (omission.expected < kExpectedMin || started >= kStartedShare * omission.expected) return {};
  if (poisson_at_most(started, omission.expected) >= kChance) return {};
  return omission;
}

}  // namespace overdue
