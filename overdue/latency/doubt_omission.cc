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

struct Stretch {
  WallTime from{};
  WallTime to{};
};

// The union of the intervals longer than `longer_than`, in order and apart. Cut at the end of the log, which
// no interval passes but one whose end does not fit a WallTime.
std::vector<Stretch> union_of(std::span<const Measurement::Interval> intervals, Duration longer_than,
                              WallTime end) {
  std::vector<Stretch> stretches;
  for (const auto& interval : intervals) {
    if (interval.elapsed <= longer_than || interval.start >= end) continue;
    const Duration room = end - interval.start;
    stretches.push_back({interval.start, interval.start + std::min(interval.elapsed, room)});
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
  Duration length{};  // Of the cells of starts() that lie wholly inside.
};

void add_inside(const Measurement::Starts& starts, const Stretch& stretch, Inside& inside) {
  const Duration cell = starts.cell_length;
  const Duration from = std::max(stretch.from - starts.first_cell_start, Duration{});
  const Duration to = stretch.to - starts.first_cell_start;
  // A call that starts where the stretch starts is the long call itself.
  const auto first = static_cast<std::size_t>(from / cell + 1);
  const auto end = std::min(static_cast<std::size_t>(std::max(to, Duration{}) / cell), starts.counts.size());
  for (std::size_t i = first; i < end; ++i) inside.started += starts.counts[i];
  if (end > first) inside.length += cell * static_cast<std::int64_t>(end - first);
}

}  // namespace

std::optional<Omission> find_omission(const OmissionInput& input) {
  if (input.starts == nullptr || input.starts->counts.empty() || input.longest.empty() || !input.median)
    return {};
  if (input.starts->cell_length <= Duration{}) return {};
  const Duration longest = std::ranges::max(input.longest, {}, &Measurement::Interval::elapsed).elapsed;
  const Duration medians = *input.median > longest / kMedians ? longest : *input.median * kMedians;
  const Duration longer_than = std::max(medians, longest / 2);

  Omission omission;
  for (const auto& interval : input.longest) omission.long_calls += interval.elapsed > longer_than ? 1 : 0;
  Inside inside;
  for (const Stretch& stretch : union_of(input.longest, longer_than, input.last_end)) {
    omission.stood_still += stretch.to - stretch.from;
    add_inside(*input.starts, stretch, inside);
  }
  std::uint64_t all = 0;
  for (const std::uint32_t count : input.starts->counts) all += count;
  const Duration outside = input.last_end - input.first_start - omission.stood_still;
  if (outside <= Duration{} || inside.length <= Duration{}) return {};
  const double rate = static_cast<double>(all - inside.started) / static_cast<double>(outside.count());
  omission.started = inside.started;
  omission.expected = rate * static_cast<double>(inside.length.count());
  const auto started = static_cast<double>(inside.started);
  if (omission.expected < kExpectedMin || started >= kStartedShare * omission.expected) return {};
  if (poisson_at_most(started, omission.expected) >= kChance) return {};
  return omission;
}

}  // namespace overdue
