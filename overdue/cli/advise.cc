#include <fmt/format.h>
#include <sys/stat.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <forward_list>
#include <memory>

#include "overdue/base/quantity.h"
#include "overdue/cli/commands.h"
#include "overdue/cli/files.h"
#include "overdue/cli/log_flags.h"
#include "overdue/cli/subcommands.h"
#include "overdue/cli/terminal.h"
#include "overdue/policy/policy.h"
#include "overdue/recorded/two_threads.h"
#include "overdue/report/advice_report.h"

namespace overdue {
namespace {

struct AdviseFlags {
  LogFlags log;
  ChoiceFlags choice;
  std::vector<std::string> fail_on;
  std::string write_policy;
  std::string name;
  bool json = false;
};

constexpr std::string_view kExamples = R"(
Examples:
  overdue advise access.log.gz
  overdue advise calls.csv --map latency=took_ms,status=code,backend=host --accept 1%
  overdue advise access.log --by route --json
  kubectl logs deploy/gateway | overdue advise - --promise 500ms
  overdue advise access.log --write-policy overdue.toml --name orders

Exit status: 0 advice given, 1 a doubt named by --fail-on was raised, 2 bad usage or unreadable input,
3 declined: the data cannot support an answer.)";

SourceReport report_of(const SourceSummary& source) {
  SourceReport report{.path = source.path,
                      .format = std::string(kFormatNames[static_cast<std::size_t>(source.format)]),
                      .vantage = std::string(kVantageNames[static_cast<std::size_t>(source.vantage)]),
                      .detail = source.detail,
                      .lines = source.lines,
                      .calls = source.calls,
                      .attempts = source.attempts,
                      .notes = source.notes};
  for (const SetAside& aside : source.set_aside)
    report.set_aside.push_back({aside.reason, aside.count, aside.first_line});
  return report;
}

Result<void> check_doubt_codes(const std::vector<std::string>& codes) {
  for (const std::string& code : codes) {
    if (std::ranges::find(kDoubtCodes, code) != kDoubtCodes.end() || code == "promise_missed" ||
        code == "any")
      continue;
    std::string known;
    for (const std::string_view one : kDoubtCodes) known += std::string(one) + ", ";
    return fail(ErrorCode::invalid_argument,
                fmt::format("--fail-on {}: there are {}promise_missed, any", code, known));
  }
  return {};
}

bool raised(const AdviceReport& report, const std::vector<std::string>& codes) {
  return std::ranges::any_of(report.groups, [&](const GroupReport& group) {
    return std::ranges::any_of(group.analysis.doubts, [&](const Doubt& doubt) {
      return std::ranges::any_of(
          codes, [&](const std::string& code) { return code == "any" || code == doubt.code; });
    });
  });
}

// " (was 9s)": whoever had it so should see that it is gone.
std::string what_was(const std::string& text, const AdviseFlags& flags, const TimeoutPolicy& now) {
  const auto policy = parse_policy(text, flags.write_policy);
  const DependencyPolicy* const dependency = policy ? policy->find(flags.name) : nullptr;
  if (dependency == nullptr) return "";
  const TimeoutPolicy& before = dependency->timeout;
  if (before.adaptive) return " (was \"adaptive\")";
  if (!before.request || before.request == now.request) return "";
  return fmt::format(" (was {})", format_duration_exact(*before.request));
}

// What goes into the policy file: only what the log supports.
Result<void> write_policy(const AdviseFlags& flags, const AdviceReport& report) {
  const Analysis& analysis = report.groups.front().analysis;
  if (!analysis.advice.request_timeout) {
    print_error(fmt::format("{} is left as it is: there is no advice to write", flags.write_policy));
    return {};
  }
  TimeoutPolicy timeout{.accept_false = report.options.accept_false,
                        .request = analysis.advice.request_timeout};
  if (analysis.connect) timeout.connect = analysis.connect->connect_timeout;
  std::string before;
  struct stat there{};
  if (::stat(flags.write_policy.c_str(), &there) == 0) {
    if (!S_ISREG(there.st_mode)) {
      return fail(ErrorCode::unreadable_input, fmt::format("{}: is not a regular file", flags.write_policy));
    }
    auto read = read_small_file(flags.write_policy);
    if (!read) return std::unexpected(read.error());
    before = *std::move(read);
  }
  const auto after = with_timeout(before, flags.write_policy, flags.name, timeout);
  if (!after) return std::unexpected(after.error());
  if (const auto written = replace_file(flags.write_policy, *after); !written)
    return std::unexpected(written.error());
  const std::string connect =
      timeout.connect ? fmt::format(", connect = {}", format_duration_exact(*timeout.connect)) : "";
  print_error(fmt::format("{}: [dependency.{}.timeout] request = {}{}{} written", flags.write_policy,
                          flags.name, format_duration_exact(*timeout.request),
                          what_was(before, flags, timeout), connect));
  return {};
}

// A source that is understood and cannot support an answer is declined like any other: with a word, and in
// JSON where JSON was asked for. The word stands before the first colon of the message, if it is one.
int decline_source(const AdviseFlags& flags, const Error& error, const AdviceOptions& options) {
  const std::string word = error.message.substr(0, error.message.find(':'));
  const bool is_word =
      !word.empty() && std::ranges::all_of(word, [](char c) { return (c >= 'a' && c <= 'z') || c == '_'; });
  if (flags.json) {
    AdviceReport report{
        .options = options, .level = flags.log.calls ? "calls" : "attempts", .grouped_by = flags.log.by};
    for (const std::string& path : flags.log.paths)
      report.sources.push_back({.path = path, .notes = {error.message}});
    report.groups.emplace_back();
    Analysis& analysis = report.groups.back().analysis;
    analysis.advice.declined = is_word ? word : "unsupported_source";
    for (const Quantile quantile : reported_quantiles()) analysis.quantiles.push_back({.quantile = quantile});
    print_out(advice_json(report));
  }
  print_error(error.message);
  return exit_declined;
}

// A log's tables are thousands of pieces, and giving each back takes longer than the report: the process ends
// anyway.
const Result<ReadLogs>& kept_to_the_end(Result<ReadLogs> logs) {
  static auto& kept = *new std::forward_list<Result<ReadLogs>>;
  return kept.emplace_front(std::move(logs));
}

Result<int> advise(const AdviseFlags& flags) {
  if (const auto known = check_doubt_codes(flags.fail_on); !known) return std::unexpected(known.error());
  if (flags.write_policy.empty() != flags.name.empty()) {
    return fail(ErrorCode::invalid_argument,
                "--write-policy FILE and --name NAME go together, and neither may be empty");
  }
  if (!flags.write_policy.empty() && !flags.log.by.empty()) {
    return fail(ErrorCode::invalid_argument,
                "--write-policy sets one timeout and does not go with --by; use --where");
  }
  const auto read_options = read_options_of(flags.log);
  if (!read_options) return std::unexpected(read_options.error());
  auto options = analysis_options_of(flags.choice);
  if (!options) return std::unexpected(options.error());
  const auto& logs = kept_to_the_end(read_logs(flags.log, *read_options));
  if (!logs && logs.error().code == ErrorCode::unsupported)
    return decline_source(flags, logs.error(), options->advice);
  if (!logs) return std::unexpected(logs.error());
  tell_sources(*logs, *read_options, *options);
  options->filled_in = !flags.log.expected_interval.empty();
  options->run_both = run_on(read_options->threads);

  AdviceReport report{.options = options->advice,
                      .level = flags.log.calls ? "calls" : "attempts",
                      .grouped_by = flags.log.by,
                      .interrupted = logs->interrupted,
                      .writes_policy = !flags.write_policy.empty()};
  for (const SourceSummary& source : logs->sources) report.sources.push_back(report_of(source));
  for (const auto& [key, measurement] : logs->groups)
    report.groups.push_back({key, analyse(measurement, *options)});

  const TextStyle style{.colours = colours_wanted(), .width = terminal_width()};
  if (!print_out(flags.json ? advice_json(report) : advice_text(report, style))) {
    return fail(ErrorCode::unreadable_input, "standard output cannot be written");
  }
  if (report.interrupted) return exit_declined;
  if (!flags.write_policy.empty()) {
    if (const auto written = write_policy(flags, report); !written) return std::unexpected(written.error());
  }
  if (raised(report, flags.fail_on)) return exit_check_failed;
  const bool any_advice = std::ranges::any_of(
      report.groups, [](const GroupReport& group) { return group.analysis.advice.declined.empty(); });
  return any_advice ? exit_done : exit_declined;
}

}  // namespace

void add_advise(CLI::App& app, int& status) {
  auto flags = std::make_shared<AdviseFlags>();
  CLI::App* command =
      app.add_subcommand("advise", "Turns logs into a timeout, its cost, and the reasons to doubt it");
  add_log_flags(*command, flags->log);
  add_choice_flags(*command, flags->choice);
  command->add_option("--fail-on", flags->fail_on, "Exit with 1 where this doubt is raised; any: every doubt")
      ->delimiter(',')
      ->allow_extra_args(false);
  command->add_option("--write-policy", flags->write_policy, "Put the advice into this policy file");
  command->add_option("--name", flags->name, "The dependency to set there");
  command->add_flag("--json", flags->json, "Print JSON, schema overdue.advice/1");
  command->footer(std::string(kExamples));
  command->callback([flags, &status] { status = finish(advise(*flags)); });
}

}  // namespace overdue
