#include "overdue/cli/lesson_output.h"

#include <fmt/format.h>

#include <iterator>
#include <nlohmann/json.hpp>
#include <string_view>

#include "overdue/base/quantity.h"

namespace overdue {
namespace {

using Json = nlohmann::ordered_json;
using Out = std::back_insert_iterator<std::string>;

double percent(std::uint64_t part, std::uint64_t whole) {
  return 100 * static_cast<double>(part) / static_cast<double>(whole);
}

double share(std::uint64_t part, std::uint64_t whole) {
  return static_cast<double>(part) / static_cast<double>(whole);
}

std::string_view name_of(CheckJudgement judgement) {
  switch (judgement) {
    case CheckJudgement::left_in:
      return "left in";
    case CheckJudgement::flaps:
      return "flaps";
    case CheckJudgement::caught:
      return "caught";
  }
  return "";
}

std::string_view json_name_of(CheckJudgement judgement) {
  switch (judgement) {
    case CheckJudgement::left_in:
      return "left_in";
    case CheckJudgement::flaps:
      return "flaps";
    case CheckJudgement::caught:
      return "caught";
  }
  return "";
}

void print_timeouts(Out out, const LessonFigures& figures) {
  fmt::format_to(out, "\n{:>16} {:>8} {:>20} {:>16}\n", "timeout", "ok", "timed out, applied",
                 "timed out, not");
  for (std::size_t i = 0; i < figures.marks.size(); ++i) {
    const LessonOutcome& outcome = figures.outcomes[i];
    fmt::format_to(out, "{:>16} {:7.2f}% {:19.2f}% {:15.2f}%\n",
                   fmt::format("{} ({:.0f}ms)", figures.marks[i].label, figures.marks[i].ms),
                   percent(outcome.ok, outcome.calls), percent(outcome.late_applied, outcome.calls),
                   percent(outcome.late_not_applied, outcome.calls));
  }
  fmt::format_to(out, "the client sees the last two columns as the same error\n");
}

void print_replicas(Out out, const LessonFigures& figures) {
  fmt::format_to(out, "\n{:>8} {:>6} {:>8} {:>20}\n", "replica", figures.deep ? "deep" : "ping", "median",
                 "requests timed out");
  for (const LessonReplica& replica : figures.replicas) {
    // Two shares added, as the lesson adds them, so that the last digit rounds the same way.
    const LessonOutcome& outcome = replica.outcome;
    fmt::format_to(
        out, "{:>8} {:>6} {:6.1f}ms {:19.2f}%\n", replica.name, replica.healthy ? "OK" : "FAIL",
        replica.median_ms,
        percent(outcome.late_applied, outcome.calls) + percent(outcome.late_not_applied, outcome.calls));
  }
}

// "5 x to 8 x": the factors of one judgement.
std::string factors_of(const DeepFigures& deep, CheckJudgement judgement) {
  const DeepRow* first = nullptr;
  const DeepRow* last = nullptr;
  for (const DeepRow& row : deep.rows) {
    if (row.judgement != judgement) continue;
    if (first == nullptr) first = &row;
    last = &row;
  }
  if (first == nullptr) return "none";
  if (first == last) return fmt::format("{:g} x", first->counts.slow_factor);
  return fmt::format("{:g} x to {:g} x", first->counts.slow_factor, last->counts.slow_factor);
}

void print_deep(Out out, const DeepFigures& deep) {
  fmt::format_to(out,
                 "\ndeep check: {} calls, failed when their median is above {:.1f}ms, {:g} x the fleet's\n"
                 "{} such checks of a replica whose service is slower by\n\n",
                 deep.check.calls, deep.limit_ms, deep.check.fail_above, format_count(kProbes));
  fmt::format_to(out, "{:>8} {:>9} {:>9} {:>15} {:>17} {:>17}\n", "", "one call", "check", "95 %",
                 fmt::format("out {0}, back {0}", kChecksInARow),
                 fmt::format("back below {:.4g} x", deep.back_below));
  fmt::format_to(out, "{:>8} {:>9} {:>9} {:>15} {:>9} {:>7} {:>9} {:>7}\n", "factor", "late", "fails",
                 "interval", "out", "flaps", "out", "flaps");
  for (const DeepRow& row : deep.rows) {
    fmt::format_to(out, "{:>6g} x {:8.2f}% {:8.2f}% {:>15} {:8.2f}% {:7.2f} {:8.2f}% {:7.2f}  {}\n",
                   row.counts.slow_factor, 100 * row.call_late, 100 * row.failed,
                   fmt::format("{:.2f}..{:.2f}%", 100 * row.failed_low, 100 * row.failed_high),
                   100 * row.one_limit.out_share, row.one_limit.flaps_per_1000_checks,
                   100 * row.two_limits.out_share, row.two_limits.flaps_per_1000_checks,
                   name_of(row.judgement));
  }
  fmt::format_to(
      out,
      "\nout: time out of rotation, when {0} failures in a row take a replica out and {0} passes bring it "
      "back\n"
      "flaps: such trips per 1,000 checks; back below: only a median below {1:.4g} x counts for coming back\n"
      "caught: {2}; flaps: {3}; left in: {4}\n",
      kChecksInARow, deep.back_below, factors_of(deep, CheckJudgement::caught),
      factors_of(deep, CheckJudgement::flaps), factors_of(deep, CheckJudgement::left_in));
}

Json outcome_json(const LessonOutcome& outcome) {
  return {{"calls", outcome.calls},
          {"ok", share(outcome.ok, outcome.calls)},
          {"timed_out_applied", share(outcome.late_applied, outcome.calls)},
          {"timed_out_not_applied", share(outcome.late_not_applied, outcome.calls)}};
}

Json rotation_json(const Rotation& rotation) {
  return {{"out_share", rotation.out_share}, {"flaps_per_1000_checks", rotation.flaps_per_1000_checks}};
}

Json deep_json(const DeepFigures& deep) {
  Json rows = Json::array();
  for (const DeepRow& row : deep.rows) {
    rows.push_back({{"slow_factor", row.counts.slow_factor},
                    {"call_late", row.call_late},
                    {"failed", row.failed},
                    {"failed_low", row.failed_low},
                    {"failed_high", row.failed_high},
                    {"failed_expected", row.failed_expected},
                    {"one_limit", rotation_json(row.one_limit)},
                    {"two_limits", rotation_json(row.two_limits)},
                    {"judgement", json_name_of(row.judgement)}});
  }
  return {{"probe_calls", deep.check.calls},
          {"fail_above", deep.check.fail_above},
          {"back_below", deep.back_below},
          {"limit_ms", deep.limit_ms},
          {"checks_in_a_row", kChecksInARow},
          {"probes", kProbes},
          {"confidence", 0.95},
          {"factors", std::move(rows)}};
}

}  // namespace

std::string lesson_text(const LessonFigures& figures) {
  std::string text;
  const Out out(text);
  fmt::format_to(out, "observed latency:");
  for (std::size_t i = 0; i < figures.marks.size(); ++i) {
    fmt::format_to(out, "{}{}={:.1f}ms", i == 0 ? " " : "  ", figures.marks[i].label, figures.marks[i].ms);
  }
  fmt::format_to(out, "\n");
  print_timeouts(out, figures);
  print_replicas(out, figures);
  if (figures.deep) print_deep(out, *figures.deep);
  return text;
}

std::string lesson_json(const LessonFigures& figures, const LessonOptions& options, bool fast) {
  Json timeouts = Json::array();
  for (std::size_t i = 0; i < figures.marks.size(); ++i) {
    Json row = {{"label", figures.marks[i].label}, {"timeout_ms", figures.marks[i].ms}};
    row.update(outcome_json(figures.outcomes[i]));
    timeouts.push_back(std::move(row));
  }
  Json replicas = Json::array();
  for (const LessonReplica& replica : figures.replicas) {
    Json row = {{"replica", std::string(1, replica.name)},
                {"slow_factor", replica.slow_factor},
                {"healthy", replica.healthy},
                {"median_ms", replica.median_ms}};
    row.update(outcome_json(replica.outcome));
    replicas.push_back(std::move(row));
  }
  const Json document = {
      {"schema", "overdue.lesson/1"},
      {"generator", fast ? "overdue" : "cpython"},
      // As text: a number above 2^53 does not survive every JSON reader.
      {"seed", fmt::format("{}", options.seed)},
      {"options",
       {{"lost_request", options.lost_request.value()},
        {"lost_reply", options.lost_reply.value()},
        {"slow_path", options.slow_path.value()},
        {"slow_factor", options.slow_factor},
        {"sample", options.sample},
        {"calls", options.calls},
        {"replica_calls", options.replica_calls},
        {"health", options.deep ? "deep" : "ping"}}},
      {"timeouts", std::move(timeouts)},
      {"replicas", std::move(replicas)},
      {"deep_check", figures.deep ? deep_json(*figures.deep) : Json()},
  };
  return document.dump(2) + "\n";
}

}  // namespace overdue
