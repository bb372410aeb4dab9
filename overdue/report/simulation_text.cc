#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "overdue/base/quantity.h"
#include "overdue/report/simulation_report.h"
#include "overdue/report/text_table.h"
#include "overdue/report/writes_text.h"

namespace overdue {
namespace {

constexpr std::size_t kTimelineRowsMax = 40;  // Longer runs have several seconds a row.
constexpr std::size_t kBarWidth = 24;

std::string share_of(std::uint64_t part, std::uint64_t whole) {
  return whole == 0 ? "" : format_rate(static_cast<double>(part) / static_cast<double>(whole));
}

std::string time_or(const std::optional<Duration>& value, std::string_view otherwise) {
  return value ? format_duration(*value) : std::string(otherwise);
}

// Where any number may be at work there is no share that is.
std::string busy_or_none(const std::optional<double>& utilisation) {
  return utilisation ? format_rate(*utilisation) : "none";
}

// Long names mostly differ at their ends.
std::string capped(const std::string& name) {
  constexpr std::size_t kNameMax = 24;
  return without_middle(name, kNameMax);
}

// `filled` of `whole` as '#', the rest of `total` of it as '.'.
std::string bar(std::uint64_t filled, std::uint64_t total, std::uint64_t whole) {
  if (whole == 0) return "";
  const auto cells = [&](std::uint64_t part) {
    return static_cast<std::size_t>((part * kBarWidth + whole / 2) / whole);
  };
  const std::size_t full = std::min(cells(filled), kBarWidth);
  const std::size_t all = std::clamp(cells(total), full, kBarWidth);
  return std::string(full, '#') + std::string(all - full, '.');
}

bool is_quiet(const TimelineRow& row) {
  return row.offered + row.goodput + row.timeouts + row.retries + row.queue == 0;
}

// A row of the timeline: seconds joined, or a stretch in which nothing was to be told.
struct TimelinePart {
  TimelineRow sum;
  std::optional<std::uint32_t> quiet_until;
};

constexpr std::size_t kQuietMin = 5;  // Seconds with nothing: fewer are shown as they are.

// Of each second, where the stretch of nothing that it is in ends; its own number where there is something.
std::vector<std::size_t> ends_of_quiet(const std::vector<TimelineRow>& timeline) {
  std::vector<std::size_t> ends(timeline.size());
  for (std::size_t i = timeline.size(); i-- > 0;) {
    const bool last = i + 1 == timeline.size();
    ends[i] = !is_quiet(timeline[i]) ? i : last || !is_quiet(timeline[i + 1]) ? i + 1 : ends[i + 1];
  }
  return ends;
}

// `step` rows a part; of a longer stretch of nothing one, and of the last none.
std::vector<TimelinePart> timeline_parts(const std::vector<TimelineRow>& timeline,
                                         const std::vector<std::size_t>& ends, std::size_t step) {
  std::vector<TimelinePart> parts;
  std::size_t joined = step;
  for (std::size_t i = 0; i < timeline.size(); ++i) {
    const TimelineRow& row = timeline[i];
    if (ends[i] == timeline.size()) break;
    if (ends[i] - i >= std::max(kQuietMin, step + 1)) {
      parts.push_back({row, timeline[ends[i]].second});
      joined = step;
      i = ends[i] - 1;
      continue;
    }
    if (joined == step) {
      parts.push_back({row, std::nullopt});
      joined = 1;
      continue;
    }
    ++joined;
    parts.back().sum.join(row);
  }
  return parts;
}

// One character a second: the tenths of the most that there was, a dot for less than one, a space for none.
char tenths(std::uint64_t value, std::uint64_t most) {
  if (value == 0) return ' ';
  const double share = static_cast<double>(value) / static_cast<double>(most);
  const int tenth = std::min(9, static_cast<int>(10 * share));
  return tenth == 0 ? '.' : static_cast<char>('0' + tenth);
}

constexpr std::size_t kSecondsOfALine = 60;
constexpr std::size_t kSecondsMax = 4 * kSecondsOfALine;  // Of a longer run seconds are no use.

// The seconds that the table joins, in lines of sixty.
std::string second_by_second(const std::vector<TimelineRow>& timeline) {
  using Field = std::uint64_t TimelineRow::*;
  static constexpr std::pair<std::string_view, Field> kFields[] = {{"offered", &TimelineRow::offered},
                                                                   {"answered", &TimelineRow::goodput},
                                                                   {"timeouts", &TimelineRow::timeouts},
                                                                   {"retries", &TimelineRow::retries},
                                                                   {"queue", &TimelineRow::queue}};
  TextTable table({2});
  for (std::size_t from = 0; from < timeline.size(); from += kSecondsOfALine) {
    const std::size_t to = std::min(timeline.size(), from + kSecondsOfALine);
    std::string scale;
    for (std::size_t i = from; i < to; i += 10) scale += fmt::format("{:<10}", timeline[i].second);
    table.add({"s", "most", scale.substr(0, scale.find_last_not_of(' ') + 1)});
    for (const auto& [name, field] : kFields) {
      std::uint64_t most = 0;
      for (const TimelineRow& row : timeline) most = std::max(most, row.*field);
      if (most == 0) continue;
      std::string line;
      for (std::size_t i = from; i < to; ++i) line += tenths(timeline[i].*field, most);
      table.add({std::string(name), format_count(most), line});
    }
  }
  return table.text(2);
}

class SimulationWriter {
 public:
  SimulationWriter(const SimulationReport& report, const TextStyle& style)
      : report_(report),
        run_(report.run),
        style_(style),
        width_(static_cast<std::size_t>(std::clamp(style.width, 60, 100))) {}

  std::string write() {
    line(fmt::format("{}, seed {}: {} {} in {}, {} events, hash {:016x}", printable(run_.scenario), run_.seed,
                     format_count(run_.calls.total), run_.calls.total == 1 ? "call" : "calls",
                     format_duration(run_.ended_at), format_count(run_.events), run_.hash));
    if (!report_.about.empty()) text_ += wrapped(printable(report_.about), width_, "  ", "  ");
    if (run_.interrupted)
      line(coloured("31", "Interrupted: this is what had happened by then, and no more."));
    write_callers();
    write_ledger();
    if (run_.writes) {
      heading("writes, which end by proof or at a person");
      text_ += writes_table(*run_.writes);
      text_ += checker_lines(run_.checker, style_);
    }
    write_load();
    write_links();
    write_services();
    write_replicas();
    write_timeline();
    write_expectations();
    return std::move(text_);
  }

 private:
  void line(std::string_view text = "") { text_ += fmt::format("{}\n", text); }
  void heading(std::string_view text) {
    line();
    line(coloured("1", text));
  }
  std::string coloured(std::string_view code, std::string_view text) const {
    return style_.colours ? fmt::format("\x1b[{}m{}\x1b[0m", code, text) : std::string(text);
  }

  void add_latency(std::vector<std::string>& row, const std::vector<LatencyQuantile>& latency) const {
    for (const LatencyQuantile& one : latency) row.push_back(time_or(one.all_calls, "none"));
  }

  void write_callers() {
    heading("what callers saw");
    TextTable table;
    std::vector<std::string> head = {"", "calls", "answered", "rejected", "not sent", "unknown"};
    if (run_.calls.open > 0) head.emplace_back("open");
    for (const LatencyQuantile& one : run_.latency)
      head.push_back(fmt::format("p{:g}", one.quantile.value() * 100));
    table.add(head);
    const auto add = [&](const std::string& name, const CallCounts& calls,
                         const std::vector<LatencyQuantile>& latency) {
      const std::uint64_t ended = calls.total - calls.open;
      std::vector<std::string> row = {capped(printable(name)),         format_count(calls.total),
                                      share_of(calls.answered, ended), share_of(calls.rejected, ended),
                                      share_of(calls.not_sent, ended), share_of(calls.unknown, ended)};
      if (run_.calls.open > 0) row.push_back(format_count(calls.open));
      add_latency(row, latency);
      table.add(std::move(row));
    };
    for (const ClientResult& client : run_.clients) add(client.name, client.calls, client.latency);
    if (run_.clients.size() > 1) add("all", run_.calls, run_.latency);
    text_ += table.text(2);
    const bool any_none =
        std::ranges::any_of(run_.latency, [](const LatencyQuantile& one) { return !one.all_calls; });
    if (any_none) line("  none: that share of the calls never got an answer, however long one waits");
    if (run_.calls.open > 0)
      line(fmt::format(
          "  open: had not ended when the run did; shares, quantiles and goodput are of the other {}",
          format_count(run_.calls.total - run_.calls.open)));
  }

  void write_ledger() {
    heading("what really happened");
    const LedgerCounts& ledger = run_.ledger;
    TextTable table({2});
    const auto add = [&](std::string_view what, std::uint64_t count) {
      table.add({std::string(what), format_count(count), share_of(count, ledger.intents)});
    };
    add("intents", ledger.intents);
    add("applied once", ledger.applied_once);
    add("applied more than once", ledger.duplicates);
    add("never applied", ledger.lost);
    add("caller told unknown, applied", ledger.timed_out_applied);
    add("caller told unknown, not applied", ledger.timed_out_not_applied);
    if (ledger.failed_applied > 0) add("caller told failed, applied", ledger.failed_applied);
    table.add({"executions per intent",
               ledger.intents == 0 ? std::string("none")
                                   : fmt::format("{:.3g}", static_cast<double>(ledger.executions) /
                                                               static_cast<double>(ledger.intents)),
               ""});
    text_ += table.text(2);
  }

  void write_load() {
    heading("load and waste");
    line(fmt::format("  offered {:.4g} calls/s, {:.3g} attempts a call, goodput {}, wasted work {}",
                     run_.offered_per_second, run_.attempts_per_call, format_rate(run_.goodput),
                     format_rate(run_.wasted_work)));
  }

  void write_links() {
    const auto has_abandoned = [](const LinkResult& link) {
      return link.endings[static_cast<std::size_t>(Ending::abandoned)] > 0;
    };
    const bool abandoned = std::ranges::any_of(run_.links, has_abandoned);
    const bool open = std::ranges::any_of(run_.links, [](const LinkResult& link) { return link.open > 0; });
    TextTable table;
    std::vector<std::string> head = {"calls to", "calls",   "attempts", "denied",   "replied",
                                     "rejected", "refused", "reset",    "timed out"};
    if (abandoned) head.emplace_back("abandoned");
    if (open) head.emplace_back("open");
    head.emplace_back("false");
    table.add(std::move(head));
    for (const LinkResult& link : run_.links) {
      const auto count = [&](Ending ending) {
        return format_count(link.endings[static_cast<std::size_t>(ending)]);
      };
      std::vector<std::string> row = {capped(printable(link.name)), format_count(link.calls),
                                      format_count(link.attempts),  format_count(link.retries_denied),
                                      count(Ending::replied),       count(Ending::rejected),
                                      count(Ending::refused),       count(Ending::reset),
                                      count(Ending::timed_out)};
      if (abandoned) row.push_back(count(Ending::abandoned));
      if (open) row.push_back(format_count(link.open));
      row.push_back(format_count(link.false_timeouts));
      table.add(std::move(row));
    }
    text_ += table.text(2);
    write_besides();
    for (const LinkResult& link : run_.links) {
      if (link.connect_failures == 0) continue;
      line(fmt::format("  {}: {} connects failed, the median after {}", printable(link.name),
                       format_count(link.connect_failures), time_or(link.connect_failure_median, "none")));
    }
  }

  // What columns that count calls and attempts do not say of writes.
  void write_besides() {
    for (const LinkResult& link : run_.links) {
      if (link.questions + link.taken_over + link.ordered_again == 0) continue;
      line(fmt::format("  {}: calls taken over {}, ordered again {}; questions beside the attempts {}",
                       printable(link.name), format_count(link.taken_over), format_count(link.ordered_again),
                       format_count(link.questions)));
    }
  }

  void write_services() {
    TextTable table;
    table.add({"service", "arrivals", "executed", "full", "expired", "stopped", "failed", "busy", "wasted",
               "mean wait", "queue"});
    for (const ServiceResult& service : run_.services) {
      table.add({capped(printable(service.name)), format_count(service.arrivals),
                 format_count(service.executions), format_count(service.refused_full),
                 format_count(service.refused_expired + service.refused_late), format_count(service.stopped),
                 format_count(service.failed), busy_or_none(service.utilisation),
                 format_rate(service.wasted_work), time_or(service.wait_mean, "none"),
                 format_count(service.queue_max)});
    }
    text_ += table.text(2);
  }

  void write_replicas() {
    if (run_.replicas.size() < 2) return;
    heading("replicas");
    TextTable table;
    table.add({"", "probe", "median", "timed out", "traffic", "rejected", "busy", "queue", "ejected"});
    for (const ReplicaResult& replica : run_.replicas) {
      table.add({capped(printable(replica_name(run_, replica))),
                 replica.probe_ok ? (*replica.probe_ok ? "ok" : "FAILS") : "none",
                 time_or(replica.median, "none"),
                 replica.timeout_rate ? format_rate(*replica.timeout_rate) : "none",
                 format_rate(replica.traffic_share), format_count(replica.rejected),
                 busy_or_none(replica.utilisation), format_count(replica.queue_max),
                 replica.ejected_at ? fmt::format("at {}", format_duration(*replica.ejected_at)) : "no"});
    }
    text_ += table.text(2);
  }

  void write_timeline() {
    if (run_.timeline.empty()) return;
    const std::vector<std::size_t> ends = ends_of_quiet(run_.timeline);
    std::size_t told = 0;
    for (std::size_t i = 0; i < ends.size(); ++i) told += ends[i] == i ? 1 : 0;
    std::size_t step = std::max<std::size_t>(1, (told + kTimelineRowsMax - 1) / kTimelineRowsMax);
    std::vector<TimelinePart> rows = timeline_parts(run_.timeline, ends, step);
    while (rows.size() > kTimelineRowsMax) {
      step += std::max<std::size_t>(1, step / 8);
      rows = timeline_parts(run_.timeline, ends, step);
    }
    std::uint64_t most = 0;
    for (const TimelinePart& part : rows) most = std::max(most, part.sum.offered);
    const std::size_t seconds = step * run_.timeline_row_seconds;
    if (seconds > 1 && run_.timeline_row_seconds == 1 && run_.timeline.size() <= kSecondsMax) {
      heading("second by second, in tenths of the most: . less than one, blank none");
      text_ += second_by_second(run_.timeline);
    }
    heading(seconds == 1 ? "second by second: # answered, . offered and not answered"
                         : fmt::format("every {} seconds: # answered, . offered and not answered", seconds));
    TextTable table({1});
    table.add({"s", "calls that began then", "offered", "answered", "timeouts", "retries", "queue"});
    const std::size_t width =
        rows.empty() ? 3 : std::max<std::size_t>(3, fmt::formatted_size("{}", rows.back().sum.second));
    for (const auto& [row, quiet_until] : rows) {
      const std::string second = fmt::format("{:>{}}", row.second, width);
      if (quiet_until) {
        table.add({second, fmt::format("nothing until {} s", format_count(*quiet_until))});
        continue;
      }
      table.add({second, bar(row.goodput, row.offered, most), format_count(row.offered),
                 row.offered == 0 ? ""
                                  : fmt::format("{:.0f} %", 100 * static_cast<double>(row.goodput) /
                                                                static_cast<double>(row.offered)),
                 format_count(row.timeouts), format_count(row.retries), format_count(row.queue)});
    }
    text_ += table.text(2);
  }

  void write_expectations() {
    if (report_.cut_short) {
      line();
      line("expectations were not judged: the run was cut short");
      return;
    }
    if (report_.expectations.empty()) return;
    heading("expected");
    for (const ExpectationResult& one : report_.expectations) {
      line(fmt::format("  {}  {}: {}", one.held ? coloured("32", "held  ") : coloured("31", "FAILED"),
                       printable(one.text), one.shown));
      if (!one.why.empty()) text_ += wrapped(printable(one.why), width_, "          ", "          ");
    }
  }

  const SimulationReport& report_;
  const RunResult& run_;
  const TextStyle& style_;
  std::size_t width_;
  std::string text_;
};

// Over what values each expectation ranged.
std::string expectation_rows(const SeedsReport& report, bool only_failed) {
  TextTable table({1});
  bool any = false;
  table.add({"", "over the seeds", "least", "median", "most"});
  for (const SeedsReport::Row& row : report.expectations) {
    const std::uint64_t failed = report.runs - row.held;
    if (only_failed && failed == 0) continue;
    any = true;
    table.add({failed == 0 ? "" : fmt::format("fails on {}", failed), printable(row.text), row.low_shown,
               row.median_shown, row.high_shown});
  }
  return any ? table.text(2) : "";
}

std::string failed_seeds(const SeedsReport& report) {
  constexpr std::size_t kSeedsShown = 20;
  if (report.failed_seeds.empty()) return "";
  if (report.seed_first == report.seed_last)
    return fmt::format("  to see it: {}\n", printable(report.reproduce));
  std::string seeds;
  for (std::size_t i = 0; i < std::min(report.failed_seeds.size(), kSeedsShown); ++i)
    seeds += fmt::format("{}{}", i == 0 ? "" : ", ", report.failed_seeds[i]);
  const std::uint64_t failed = report.runs - report.held;
  if (failed > kSeedsShown) seeds += fmt::format(", ... ({} in all)", format_count(failed));
  return fmt::format("  failed seeds: {}\n  to see the first: {}\n", seeds, printable(report.reproduce));
}

}  // namespace

std::string simulation_text(const SimulationReport& report, const TextStyle& style) {
  return SimulationWriter(report, style).write();
}

SeedsReport sum_of(const std::vector<SeedsReport>& reports) {
  SeedsReport sum;
  for (const SeedsReport& report : reports) {
    sum.runs += report.runs;
    sum.held += report.held;
    if (!report.writes) continue;
    if (!sum.writes) sum.writes.emplace();
    sum.writes->add(*report.writes);
    for (std::size_t kind = 0; kind < kFindingKindCount; ++kind)
      sum.checker.found[kind] += report.checker.found[kind];
    for (const std::string& first : report.checker.first) {
      if (sum.checker.first.size() < kFirstFindings)
        sum.checker.first.push_back(fmt::format("{}, {}", report.scenario, first));
    }
  }
  return sum;
}

std::string simulations_text(const std::vector<SeedsReport>& reports, const TextStyle& style, Detail detail) {
  std::string text;
  std::size_t with_writes = 0;
  const auto coloured = [&](std::string_view code, std::string_view what) {
    return style.colours ? fmt::format("\x1b[{}m{}\x1b[0m", code, what) : std::string(what);
  };
  for (const SeedsReport& report : reports) {
    const bool all = report.held == report.runs;
    text += fmt::format("{}  {}: ", coloured(all ? "32" : "31", all ? "held  " : "FAILED"),
                        printable(report.scenario));
    if (report.seed_first == report.seed_last) {
      text += fmt::format("on seed {}\n", report.seed_first);
    } else {
      text += fmt::format("on {} of {} seeds ({} to {}), 95 % interval {} to {}\n", report.held, report.runs,
                          report.seed_first, report.seed_last, format_rate(report.wilson_low),
                          format_rate(report.wilson_high));
    }
    if (report.runs < report.seed_last - report.seed_first + 1)
      text += "  stopped: the seeds that were finished by then, and no more\n";
    if (detail == Detail::all) text += expectation_rows(report, reports.size() > 1);
    text += failed_seeds(report);
    if (!report.writes) continue;
    ++with_writes;
    if (detail == Detail::all) text += writes_line(*report.writes) + checker_lines(report.checker, style);
  }
  if (with_writes < 2 && detail == Detail::all) return text;
  const SeedsReport sum = sum_of(reports);
  text += fmt::format("\nall {} scenarios: everything held in {} of {} runs\n", reports.size(),
                      format_count(sum.held), format_count(sum.runs));
  if (sum.writes) text += writes_line(*sum.writes) + checker_lines(sum.checker, style);
  return text;
}

}  // namespace overdue
