#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>

#include "overdue/base/quantity.h"
#include "overdue/report/advice_report.h"
#include "overdue/report/text_table.h"

namespace overdue {
namespace {

class AdviceWriter {
 public:
  AdviceWriter(const AdviceReport& report, const TextStyle& style)
      : report_(report), style_(style), width_(static_cast<std::size_t>(std::clamp(style.width, 60, 100))) {}

  std::string write() {
    for (const SourceReport& source : report_.sources) write_source(source);
    if (report_.interrupted)
      line(coloured("31", "Interrupted: this is what had been read by then, and no more."));
    for (const GroupReport& group : report_.groups) write_group(group);
    return std::move(text_);
  }

 private:
  void line(std::string_view text = "") { text_ += fmt::format("{}\n", text); }
  std::string coloured(std::string_view code, std::string_view text) const {
    return style_.colours ? fmt::format("\x1b[{}m{}\x1b[0m", code, text) : std::string(text);
  }

  void write_source(const SourceReport& source) {
    const std::string path = source.path == "-" ? "standard input" : source.path;
    line(fmt::format("{}: {}{}{}, seen by the {}", printable(path), source.format,
                     source.detail.empty() ? "" : ", ", source.detail, source.vantage));
    std::uint64_t aside = 0;
    for (const SourceReport::SetAside& one : source.set_aside) aside += one.count;
    const std::string counted = source.attempts == source.calls
                                    ? fmt::format("{} calls", format_count(source.calls))
                                    : fmt::format("{} attempts of {} calls", format_count(source.attempts),
                                                  format_count(source.calls));
    line(fmt::format("{}, {} line{} set aside", counted, format_count(aside), aside == 1 ? "" : "s"));
    for (const SourceReport::SetAside& one : source.set_aside) {
      line(fmt::format("  set aside: {} x {}, first at line {}", format_count(one.count), one.reason,
                       one.first_line));
    }
    for (const std::string& note : source.notes)
      text_ += wrapped(printable(note), width_, "  note: ", "        ");
  }

  void write_group(const GroupReport& group) {
    const Analysis& analysis = group.analysis;
    line();
    if (!report_.grouped_by.empty()) {
      line(coloured("1", fmt::format("{} = {}", report_.grouped_by,
                                     group.key.empty() ? "(not said)" : printable(group.key))));
    }
    write_span(analysis);
    line();
    if (analysis.advice.declined.empty())
      write_advice(analysis);
    else
      write_declined(analysis);
    write_promise(analysis);
    write_quantiles(analysis);
    write_candidates(analysis);
    write_backends(analysis);
    write_doubts(analysis);
  }

  void write_span(const Analysis& analysis) {
    const auto clock = [](WallTime at) {
      return fmt::format(
          "{:%Y-%m-%d %H:%M:%S}",
          fmt::gmtime(std::chrono::floor<std::chrono::seconds>(at.time_since_epoch()).count()));
    };
    if (analysis.first_start && analysis.last_start && analysis.attempts_per_second) {
      line(fmt::format("{} to {} UTC, {} {} a second", clock(*analysis.first_start),
                       clock(*analysis.last_start), figure(*analysis.attempts_per_second), report_.level));
    }
    std::string ended;
    for (std::size_t ending = 0; ending < kEndingCount; ++ending) {
      if (analysis.endings[ending] == 0) continue;
      std::string name(kEndingNames[ending]);
      std::ranges::replace(name, '_', ' ');
      ended +=
          fmt::format("{}{} {}", ended.empty() ? "" : ", ", format_count(analysis.endings[ending]), name);
    }
    text_ += wrapped(fmt::format("{}: {}", report_.level, ended.empty() ? "none" : ended), width_, "", "  ");
    if (analysis.untimed_give_ups > 0) {
      text_ += wrapped(
          fmt::format(
              "{} of them gave up at a time the log does not say, and count as having waited for 0 s: name "
              "the limit that was in force with --limit",
              format_count(analysis.untimed_give_ups)),
          width_, "  ", "  ");
    }
  }

  std::string names_left_out(const Analysis& analysis) const {
    std::string names;
    for (const BackendAnalysis& backend : analysis.backends) {
      if (backend.left_out) names += (names.empty() ? "" : ", ") + printable(backend.row.name);
    }
    return names;
  }

  void write_advice(const Analysis& analysis) {
    const TimeoutAdvice& advice = analysis.advice;
    std::string headline =
        fmt::format("{}   {} interval {}", coloured("1;32", "WAIT " + timeout_text(*advice.request_timeout)),
                    percent(report_.options.confidence.value()), interval_text(advice));
    if (report_.options.headroom) {
      headline += fmt::format("; the point {} and {} headroom", format_duration(*advice.point),
                              percent(*report_.options.headroom));
    }
    if (const std::string names = names_left_out(analysis); !names.empty())
      headline += fmt::format("; {} left out", names);
    line("  " + headline);
    std::string rates =
        fmt::format("false timeouts {} of {} accepted, lost {}: callers will see {}",
                    format_rate(advice.false_timeout_rate), format_rate(report_.options.accept_false.value()),
                    format_rate(advice.lost_rate), format_rate(advice.visible_timeout_rate));
    if (analysis.visible_rate_pooled) {
      rates += fmt::format(" ({} until {} {} mended)", format_rate(*analysis.visible_rate_pooled),
                           names_left_out(analysis), analysis.comparison.left_out.size() == 1 ? "is" : "are");
    }
    rates += ".";
    if (advice.reset_rate > 0) rates += fmt::format(" Reset besides: {}.", format_rate(advice.reset_rate));
    if (analysis.connect && analysis.connect->connect_timeout) {
      rates += fmt::format(" Connect: {}.", timeout_text(*analysis.connect->connect_timeout));
    }
    paragraph(rates);
    if (analysis.connect && !analysis.connect->note.empty()) paragraph("Connect: " + analysis.connect->note);
    paragraph(describe(advice.open) + ".");
    std::string basis = fmt::format("Behind the interval: {} replies", format_count(advice.replies));
    if (!advice.vif_known)
      basis +=
          fmt::format("; how much the calls depend on each other is not known, {}",
                      advice.blocks_with_replies == 0 ? "the log has no start times"
                                                      : "there were calls in too little of the log's time");
    else if (advice.vif > 1)
      basis += fmt::format(" that tell as much as {} independent ones (late calls come together)",
                           format_count(static_cast<std::uint64_t>(advice.effective_replies)));
    paragraph(basis + ".");
  }

  void write_declined(const Analysis& analysis) {
    line("  " + coloured("1;33", fmt::format("NO TIMEOUT ADVISED: {}", analysis.advice.declined)));
    paragraph(describe_declined(analysis.advice, report_.options));
  }

  void write_promise(const Analysis& analysis) {
    if (!analysis.promise) return;
    if (!analysis.advice.declined.empty()) {
      paragraph(fmt::format("Promise {}: without an advice nothing says that it can be kept.",
                            format_duration(analysis.promise->promise)));
      return;
    }
    const PromiseAnalysis& promise = *analysis.promise;
    paragraph(fmt::format(
        "Promise {}: {}. Cutting there gives up {} of the calls that would have replied (at most {}), and "
        "callers see {} time out.",
        format_duration(promise.promise), promise.fits ? "the advice fits it" : "NOT kept by the advice",
        format_rate(promise.check.rates.false_timeout_rate), format_rate(promise.check.false_rate_upper),
        format_rate(promise.check.rates.visible_timeout_rate)));
  }

  static std::string quantile_name(Quantile quantile) { return fmt::format("p{}", quantile.value() * 100); }

  static std::string waited(const QuantileOfAll& quantile) {
    if (quantile.all_calls) return format_duration(*quantile.all_calls);
    return quantile.beyond ? "> " + format_duration(*quantile.beyond) : "-";
  }

  void write_quantiles(const Analysis& analysis) {
    if (analysis.quantiles.empty()) return;
    line();
    TextTable table({7});
    std::vector<std::string> head{""}, replies{"replies"}, all{"all " + report_.level}, kept{"the same"};
    for (const QuantileOfAll& quantile : analysis.quantiles) {
      head.push_back(quantile_name(quantile.quantile));
      replies.push_back(quantile.replies_only ? format_duration(*quantile.replies_only) : "-");
      all.push_back(waited(quantile));
    }
    for (const QuantileOfAll& quantile : analysis.quantiles_kept) kept.push_back(waited(quantile));
    replies.emplace_back("your dashboard");
    all.emplace_back("lost ones counted");
    table.add(head);
    table.add(replies);
    table.add(all);
    if (!analysis.quantiles_kept.empty()) {
      kept.push_back(fmt::format("without {}", names_left_out(analysis)));
      table.add(kept);
    }
    text_ += table.text(2);
  }

  void write_candidates(const Analysis& analysis) {
    if (analysis.candidates.empty()) return;
    line();
    TextTable table({1});
    table.add({"wait", "", "answered", "cut off", "lost", "held for nothing", "extra attempts"});
    for (const Candidate& candidate : analysis.candidates) {
      if (!candidate.rates.known) {
        table.add({timeout_text(candidate.timeout), candidate.label,
                   "not seen past " + format_duration(analysis.advice.open.longest_wait), "-", "-", "-",
                   "-"});
        continue;
      }
      table.add({timeout_text(candidate.timeout), candidate.label, percent_of(candidate.rates.answered),
                 percent_of(candidate.rates.cut_off), percent_of(candidate.rates.never_answered),
                 candidate.held_calls ? figure(*candidate.held_calls) + " calls" : "rate not known",
                 candidate.extra_attempts_per_s ? figure(*candidate.extra_attempts_per_s) + "/s" : "-"});
    }
    text_ += table.text(2);
  }

  void write_backends(const Analysis& analysis) {
    if (analysis.backends.empty()) return;
    constexpr std::size_t kShownMax = 16;
    const bool all = analysis.backends.size() <= kShownMax;
    line();
    TextTable table({1, 2, 3});
    std::size_t hidden = 0;
    std::size_t too_few = 0;
    for (const BackendAnalysis& backend : analysis.backends) {
      const ReplicaRow& row = backend.row;
      if (!all &&
          (row.judgement == ReplicaJudgement::usual || row.judgement == ReplicaJudgement::too_few_calls)) {
        ++(row.judgement == ReplicaJudgement::usual ? hidden : too_few);
        continue;
      }
      std::string judged(name_of(row.judgement));
      std::ranges::replace(judged, '_', ' ');
      if (row.judgement != ReplicaJudgement::usual && row.judgement != ReplicaJudgement::too_few_calls) {
        std::ranges::transform(judged, judged.begin(),
                               [](char c) { return c >= 'a' && c <= 'z' ? char(c - 32) : c; });
        if (row.times_fleet_median) judged += fmt::format(", {}x", figure(*row.times_fleet_median));
      }
      std::string shares;
      if (backend.over_advised) {
        shares = fmt::format("{} over {}", format_rate(*backend.over_advised),
                             timeout_text(*analysis.advice.request_timeout));
      } else {
        shares = fmt::format("{} timed out", format_rate(row.timeout_rate));
      }
      if (row.failure_rate > 0) shares += fmt::format(", {} failed", format_rate(row.failure_rate));
      table.add({printable(row.name), judged,
                 row.median ? "median " + format_duration(*row.median) : "median not seen", shares});
    }
    text_ += table.text(2);
    if (hidden > 0) line(fmt::format("  and {} usual ones", format_count(hidden)));
    if (too_few > 0) line(fmt::format("  and {} with too few calls to judge", format_count(too_few)));
    if (analysis.comparison.fleet == FleetJudgement::split ||
        analysis.comparison.fleet == FleetJudgement::differ) {
      line("  They differ, and nothing here says which of them is abnormal: none is left out.");
    }
  }

  void write_doubts(const Analysis& analysis) {
    if (!analysis.doubts.empty()) line();
    for (const Doubt& doubt : analysis.doubts) {
      const std::string mark = "  ! " + doubt.code + "  ";
      text_ += wrapped(printable(doubt.text), width_, mark, "      ");
    }
    if (analysis.advice.declined.empty() && report_.grouped_by.empty()) {
      line(report_.writes_policy ? "  next: --by route"
                                 : "  next: --by route, or --write-policy overdue.toml --name NAME");
    }
  }

  void paragraph(std::string_view text) { text_ += wrapped(text, width_, "  ", "  "); }

  // "382 to 385 ms".
  static std::string interval_text(const TimeoutAdvice& advice) {
    std::string low = advice.low          ? format_duration(*advice.low)
                      : advice.low_beyond ? "beyond the longest wait"
                                          : "0 ms";
    if (!advice.high) return fmt::format("from {}, its upper end not bounded by so few calls", low);
    // The timeout is rounded up, and so is the end it is taken from.
    const std::string high = timeout_text(round_up_timeout(*advice.high));
    if (advice.low && low.ends_with(" s") && high.ends_with(" ms"))
      low = fmt::format("{:.0f} ms", to_milliseconds(*advice.low));
    const std::size_t low_unit = low.rfind(' ');
    if (low.substr(low_unit) == high.substr(high.rfind(' ')))
      return fmt::format("{} to {}", low.substr(0, low_unit), high);
    return fmt::format("{} to {}", low, high);
  }

  // A timeout is shown as it is set: whole milliseconds below 10 s.
  static std::string timeout_text(Duration timeout) {
    const double ms = to_milliseconds(timeout);
    if (ms >= 10 && ms < 10'000) return fmt::format("{:.0f} ms", ms);
    return format_duration(timeout);
  }
  // Two significant digits, never with an exponent.
  static std::string figure(double value) {
    if (value >= 9.95) return fmt::format("{:.0f}", value);
    return fmt::format("{:.{}f}", value, value >= 0.995 ? 1 : value >= 0.0995 ? 2 : 3);
  }
  static std::string percent(double share) { return fmt::format("{:g} %", share * 100); }
  static std::string percent_of(double share) {
    return fmt::format("{:.{}f} %", share * 100, share * 100 < 10 ? 2 : 1);
  }

  const AdviceReport& report_;
  TextStyle style_;
  std::size_t width_;
  std::string text_;
};

}  // namespace

std::string advice_text(const AdviceReport& report, const TextStyle& style) {
  return AdviceWriter(report, style).write();
}

}  // namespace overdue
