#include "overdue/latency/doubt.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "overdue/base/quantity.h"
#include "overdue/latency/compare.h"
#include "overdue/latency/doubt_rules.h"
#include "overdue/latency/measurement.h"

namespace overdue {
namespace {

using namespace std::chrono_literals;

constexpr Duration kShortLog = 5min;
constexpr std::size_t kBlocks = 256;
constexpr std::size_t kBlocksMin = 32;
constexpr double kFewEpisodes = 10;
// Below this the episodes are single calls, whose number the interval counts already; and of independent
// calls one log in a hundred has a VIF just above 1.
constexpr double kEpisodeVif = 1.5;
constexpr std::uint64_t kLateMin = 30;
constexpr std::size_t kNamesShown = 3;

constexpr std::uint32_t kSecondsShift = 2;  // Measurement::seconds(): 16 buckets an octave.

Duration seconds_middle_of(std::uint32_t bucket) {
  const Duration low = LatencyHistogram::low_of(bucket << kSecondsShift);
  return low + (LatencyHistogram::low_of((bucket + 1) << kSecondsShift) - low) / 2;
}

std::string shown(Duration value) { return format_duration(value); }

std::string shown(const std::optional<Duration>& value) {
  return value ? format_duration(*value) : "beyond the limit";
}

// The measurement's tables and series, made once for all rules.
class Doubts {
 public:
  Doubts(const Measurement& measurement, const DoubtContext& context)
      : measurement_(measurement),
        context_(context),
        table_(measurement.table()),
        seconds_(seconds_cells()) {}

  std::vector<Doubt> find() {
    unit_mismatch();
    clock_step();
    zero_latency();
    slow_or_lost();
    abandonment_matters();
    slow_replica();
    failing_replica();
    change();
    coordinated_omission();
    caller_limit();
    heaping();
    bursts();
    load();
    few_episodes();
    short_log();
    mixed_routes();
    server_side_log();
    return std::move(doubts_);
  }

 private:
  template <typename... Values>
  void raise(std::string_view code, fmt::format_string<Values...> text, Values&&... values) {
    doubts_.push_back({std::string(code), fmt::format(text, std::forward<Values>(values)...)});
  }

  void unit_mismatch() {
    if (!context_.unit_doubt.empty()) raise("unit_mismatch", "{}", context_.unit_doubt);
  }

  void clock_step() {
    const std::uint64_t negative = measurement_.negative_elapsed;
    if (negative == 0) return;
    const double rows = static_cast<double>(measurement_.attempts() + negative);
    raise("clock_step",
          "{} rows ended before they began ({}) and were set aside: the clock was stepped. High latencies "
          "next to them "
          "may be the same step, and would then be no latencies either; a monotonic clock has no steps.",
          format_count(negative), format_rate(static_cast<double>(negative) / rows));
  }

  void zero_latency() {
    if (!context_.outcome_unknown || measurement_.exact_zeros() == 0) return;
    raise("zero_latency",
          "{} rows took exactly 0 and nothing says how they ended: lost calls are often stored as 0. Name "
          "the column "
          "that tells (--map ending=... or status=...), or leave them out with --where.",
          format_count(measurement_.exact_zeros()));
  }

  void slow_or_lost() {
    using OpenCalls = DoubtContext::OpenCalls;
    const std::string open = format_rate(context_.open_share);
    const std::string wait = context_.longest_wait ? shown(*context_.longest_wait) : "the longest wait";
    const std::string accepted = format_rate(context_.accept_false.value());
    switch (context_.open_calls) {
      case OpenCalls::not_judged:
      case OpenCalls::enough:
        return;
      case OpenCalls::lost:
        return raise(
            "slow_or_lost",
            "{} of the calls were still open at {} and, as replies had ceased long before, read as lost. If "
            "they are only slow, nothing below {} meets {}. A few calls watched for longer would tell.",
            open, wait, wait, accepted);
      case OpenCalls::slow:
        return raise(
            "slow_or_lost",
            "{} of the calls were still open at {} and replies were still coming: they look slow, not lost, "
            "and no timeout below {} is known to meet {}. Let a share of the calls wait longer.",
            open, wait, wait, accepted);
      case OpenCalls::cannot_tell:
        return raise("slow_or_lost",
                     "{} of the calls were still open at {}, too few replies came late to tell whether they "
                     "are slow or "
                     "lost, and {} depends on it. A longer limit for some calls, or more calls, would tell.",
                     open, wait, accepted);
    }
  }

  void abandonment_matters() {
    const std::optional<Duration> timeout = context_.recommended ? context_.recommended : context_.point;
    if (!timeout) return;
    std::uint64_t calls = 0;
    std::uint64_t abandoned = 0;
    for (const EndingRow& row : table_) {
      calls += row.replied + row.reset + row.gave_up();
      abandoned += row.low < *timeout ? row.abandoned : 0;
    }
    if (calls == 0) return;
    const double share = static_cast<double>(abandoned) / static_cast<double>(calls);
    if (share <= context_.accept_false.value()) return;
    const std::string if_slow = context_.timeout_if_abandoned_slow
                                    ? shown(*context_.timeout_if_abandoned_slow)
                                    : "no timeout that the log supports";
    const std::string if_lost = context_.timeout_if_abandoned_lost
                                    ? shown(*context_.timeout_if_abandoned_lost)
                                    : "no timeout that the log supports";
    raise("abandonment_matters",
          "{} of the calls were abandoned by their callers before {}, more than the accepted {}. They are "
          "taken to be "
          "like the others; if all were lost it is {}, if all were slower, {}.",
          format_rate(share), shown(*timeout), format_rate(context_.accept_false.value()), if_lost, if_slow);
  }

  // "a", "a and b", "a, b, c and 4 more".
  template <typename Pick>
  std::string names_where(const Pick& pick, const ReplicaRow** first) const {
    std::vector<const ReplicaRow*> rows;
    for (const ReplicaRow& row : context_.comparison->rows) {
      if (pick(row)) rows.push_back(&row);
    }
    *first = rows.empty() ? nullptr : rows.front();
    std::string text;
    for (std::size_t i = 0; i < std::min(rows.size(), kNamesShown); ++i) {
      const bool last = i + 1 == rows.size();
      text += (i == 0 ? "" : last ? " and " : ", ") + rows[i]->name;
    }
    if (rows.size() > kNamesShown) text += fmt::format(" and {} more", rows.size() - kNamesShown);
    return text;
  }

  void slow_replica() {
    if (context_.comparison == nullptr) return;
    const ReplicaRow* first = nullptr;
    const std::string differing =
        names_where([](const ReplicaRow& row) { return row.judgement == ReplicaJudgement::differ; }, &first);
    if (first != nullptr) {
      const bool two = context_.comparison->fleet == FleetJudgement::differ;
      return raise("slow_replica",
                   "{} ({}: median {}){}. Nothing says which are abnormal, so all are counted in. Compare "
                   "each with its "
                   "own past.",
                   differing + (two ? " differ" : " are slower than the rest"), first->name,
                   shown(first->median), two ? "" : ", half of the fleet or more");
    }
    const std::string slow = names_where([](const ReplicaRow& row) { return row.slow; }, &first);
    if (first != nullptr) return raise_slow(slow, slow_figures(*first), first->backend);
    const std::string tail = names_where([](const ReplicaRow& row) { return row.slow_tail; }, &first);
    if (first == nullptr) return;
    raise_slow(tail,
               fmt::format("slow in the tail: {} of its calls above the fleet's p95, {} of the others'",
                           format_rate(first->tail_share), format_rate(first->tail_share_of_others)),
               first->backend);
  }

  static std::string slow_figures(const ReplicaRow& row) {
    if (!row.times_fleet_median) return fmt::format("slow: median {}", shown(row.median));
    return fmt::format("slow: median {}, {:.1f} times the fleet's", shown(row.median),
                       *row.times_fleet_median);
  }

  void raise_slow(const std::string& names, const std::string& figures, std::uint16_t backend) {
    const bool left_out = std::ranges::binary_search(context_.comparison->left_out, backend);
    std::string consequence = "Counted in.";
    if (left_out && context_.pooled) {
      consequence = fmt::format("Left out; counted in, the timeout would be {}.", shown(*context_.pooled));
    } else if (left_out) {
      consequence = "Left out; counted in, there would be no timeout to advise.";
    }
    raise("slow_replica", "{} {}. {} Mend or eject it.", names, figures, consequence);
  }

  void failing_replica() {
    if (context_.comparison == nullptr) return;
    const ReplicaRow* first = nullptr;
    const std::string names = names_where([](const ReplicaRow& row) { return row.failing; }, &first);
    if (first == nullptr) return;
    raise("failing_replica",
          "{}: {} of {} attempts of {} were rejected, reset or refused, far more than of the others'. Left "
          "out; fast "
          "failures are no fast replies. Mend or eject it.",
          names, format_rate(first->failure_rate), format_count(first->attempts), first->name);
  }

  // The calls that waited, in the finer of the two series over time.
  struct WaitedCells {
    std::vector<SparseCounts> cells;
    Duration length{};
    WallTime start{};
    Duration (*middle_of)(std::uint32_t) = &LatencyHistogram::middle_of;
  };

  WaitedCells waited_cells() const {
    const TimeGrid& blocks = measurement_.blocks();
    if (blocks.empty() || blocks.block_count() < measurement_.seconds().block_count()) {
      if (measurement_.seconds().empty()) return {};
      return {seconds_, measurement_.seconds().block_length(), measurement_.seconds().first_block_start(),
              &seconds_middle_of};
    }
    WaitedCells waited{{}, blocks.block_length(), blocks.first_block_start(), &LatencyHistogram::middle_of};
    std::vector<std::uint64_t> sums;
    for (std::uint32_t block = 0; block < blocks.block_count(); ++block) {
      sums.assign(LatencyHistogram::kBucketCount, 0);
      for (std::uint32_t series = 0; series < blocks.series_count(); ++series) {
        const auto ending = static_cast<Ending>(series % kEndingCount);
        if (ending != Ending::replied && ending != Ending::timed_out && ending != Ending::abandoned) continue;
        add_counts(blocks.at(series, block), sums);
      }
      waited.cells.push_back(sparse(sums));
    }
    return waited;
  }

  static void add_counts(const BucketCounts& counts, std::vector<std::uint64_t>& sums) {
    for (std::uint32_t i = 0; i < counts.size(); ++i) {
      const std::uint32_t bucket = counts.first() + i;
      if (bucket < sums.size()) sums[bucket] += counts.count_at(bucket);
    }
  }

  static SparseCounts sparse(const std::vector<std::uint64_t>& sums) {
    SparseCounts counts;
    for (std::size_t bucket = 0; bucket < sums.size(); ++bucket) {
      if (sums[bucket] > 0) counts.push_back({static_cast<std::uint32_t>(bucket), sums[bucket]});
    }
    return counts;
  }

  std::vector<SparseCounts> seconds_cells() const {
    const TimeGrid& grid = measurement_.seconds();
    std::vector<SparseCounts> cells;
    if (grid.empty() || grid.series_count() == 0) return cells;
    for (std::uint32_t block = 0; block < grid.block_count(); ++block) {
      const BucketCounts& counts = grid.at(0, block);
      SparseCounts& cell = cells.emplace_back();
      for (std::uint32_t i = 0; i < counts.size(); ++i) {
        const std::uint64_t count = counts.count_at(counts.first() + i);
        if (count > 0) cell.push_back({counts.first() + i, count});
      }
    }
    return cells;
  }

  void change() {
    const WaitedCells waited = waited_cells();
    const auto found = find_change(waited.cells, waited.middle_of);
    if (!found) return;
    const WallTime at = waited.start + waited.length * static_cast<std::int64_t>(found->after_cell);
    const Duration into = at - measurement_.first_start().value_or(at);
    raise("change",
          "The p{:g} went from {} to {} about {} after the start ({:.0f} % of the calls). One timeout for "
          "both is right for "
          "neither: look at the two parts apart with --since and --until; the later one is today's.",
          found->quantile.value() * 100, shown(waited.middle_of(found->before)),
          shown(waited.middle_of(found->after)), shown(std::max(into, Duration{})), found->after_share * 100);
  }

  void coordinated_omission() {
    if (context_.filled_in || measurement_.with_start() == 0) return;
    const Measurement::Starts starts = measurement_.starts();
    const std::vector<Measurement::Interval> longest = measurement_.longest();
    const auto found = find_omission({.starts = &starts,
                                      .longest = longest,
                                      .median = median_elapsed(),
                                      .first_start = *measurement_.first_start(),
                                      .last_end = *measurement_.last_end()});
    if (!found) return;
    raise("coordinated_omission",
          "During {} long calls, {} in all, {} calls started where {:.0f} were due: the client waited for "
          "answers before "
          "it sent more, so the slow time is under-counted. If it meant to call at a fixed rate, "
          "--expected-interval counts the missing ones.",
          format_count(found->long_calls), shown(found->stood_still), format_count(found->started),
          found->expected);
  }

  std::optional<Duration> median_elapsed() const {
    std::uint64_t calls = 0;
    for (const EndingRow& row : table_) calls += row.replied + row.gave_up();
    std::uint64_t seen = 0;
    for (const EndingRow& row : table_) {
      seen += row.replied + row.gave_up();
      if (seen > 0 && seen >= rank_of(Quantile(0.5), calls)) return row.mid;
    }
    return std::nullopt;
  }

  void caller_limit() {
    const auto found = find_caller_limit(table_, context_.limit);
    if (!found) return;
    if (found->abandoned) {
      return raise("caller_limit",
                   "Callers give up at {}: {} of {} that left did so then. That is a timeout of theirs, and "
                   "nothing slower "
                   "than it can be seen here.",
                   shown(found->at), format_count(found->count), format_count(found->of));
    }
    raise("caller_limit",
          "Callers give up at {}: {} of {} timed-out calls were cut then, well before the limit of the "
          "others. Some "
          "callers have a shorter timeout of their own; look at them apart with --where.",
          shown(found->at), format_count(found->count), format_count(found->of));
  }

  void heaping() {
    const std::vector<Heap> heaps = find_heaps(table_);
    if (heaps.empty()) return;
    const bool ladder = std::ranges::any_of(heaps, &Heap::ladder);
    std::string at;
    for (std::size_t i = 0; i < std::min(heaps.size(), kNamesShown); ++i) {
      at += fmt::format("{}{} ({} replies, about {:.0f} expected)", i == 0 ? "" : ", ", shown(heaps[i].at),
                        format_count(heaps[i].count), heaps[i].expected);
    }
    raise("heaping",
          "Replies pile up at {}{}. Something below waits by the clock: a hidden retry, a retransmission, a "
          "timer. A timeout "
          "just under such a value cuts all of them; find what waits there first.",
          at, ladder ? ", a ladder of equal steps" : "");
  }

  void bursts() {
    const auto cells = late_cells();
    const auto found = find_bursts(cells);
    if (!found) return;
    raise("bursts",
          "Late calls come together: {} of them fell into {} of {} stretches of {}, {:.1f} times as uneven "
          "as chance. "
          "They have a cause in common (a pause, a restart, a full queue), and whoever waits then waits "
          "together.",
          format_count(found->late), format_count(found->cells_with_late), format_count(found->cells),
          shown(measurement_.seconds().block_length()), found->dispersion);
  }

  // Late: above the advised point, if at least 30 calls are, else above the p99.
  std::vector<LateOfCalls> late_cells() const {
    std::vector<LateOfCalls> cells;
    std::uint64_t late = 0;
    if (context_.point && *context_.point > Duration{}) {
      cells = cells_later_than(LatencyHistogram::bucket_of(*context_.point) >> kSecondsShift);
      for (const LateOfCalls& cell : cells) late += cell.late;
    }
    if (late >= kLateMin) return cells;
    std::vector<std::uint64_t> sums((LatencyHistogram::kBucketCount >> kSecondsShift) + 1);
    std::uint64_t calls = 0;
    for (const SparseCounts& cell : seconds_) {
      for (const BucketCount& entry : cell) {
        sums[std::min<std::size_t>(entry.bucket, sums.size() - 1)] += entry.count;
        calls += entry.count;
      }
    }
    if (calls == 0) return {};
    std::uint64_t seen = 0;
    std::uint32_t bucket = 0;
    while (seen + sums[bucket] < rank_of(Quantile(0.99), calls)) seen += sums[bucket++];
    return cells_later_than(bucket);
  }

  std::vector<LateOfCalls> cells_later_than(std::uint32_t bucket) const {
    std::vector<LateOfCalls> cells;
    for (const SparseCounts& second : seconds_) {
      LateOfCalls& cell = cells.emplace_back();
      for (const BucketCount& entry : second) {
        cell.calls += entry.count;
        cell.late += entry.bucket > bucket ? entry.count : 0;
      }
    }
    return cells;
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

  void few_episodes() {
    if (context_.vif < kEpisodeVif || context_.effective_late_calls <= 0) return;
    if (context_.effective_late_calls >= kFewEpisodes) return;
    raise("few_episodes",
          "The late calls come from about {:.0f} episodes, not from independent calls (variance {:.1f} times "
          "as large). "
          "A longer log, with more of them, would make the interval narrower and more honest.",
          std::max(1.0, context_.effective_late_calls), context_.vif);
  }

  void short_log() {
    if (measurement_.with_start() == 0) return;
    const Duration covered = *measurement_.last_start() - *measurement_.first_start();
    if (covered < kShortLog) {
      return raise("short_log",
                   "The log covers {}, less than 5 min: slower rhythms (backups, deploys, the hour) are not "
                   "in it, and the "
                   "interval cannot know of them.",
                   shown(covered));
    }
    const Measurement::Starts starts = measurement_.starts();
    std::array<bool, kBlocks> used{};
    for (std::size_t i = 0; i < starts.counts.size(); ++i) {
      if (starts.counts[i] > 0) used[i * kBlocks / starts.counts.size()] = true;
    }
    const auto blocks = static_cast<std::size_t>(std::ranges::count(used, true));
    if (blocks >= kBlocksMin) return;
    raise("short_log",
          "Only {} of {} equal stretches of the log hold a call: it shows a few moments of {}, and the "
          "interval cannot "
          "know of the rest.",
          blocks, kBlocks, shown(covered));
  }

  void mixed_routes() {
    const std::vector<LatencyHistogram>& routes = measurement_.replies_by_route();
    const auto found = find_mixed_routes(routes, context_.accept_false);
    if (!found) return;
    const auto name = [this](std::size_t id) {
      const std::string& known = measurement_.routes().name_of(static_cast<std::uint16_t>(id));
      return known.empty() ? std::string("(no route)") : known;
    };
    raise("mixed_routes",
          "Routes differ too much for one timeout: p{:.4g} is {} on {} and {} on {}. Use --by route and give "
          "each its own.",
          found->quantile.value() * 100, shown(found->fastest_at), name(found->fastest),
          shown(found->slowest_at), name(found->slowest));
  }

  void server_side_log() {
    if (!context_.server_side) return;
    raise("server_side_log", "{}",
          "This is the server's own log: connection pool, DNS, TLS, network and queues before it are not in "
          "it, so "
          "callers wait longer than it says. A caller's or a proxy's log is the one to set a timeout by.");
  }

  const Measurement& measurement_;
  const DoubtContext& context_;
  const EndingTable table_;
  const std::vector<SparseCounts> seconds_;
  std::vector<Doubt> doubts_;
};

constexpr Duration kRemoteCallMin = 10us;
constexpr Duration kRemoteCallMax = 20s;

bool is_remote_call(double nanoseconds) {
  return nanoseconds >= static_cast<double>(kRemoteCallMin.count()) &&
         nanoseconds <= static_cast<double>(kRemoteCallMax.count());
}

}  // namespace

std::vector<Doubt> find_doubts(const Measurement& measurement, const DoubtContext& context) {
  return Doubts(measurement, context).find();
}

std::optional<std::string> unit_doubt(Duration median, NamedUnit named) {
  constexpr std::array<std::string_view, 4> kUnits = {"seconds", "milliseconds", "microseconds",
                                                      "nanoseconds"};
  const auto value = static_cast<double>(median.count());
  if (value <= 0 || is_remote_call(value)) return std::nullopt;
  const auto unit = static_cast<std::size_t>(named);
  const bool too_long = value > static_cast<double>(kRemoteCallMax.count());
  if (too_long ? unit + 1 == kUnits.size() : unit == 0) return std::nullopt;
  const double otherwise = too_long ? value / 1000 : value * 1000;
  if (!is_remote_call(otherwise)) return std::nullopt;
  return fmt::format(
      "The name says {}, which makes the median {}; in {} it would be {}. Likely {} recorded as {}: name the "
      "unit to settle it.",
      kUnits[unit], format_duration(median), kUnits[too_long ? unit + 1 : unit - 1],
      format_duration(Duration(static_cast<std::int64_t>(otherwise))), kUnits[too_long ? unit + 1 : unit - 1],
      kUnits[unit]);
}

}  // namespace overdue
