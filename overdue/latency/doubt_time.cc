#include "overdue/latency/doubt_parts.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "overdue/base/quantity.h"
#include "overdue/latency/doubt_rules.h"
#include "overdue/latency/later_than.h"
#include "overdue/latency/measurement.h"
#include "overdue/latency/seen_past.h"

namespace overdue {
namespace {

constexpr std::uint64_t kLateMin = 30;

constexpr std::uint32_t kSecondsShift = 2;  // Measurement::seconds(): 16 buckets an octave.

Duration seconds_middle_of(std::uint32_t bucket) {
  const Duration low = LatencyHistogram::low_of(bucket << kSecondsShift);
  return low + (LatencyHistogram::low_of((bucket + 1) << kSecondsShift) - low) / 2;
}

std::string shown(Duration value) { return format_duration(value); }

template <typename... Values>
Doubt doubt(std::string_view code, fmt::format_string<Values...> text, Values&&... values) {
  return {std::string(code), fmt::format(text, std::forward<Values>(values)...)};
}

template <typename CountOf>
std::optional<Duration> latency_at(const EndingTable& table, Quantile q, const CountOf& count_of) {
  std::uint64_t calls = 0;
  for (const EndingRow& row : table) calls += count_of(row);
  std::uint64_t seen = 0;
  for (const EndingRow& row : table) {
    seen += count_of(row);
    if (seen > 0 && seen >= rank_of(q, calls)) return row.mid;
  }
  return std::nullopt;
}

// Of the calls of each stretch of `cells`, the share that could have been seen later than `latency`. How a
// call ended only the blocks know: the share is that of the blocks that a stretch has a part in.
std::vector<double> shares_seen_past(const Measurement& measurement, const EndingTable& table,
                                     Duration latency) {
  const TimeGrid& cells = measurement.seconds();
  const TimeGrid& blocks = measurement.blocks();
  const SeenPast seen(latency, table);
  std::vector<double> shares(cells.block_count(), 1.0);
  if (seen.everybody() || blocks.empty()) return shares;
  std::vector<std::uint16_t> backends(measurement.backends().size());
  std::iota(backends.begin(), backends.end(), std::uint16_t{0});
  std::vector<double> calls(shares.size());
  std::vector<double> all(shares.size());
  for (std::uint32_t block = 0; block < blocks.block_count(); ++block) {
    const SeenPast::Count count = seen.in(blocks, block, backends);
    const Duration from =
        blocks.first_block_start() + block * blocks.block_length() - cells.first_block_start();
    const auto first = std::max<std::int64_t>(from / cells.block_length(), 0);
    const auto last = (from + blocks.block_length() - Duration(1)) / cells.block_length();
    for (std::int64_t cell = first; cell <= last && cell < std::ssize(shares); ++cell) {
      calls[static_cast<std::size_t>(cell)] += count.calls;
      all[static_cast<std::size_t>(cell)] += static_cast<double>(count.all_calls);
    }
  }
  for (std::size_t cell = 0; cell < shares.size(); ++cell) {
    if (all[cell] > 0) shares[cell] = calls[cell] / all[cell];
  }
  return shares;
}

std::vector<LateOfCalls> cells_later_than(const Measurement& measurement, const EndingTable& table,
                                          Duration latency) {
  const TimeGrid& seconds = measurement.seconds();
  const LaterThan later(latency, table, LaterThan::Of::all_calls, kSecondsShift);
  std::vector<LateOfCalls> cells;
  if (seconds.empty() || seconds.series_count() == 0) return cells;
  const std::vector<double> seen = shares_seen_past(measurement, table, latency);
  for (std::uint32_t block = 0; block < seconds.block_count(); ++block) {
    const BucketCounts& counts = seconds.at(0, block);
    const LaterThan::Count late = later.in(counts);
    cells.push_back({.calls = std::max(seen[block] * static_cast<double>(counts.total()), late.expected),
                     .late = late.expected,
                     .spread = late.spread});
  }
  return cells;
}

// Late: above the advised point, if at least 30 calls are, else above the replies' p99.
std::vector<LateOfCalls> late_cells(const Measurement& measurement, const EndingTable& table,
                                    std::optional<Duration> point) {
  std::vector<LateOfCalls> cells;
  double late = 0;
  if (point && *point > Duration{}) {
    cells = cells_later_than(measurement, table, *point);
    for (const LateOfCalls& cell : cells) late += cell.late;
  }
  if (late >= kLateMin) return cells;
  const auto p99 = latency_at(table, Quantile(0.99), [](const EndingRow& row) { return row.replied; });
  return p99 ? cells_later_than(measurement, table, *p99) : std::vector<LateOfCalls>();
}

class TimeDoubts {
 public:
  TimeDoubts(const Measurement& measurement, const EndingTable& table, bool filled_in)
      : measurement_(measurement), table_(table), filled_in_(filled_in), seconds_(seconds_cells()) {}

  std::vector<Doubt> find() {
    change();
    coordinated_omission();
    load();
    return std::move(doubts_);
  }

 private:
  template <typename... Values>
  void raise(std::string_view code, fmt::format_string<Values...> text, Values&&... values) {
    doubts_.push_back(doubt(code, text, std::forward<Values>(values)...));
  }

  // The calls that waited, over time.
  struct WaitedCells {
    std::vector<BucketCounts> own;  // Where they are, if they are not the seconds.
    std::vector<const BucketCounts*> replied;
    std::vector<const BucketCounts*> gave_up;
    Duration length{};
    WallTime start{};
    Duration (*middle_of)(std::uint32_t) = &LatencyHistogram::middle_of;
  };

  // Does a call end otherwise than by a reply before nine of ten have replied?
  bool any_without_a_reply_among_the_first() const {
    std::uint64_t calls = 0;
    for (const EndingRow& row : table_) calls += row.replied + row.gave_up();
    std::uint64_t replied = 0;
    for (const EndingRow& row : table_) {
      replied += row.replied;
      if (replied >= calls - calls / 10) return false;
      if (row.gave_up() + row.rejected + row.reset > 0) return true;
    }
    return false;
  }

  // In the finer of the two series over time, but how a call ended only the blocks know.
  bool blocks_are_asked() const {
    constexpr std::uint32_t kBlocksMin = 16;
    const TimeGrid& blocks = measurement_.blocks();
    if (blocks.empty()) return false;
    if (blocks.block_count() >= measurement_.seconds().block_count()) return true;
    return blocks.block_count() >= kBlocksMin && any_without_a_reply_among_the_first();
  }

  WaitedCells waited_cells() const {
    const TimeGrid& blocks = measurement_.blocks();
    const TimeGrid& seconds = measurement_.seconds();
    if (!blocks_are_asked()) {
      if (seconds.empty()) return {};
      return {.replied = seconds_,
              .length = seconds.block_length(),
              .start = seconds.first_block_start(),
              .middle_of = &seconds_middle_of};
    }
    WaitedCells waited{.length = blocks.block_length(), .start = blocks.first_block_start()};
    waited.own.resize(std::size_t{2} * blocks.block_count());
    for (std::uint32_t block = 0; block < blocks.block_count(); ++block) {
      BucketCounts& replied = waited.own[std::size_t{2} * block];
      BucketCounts& gave_up = waited.own[std::size_t{2} * block + 1];
      for (std::uint32_t series = 0; series < blocks.series_count(); ++series) {
        const auto ending = static_cast<Ending>(series % kEndingCount);
        if (ending == Ending::replied) replied.merge(blocks.at(series, block));
        if (ending == Ending::timed_out || ending == Ending::abandoned)
          gave_up.merge(blocks.at(series, block));
      }
      waited.replied.push_back(&replied);
      waited.gave_up.push_back(&gave_up);
    }
    return waited;
  }

  std::vector<const BucketCounts*> seconds_cells() const {
    const TimeGrid& grid = measurement_.seconds();
    std::vector<const BucketCounts*> cells;
    if (grid.empty() || grid.series_count() == 0) return cells;
    cells.reserve(grid.block_count());
    for (std::uint32_t block = 0; block < grid.block_count(); ++block) cells.push_back(&grid.at(0, block));
    return cells;
  }

  void change() {
    const WaitedCells waited = waited_cells();
    const auto found = find_change({waited.replied, waited.gave_up}, waited.middle_of);
    if (!found) return;
    const WallTime at = waited.start + waited.length * static_cast<std::int64_t>(found->after_cell);
    const Duration into = at - measurement_.first_start().value_or(at);
    const auto latency = [&waited](const Change::At& where) {
      return (where.seen ? "" : "more than ") + shown(waited.middle_of(where.bucket));
    };
    raise("change",
          "The p{:g} went from {} to {} about {} after the start ({:.0f} % of the calls). One timeout for "
          "both is right for "
          "neither: look at the two parts apart with --since and --until; the later one is today's.",
          found->quantile.value() * 100, latency(found->before), latency(found->after),
          shown(std::max(into, Duration{})), found->after_share * 100);
  }

  void coordinated_omission() {
    if (filled_in_ || measurement_.with_start() == 0) return;
    const Measurement::Starts starts = measurement_.starts();
    const std::vector<Measurement::Interval> longest = measurement_.longest();
    const auto waited = [](const EndingRow& row) { return row.replied + row.gave_up(); };
    const auto found = find_omission({.starts = &starts,
                                      .longest = longest,
                                      .median = latency_at(table_, Quantile(0.5), waited),
                                      .first_start = *measurement_.first_start(),
                                      .last_end = *measurement_.last_end()});
    if (!found) return;
    raise("coordinated_omission",
          "During {} long {}, {} in all, {} calls started where {:.0f} were due: the client waited for "
          "answers before "
          "it sent more, so the slow time is under-counted. If it meant to call at a fixed rate, "
          "--expected-interval counts the missing ones.",
          format_count(found->long_calls), found->long_calls == 1 ? "call" : "calls",
          shown(found->stood_still), format_count(found->started), found->expected);
  }

  void load() {
    const auto found = find_load(seconds_, &seconds_middle_of);
    if (!found) return;
    raise("load",
          "It is slower when busier: median {} at {} calls in {}, {} at {}. The timeout is right for the mix "
          "of loads in "
          "this log; under more load calls are slower, and retries add load.",
          shown(seconds_middle_of(found->quiet_median)), format_count(found->quiet_calls),
          shown(measurement_.seconds().block_length()), shown(seconds_middle_of(found->busy_median)),
          format_count(found->busy_calls));
  }

  const Measurement& measurement_;
  const EndingTable& table_;
  const bool filled_in_;
  const std::vector<const BucketCounts*> seconds_;
  std::vector<Doubt> doubts_;
};

}  // namespace

std::vector<Doubt> doubts_over_time(const Measurement& measurement, const EndingTable& table,
                                    bool filled_in) {
  return TimeDoubts(measurement, table, filled_in).find();
}

std::vector<Doubt> doubts_of_late_calls(const Measurement& measurement, const EndingTable& table,
                                        const DoubtContext& context) {
  const std::vector<LateOfCalls> cells = late_cells(measurement, table, context.point);
  const auto found = find_bursts(cells);
  if (!found) return {};
  return {
      doubt("bursts",
            "Late calls come together: {} of them fell into {} of {} stretches of {}, {:.1f} times as uneven "
            "as chance. They have a cause in common (a pause, a restart, a full queue), and whoever waits "
            "then waits together.",
            format_count(found->late), format_count(found->cells_with_late), format_count(found->cells),
            shown(measurement.seconds().block_length()), found->dispersion)};
}

}  // namespace overdue
