#include "overdue/latency/doubt.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <utility>

#include "overdue/base/check.h"
#include "overdue/base/quantity.h"
#include "overdue/latency/doubt_parts.h"
#include "overdue/latency/doubt_rules.h"
#include "overdue/latency/measurement.h"

namespace overdue {
namespace {

using namespace std::chrono_literals;

constexpr Duration kShortLog = 5min;
constexpr std::size_t kBlocks = 256;
constexpr std::size_t kBlocksMin = 32;
constexpr double kFewEpisodes = 10;
// Ten late calls, as at 0.1 % of 10,000, cannot show a little dependence: by chance alone the VIF of
// independent ones is above 1 in 2.5 % of logs, above 2.5 in 0.3 %.
constexpr double kEpisodeVif = 2.5;
constexpr std::size_t kHeapsShown = 3;

std::string shown(Duration value) { return format_duration(value); }

// Of a length below `limit`: never the limit itself, as 299.8 s would be, which is 5 min to three digits.
std::string shown_below(Duration value, Duration limit) {
  if (shown(value) != shown(limit)) return shown(value);
  return fmt::format("{:.1f} s", std::floor(static_cast<double>(value.count()) / 1e8) / 10);
}

// Those that need no more than the table, the context or a count.
class PlainDoubts {
 public:
  PlainDoubts(const Measurement& measurement, const EndingTable& table, const DoubtContext& context)
      : measurement_(measurement), table_(table), context_(context) {}

  std::vector<Doubt> find() {
    unit_mismatch();
    clock_step();
    zero_latency();
    set_aside();
    slow_or_lost();
    abandonment_matters();
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
    const std::uint64_t zeros = measurement_.exact_zeros();
    const std::uint64_t without = context_.without_latency;
    if (!context_.outcome_unknown || zeros + without == 0) return;
    const std::string rows = without == 0 ? fmt::format("{} rows took exactly 0", format_count(zeros))
                             : zeros == 0 ? fmt::format("{} rows have no latency", format_count(without))
                                          : fmt::format("{} rows took exactly 0, {} have no latency",
                                                        format_count(zeros), format_count(without));
    raise("zero_latency",
          "{} and nothing says how they ended: lost calls are often stored so. Name the column that tells "
          "(--map ending=... or status=...), or leave them out with --where.",
          rows);
  }

  void set_aside() {
    constexpr std::uint64_t kRowsMin = 5;  // Fewer are torn lines at the ends of files.
    const RowsSetAside& rows = context_.set_aside;
    const double share =
        static_cast<double>(rows.count) / static_cast<double>(std::max<std::uint64_t>(rows.all, 1));
    if (rows.count < kRowsMin || share <= context_.accept_false.value()) return;
    raise(
        "set_aside",
        "{} of {} rows ({}) were set aside, most for: {}. If they were calls, and other ones than those that "
        "were read, lost ones above all, the figures are wrong by as much.",
        format_count(rows.count), format_count(rows.all), format_rate(share), rows.reason);
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

  // Timed out after nobody knows how long: no rate counts them, for a call that was watched for 0 s says
  // nothing.
  void untimed_timeouts(std::uint64_t timed_out, std::uint64_t calls) {
    const double share = static_cast<double>(timed_out) / static_cast<double>(calls);
    if (share <= context_.accept_false.value()) return;
    raise("abandonment_matters",
          "{} of the calls timed out after a time that the log does not say. They count as watched for 0 s, "
          "so that "
          "the rates of lost and timed-out calls are without them: name the limit that was in force with "
          "--limit.",
          format_rate(share));
  }

  void abandonment_matters() {
    const std::optional<Duration> timeout = context_.recommended ? context_.recommended : context_.point;
    if (!timeout) return;
    std::uint64_t calls = 0;
    std::uint64_t abandoned = 0;
    std::uint64_t untimed = 0;
    for (const EndingRow& row : table_) {
      calls += row.replied + row.reset + row.gave_up();
      abandoned += row.low < *timeout ? row.abandoned : 0;
      untimed += row.high == Duration(0) ? row.timed_out : 0;
    }
    if (calls == 0) return;
    untimed_timeouts(untimed, calls);
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
                   shown_below(covered, kShortLog));
    }
    const Measurement::Starts starts = measurement_.starts();
    if (starts.counts.empty()) return;  // Histograms of intervals: of their calls only those are known.
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
    const auto mixed_at = [this](Probability accept_false) {
      return find_mixed_routes(measurement_.replies_by_route(), measurement_.give_ups_by_route(),
                               accept_false);
    };
    auto found = mixed_at(context_.accept_false);
    // Without advice the tails may be cut off where the wait was, at one place for all: the medians are not.
    if (!found && !context_.recommended) found = mixed_at(Probability(0.5));
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
  const EndingTable& table_;
  const DoubtContext& context_;
  std::vector<Doubt> doubts_;
};

std::vector<Doubt> doubt_of_caller_limit(const EndingTable& table, std::optional<Duration> limit) {
  const auto found = find_caller_limit(table, limit);
  if (!found) return {};
  const std::string counts = fmt::format("Callers give up at {}: {} of {}", shown(found->at),
                                         format_count(found->count), format_count(found->of));
  if (found->abandoned) {
    return {
        {"caller_limit",
         fmt::format("{} that left did so then. That is a timeout of theirs, and {}.", counts,
                     table.back().mid <= found->at ? "nothing slower than it can be seen here"
                                                   : "slower replies are seen only of calls without it")}};
  }
  return {
      {"caller_limit",
       fmt::format("{} timed-out calls were cut then, well before the limit of the others. Some callers have "
                   "a shorter timeout of their own; look at them apart with --where.",
                   counts)}};
}

std::vector<Doubt> doubt_of_heaping(const EndingTable& table) {
  const std::vector<Heap> heaps = find_heaps(table);
  if (heaps.empty()) return {};
  std::string at;
  for (std::size_t i = 0; i < std::min(heaps.size(), kHeapsShown); ++i) {
    at += fmt::format("{}{} ({} replies, about {:.0f} expected)", i == 0 ? "" : ", ", shown(heaps[i].at),
                      format_count(heaps[i].count), heaps[i].expected);
  }
  return {
      {"heaping",
       fmt::format("Replies pile up at {}{}. Something below waits by the clock: a hidden retry, a "
                   "retransmission, a timer. A timeout just under such a value cuts all of them; find what "
                   "waits there first.",
                   at, std::ranges::any_of(heaps, &Heap::ladder) ? ", a ladder of equal steps" : "")}};
}

void append(std::vector<Doubt>& doubts, std::vector<Doubt> more) {
  doubts.insert(doubts.end(), std::move_iterator(more.begin()), std::move_iterator(more.end()));
}

}  // namespace

std::vector<Doubt> find_doubts(const Measurement& measurement, const DoubtContext& context) {
  const EndingTable table = context.table == nullptr ? measurement.table() : EndingTable();
  DoubtContext with_table = context;
  if (context.table == nullptr) with_table.table = &table;
  return find_doubts(measurement, with_table, doubts_without_advice(measurement, with_table), run_in_turn);
}

std::vector<Doubt> doubts_without_advice(const Measurement& measurement, const DoubtContext& context) {
  OVERDUE_CHECK(context.table != nullptr);
  std::vector<Doubt> doubts = doubts_over_time(measurement, *context.table, context.filled_in);
  append(doubts, doubt_of_caller_limit(*context.table, context.limit));
  return doubts;
}

std::vector<Doubt> find_doubts(const Measurement& measurement, const DoubtContext& context,
                               std::vector<Doubt> without_advice, const RunBoth& run_both) {
  OVERDUE_CHECK(context.table != nullptr);
  std::vector<Doubt> doubts;
  std::vector<Doubt> heaping;
  run_both(
      [&] {
        doubts = PlainDoubts(measurement, *context.table, context).find();
        append(doubts, doubts_of_late_calls(measurement, *context.table, context));
      },
      [&] { heaping = doubt_of_heaping(*context.table); });
  append(doubts, doubts_of_replicas(context));
  append(doubts, std::move(heaping));
  append(doubts, std::move(without_advice));
  std::ranges::stable_sort(doubts, {},
                           [](const Doubt& doubt) { return std::ranges::find(kDoubtCodes, doubt.code); });
  return doubts;
}

}  // namespace overdue
