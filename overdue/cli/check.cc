#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>

#include "overdue/base/margin.h"
#include "overdue/base/quantity.h"
#include "overdue/cli/commands.h"
#include "overdue/cli/files.h"
#include "overdue/cli/log_flags.h"
#include "overdue/cli/subcommands.h"
#include "overdue/cli/terminal.h"
#include "overdue/policy/lint.h"
#include "overdue/policy/policy.h"
#include "overdue/report/advice_report.h"
#include "overdue/report/text_table.h"
#include "overdue/timeout/policy_check.h"

namespace overdue {
namespace {

struct CheckFlags {
  std::string policy;
  LogFlags log;
  std::string name;
  std::string confidence = "95%";
  std::string slack = "20%";
  bool json = false;
};

constexpr std::string_view kExamples = R"(
Examples:
  overdue check overdue.toml access.log.gz
  overdue check overdue.toml yesterday.log today.log --name orders --json
  overdue check overdue.toml

A timeout passes where it lies between the low end of the log's interval and its high end, or the point plus --slack.
Without a log the policy file alone is read: every fault at once, and what hurts in it.
Exit status: 0 what the log can judge is supported by it, or without a log the file is valid, 1 one is not, 2 bad usage,
faults in the file or unreadable input, 3 the log cannot say.)";

Result<const DependencyPolicy*> dependency_of(const Policy& policy, const CheckFlags& flags) {
  if (!flags.name.empty()) {
    if (const DependencyPolicy* found = policy.find(flags.name)) return found;
    std::string known;
    for (const DependencyPolicy& one : policy.dependencies)
      known += (known.empty() ? "" : ", ") + printable(one.name);
    return fail(ErrorCode::invalid_argument, fmt::format("{}: has no dependency {}; it has {}", flags.policy,
                                                         flags.name, known.empty() ? "none" : known));
  }
  if (policy.dependencies.size() == 1) return &policy.dependencies.front();
  return fail(ErrorCode::invalid_argument,
              policy.dependencies.empty()
                  ? fmt::format("{}: has no dependency; write [dependency.NAME.timeout]", flags.policy)
                  : fmt::format("{}: has {} dependencies; say with --name which one the log is of",
                                flags.policy, policy.dependencies.size()));
}

std::string check_json(const DependencyPolicy& dependency, const PolicyCheck& check, const Analysis& analysis,
                       const AdviceOptions& options) {
  using Json = nlohmann::ordered_json;
  const auto milliseconds = [](const std::optional<Duration>& value) {
    return value ? Json(to_milliseconds(*value)) : Json(nullptr);
  };
  Json rows = Json::array();
  for (const PolicyCheck::Row& row : check.rows) {
    rows.push_back({{"key", row.key},
                    {"set_ms", to_milliseconds(row.set)},
                    {"low_ms", milliseconds(row.low)},
                    {"high_ms", milliseconds(row.high)},
                    {"false_timeout_rate", row.false_rate ? Json(*row.false_rate) : Json(nullptr)},
                    {"visible_timeout_rate", row.visible_rate ? Json(*row.visible_rate) : Json(nullptr)},
                    {"pooled_visible_timeout_rate",
                     row.visible_rate_pooled ? Json(*row.visible_rate_pooled) : Json(nullptr)},
                    {"outcome", std::string(name_of(row.outcome))},
                    {"text", row.text}});
  }
  const Json root = {{"schema", "overdue.check/1"},
                     {"dependency", dependency.name},
                     {"accept_false", options.accept_false.value()},
                     {"advised_ms", milliseconds(analysis.advice.request_timeout)},
                     {"declined", analysis.advice.declined},
                     {"excluded_backends", check.left_out},
                     {"checks", rows}};
  return root.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string left_out_line(const std::vector<std::string>& names) {
  std::string all;
  for (const std::string& name : names) all += (all.empty() ? "" : ", ") + printable(name);
  return fmt::format("left out   {}: slow or failing beside the others, and in no range above; see advise\n",
                     all);
}

// Without a log: it was read without a fault.
Result<int> check_alone(const CheckFlags& flags, const Policy& policy) {
  const std::vector<PolicyWarning> warnings = lint_policy(policy);
  std::string names;
  for (const DependencyPolicy& one : policy.dependencies)
    names += (names.empty() ? "" : ", ") + printable(one.name);
  std::string out = fmt::format("valid      {}: {}", flags.policy, names);
  if (!warnings.empty())
    out += fmt::format("; {} warning{}", warnings.size(), warnings.size() == 1 ? "" : "s");
  out += "\n";
  if (flags.json) {
    using Json = nlohmann::ordered_json;
    Json dependencies = Json::array(), rows = Json::array();
    for (const DependencyPolicy& one : policy.dependencies) dependencies.push_back(one.name);
    for (const PolicyWarning& warning : warnings)
      rows.push_back({{"line", warning.line}, {"text", warning.text}});
    const Json root = {{"schema", "overdue.check-policy/1"},
                       {"policy", flags.policy},
                       {"dependencies", dependencies},
                       {"warnings", rows}};
    out = root.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
  }
  if (!print_out(out)) return fail(ErrorCode::unreadable_input, "standard output cannot be written");
  return exit_done;
}

Result<int> check(const CheckFlags& flags) {
  const auto text = read_small_file(flags.policy);
  if (!text) return std::unexpected(text.error());
  const auto policy = parse_policy(*text, flags.policy);
  if (!policy) return std::unexpected(policy.error());
  for (const PolicyWarning& warning : lint_policy(*policy))
    print_error(fmt::format("{}:{}: warning: {}", flags.policy, warning.line, warning.text));
  if (flags.log.paths.empty() && flags.name.empty() && !policy->dependencies.empty())
    return check_alone(flags, *policy);
  const auto found = dependency_of(*policy, flags);
  if (!found) return std::unexpected(found.error());
  const DependencyPolicy& dependency = **found;
  if (flags.log.paths.empty()) return check_alone(flags, {.dependencies = {dependency}});

  const auto read_options = read_options_of(flags.log);
  if (!read_options) return std::unexpected(read_options.error());
  if (!flags.log.by.empty()) {
    return fail(ErrorCode::invalid_argument,
                "check compares one dependency and does not go with --by; use --where");
  }
  ChoiceFlags choice{.confidence = flags.confidence};
  auto options = analysis_options_of(choice);
  if (!options) return std::unexpected(options.error());
  if (dependency.timeout.accept_false) options->advice.accept_false = *dependency.timeout.accept_false;
  options->promise = dependency.promise;
  const auto slack = parse_margin(flags.slack);
  if (!slack) return fail(ErrorCode::invalid_argument, "--slack: " + slack.error().message);

  const auto logs = read_logs(flags.log, *read_options);
  if (!logs) return std::unexpected(logs.error());
  tell_sources(*logs, *read_options, *options);
  options->filled_in = !flags.log.expected_interval.empty();
  const Measurement& measurement = logs->groups.begin()->second;
  const Analysis analysis = analyse(measurement, *options);
  const TimeoutsSet set{.connect = dependency.timeout.connect,
                        .request = dependency.timeout.request,
                        .floor = dependency.timeout.floor,
                        .ceiling = dependency.timeout.ceiling};
  const PolicyCheck result = check_timeouts(set, measurement, analysis, options->advice, *slack);

  std::string out;
  if (flags.json) {
    out = check_json(dependency, result, analysis, options->advice);
  } else {
    for (const PolicyCheck::Row& row : result.rows) {
      out += fmt::format("{:<10} {}.timeout.{} = {}: {}\n", name_of(row.outcome), dependency.name, row.key,
                         format_duration_exact(row.set), row.text);
    }
    if (!result.left_out.empty()) out += left_out_line(result.left_out);
    if (result.rows.empty()) out += fmt::format("{}: sets no timeout to check\n", dependency.name);
    if (!analysis.advice.declined.empty()) out += describe_declined(analysis.advice, options->advice) + "\n";
  }
  if (!print_out(out)) return fail(ErrorCode::unreadable_input, "standard output cannot be written");
  if (result.any(PolicyCheck::Outcome::too_short) || result.any(PolicyCheck::Outcome::too_long))
    return exit_check_failed;
  const bool says_nothing =
      result.any(PolicyCheck::Outcome::cannot_say) && !result.any(PolicyCheck::Outcome::supported);
  if (logs->interrupted || !analysis.advice.declined.empty() || says_nothing) return exit_declined;
  return exit_done;
}

}  // namespace

void add_check(CLI::App& app, int& status) {
  auto flags = std::make_shared<CheckFlags>();
  CLI::App* command =
      app.add_subcommand("check", "Is a policy file valid, and does a log still support its timeouts?");
  command->add_option("POLICY", flags->policy, "The policy file, TOML")->required();
  add_log_flags(*command, flags->log);
  command->get_option("FILE")->required(false)->description(
      "Logs, plain or gzip; - is standard input. None: the policy file alone is checked");
  command->add_option("--name", flags->name, "The dependency the log is of (default: the only one)");
  command->add_option("--confidence", flags->confidence, "Confidence of the intervals")
      ->capture_default_str();
  command->add_option("--slack", flags->slack, "How far above the point a timeout may lie")
      ->capture_default_str();
  command->add_flag("--json", flags->json,
                    "Print JSON, schema overdue.check/1, or check-policy/1 without a log");
  command->footer(std::string(kExamples));
  command->callback([flags, &status] { status = finish(check(*flags)); });
}

}  // namespace overdue
