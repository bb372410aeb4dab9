#include "overdue/write/explain.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>

#include "overdue/cli/commands.h"
#include "overdue/cli/files.h"
#include "overdue/cli/subcommands.h"
#include "overdue/cli/terminal.h"
#include "overdue/policy/call_policy_of.h"
#include "overdue/policy/policy.h"
#include "overdue/policy/write_terms_of.h"
#include "overdue/report/text_table.h"

namespace overdue {
namespace {

struct ExplainFlags {
  std::string observation;
  std::string policy;
  std::string name;
  bool via_proxy = false;
  bool json = false;
};

constexpr std::string_view kExamples = R"(
Examples:
  overdue explain "reset after send"
  overdue explain "409 with key"
  overdue explain "504 Gateway Timeout" --via-proxy
  overdue explain "status not found" --policy overdue.toml

Exit status: 0 explained, 2 bad usage, an observation it does not know, or unreadable input.)";

// What is usual, where no policy says otherwise: a server that keeps keys and answers a retry.
ExplainOptions usual() {
  ExplainOptions options;
  options.call.attempts_max = 3;
  options.call.errors.set(409, StatusMeaning::in_flight);
  options.call.errors.set(422, StatusMeaning::other_payload);
  options.terms.on_unknown = {OnUnknown::retry};
  return options;
}

Result<const DependencyPolicy*> dependency_of(const Policy& policy, const ExplainFlags& flags) {
  if (flags.name.empty() && policy.dependencies.size() == 1) return &policy.dependencies.front();
  if (const DependencyPolicy* found = policy.find(flags.name)) return found;
  std::string known;
  for (const DependencyPolicy& one : policy.dependencies)
    known += (known.empty() ? "" : ", ") + printable(one.name);
  if (known.empty())
    return fail(ErrorCode::invalid_argument,
                fmt::format("{}: has no dependency; write [dependency.NAME]", flags.policy));
  return fail(ErrorCode::invalid_argument,
              flags.name.empty()
                  ? fmt::format("{}: say with --name which of its {} dependencies is meant: {}", flags.policy,
                                policy.dependencies.size(), known)
                  : fmt::format("{}: has no dependency {}; it has {}", flags.policy, flags.name, known));
}

Result<ExplainOptions> options_of(const ExplainFlags& flags) {
  ExplainOptions options = usual();
  if (!flags.policy.empty()) {
    const auto text = read_small_file(flags.policy);
    if (!text) return std::unexpected(text.error());
    const auto policy = parse_policy(*text, flags.policy);
    if (!policy) return std::unexpected(policy.error());
    const auto dependency = dependency_of(*policy, flags);
    if (!dependency) return std::unexpected(dependency.error());
    const auto calls = call_policy_of(**dependency);
    if (!calls) return std::unexpected(calls.error());
    options = {.call = calls->options(), .terms = write_terms_of(**dependency), .has_contract = true};
  } else if (!flags.name.empty()) {
    return fail(ErrorCode::invalid_argument,
                "--name is of a dependency in a policy: say the file with --policy FILE");
  }
  options.call.via_proxy = options.call.via_proxy || flags.via_proxy;
  return options;
}

Result<int> run_explain(const ExplainFlags& flags) {
  const auto options = options_of(flags);
  if (!options) return std::unexpected(options.error());
  const auto explained = explain(flags.observation, *options);
  if (!explained) return std::unexpected(explained.error());
  std::string out;
  if (flags.json) {
    const nlohmann::ordered_json root = {{"schema", "overdue.explain/1"},
                                         {"observation", flags.observation},
                                         {"via_proxy", options->call.via_proxy},
                                         {"proves", explained->proves},
                                         {"does_not_prove", explained->does_not_prove},
                                         {"next", explained->next}};
    out = root.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
  } else {
    constexpr std::string_view kIndent = "                  ";
    out = printable(flags.observation) + (options->call.via_proxy ? ", behind a proxy\n" : "\n");
    out += wrapped(explained->proves, 100, "  proves          ", kIndent);
    out += wrapped(explained->does_not_prove, 100, "  does not prove  ", kIndent);
    out += wrapped(explained->next, 100, "  overdue then    ", kIndent);
  }
  if (!print_out(out)) return fail(ErrorCode::unreadable_input, "standard output cannot be written");
  return exit_done;
}

}  // namespace

void add_explain(CLI::App& app, int& status) {
  auto flags = std::make_shared<ExplainFlags>();
  CLI::App* command = app.add_subcommand(
      "explain", "What an observation of a write proves, what it does not, and what comes next");
  command
      ->add_option("OBSERVATION", flags->observation, "As in \"reset after send\"; status: \"409 with key\"")
      ->required();
  command->add_flag("--via-proxy", flags->via_proxy,
                    "Something between may answer itself, or repeat a request");
  command->add_option("--policy", flags->policy, "What the server offers and what its statuses mean, TOML");
  command->add_option("--name", flags->name, "The dependency meant (default: the only one)");
  command->add_flag("--json", flags->json, "Print JSON, schema overdue.explain/1");
  command->footer(std::string(kExamples));
  command->callback([flags, &status] { status = finish(run_explain(*flags)); });
}

}  // namespace overdue
