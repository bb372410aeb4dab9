#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <memory>
#include <new>
#include <optional>
#include <set>
#include <thread>

#include "overdue/base/quantity.h"
#include "overdue/cli/commands.h"
#include "overdue/cli/files.h"
#include "overdue/cli/scenario_loading.h"
#include "overdue/cli/simulate_seeds.h"
#include "overdue/cli/simulate_tip.h"
#include "overdue/cli/subcommands.h"
#include "overdue/cli/terminal.h"
#include "overdue/cli/watch.h"
#include "overdue/policy/lint.h"
#include "overdue/policy/policy.h"
#include "overdue/report/simulation_report.h"
#include "overdue/report/text_table.h"
#include "overdue/simulated/expectation.h"
#include "overdue/simulated/run.h"
#include "overdue/simulated/scenario_lint.h"
#include "overdue/simulated/table_reader.h"

namespace overdue {
namespace {

constexpr std::uint64_t kSeedsMax = 1'000'000;
constexpr std::uint64_t kThreadsMax = 256;
constexpr SeedRange kTipSeeds = {1, 20};

struct SimulateFlags {
  std::string path;
  std::optional<std::string> seed;
  std::optional<std::string> seeds;
  std::optional<std::string> policy;
  std::vector<std::string> sets;
  std::optional<std::string> until;
  std::optional<std::string> trace;
  std::optional<std::string> tip;
  std::optional<std::string> threads;
  bool json = false;
  bool summary = false;
};

constexpr std::string_view kExamples = R"(
Examples:
  overdue simulate scenarios/overload-loop.toml
  overdue simulate scenarios/overload-loop.toml --policy scenarios/policies/orders-budget.toml
  overdue simulate scenarios/overload-loop.toml --set service.orders.queue.max=50
  overdue simulate scenarios/overload-loop.toml --seeds 1..200
  overdue simulate scenarios/overload-loop.toml --tip fault.slowness.for=500ms..1s
  overdue simulate scenarios --json
  overdue simulate scenarios/unknown --seeds 1..1000 --summary

A FOLDER runs every *.toml in it. Pages: docs/simulate.md, docs/formats/scenario.md, docs/scenarios.md.
Exit status: 0 every expectation held (--tip: it was found), 1 one did not, 2 bad usage or input,
3 it was stopped before it could be judged, or a measured log cannot support what is asked of it.)";

Result<std::uint64_t> whole(std::string_view flag, std::string_view text, std::uint64_t high = UINT64_MAX) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error == std::errc() && end == text.data() + text.size() && value <= high) return value;
  return fail(ErrorCode::invalid_argument,
              fmt::format("{} {}: write a whole number up to {}", flag, text, high));
}

Result<SeedRange> seed_range(const std::string& text) {
  const std::size_t dots = text.find("..");
  if (dots == std::string::npos)
    return fail(ErrorCode::invalid_argument,
                fmt::format("--seeds {}: write FIRST..LAST, as in 1..200", text));
  const auto first = whole("--seeds", text.substr(0, dots));
  const auto last = whole("--seeds", text.substr(dots + 2));
  if (!first || !last)
    return fail(ErrorCode::invalid_argument,
                fmt::format("--seeds {}: write two whole numbers, as in 1..200", text));
  if (*last < *first || *last - *first >= kSeedsMax) {
    return fail(
        ErrorCode::invalid_argument,
        fmt::format("--seeds {}: write the lower one first, and at most {} of them", text, kSeedsMax));
  }
  return SeedRange{*first, *last};
}

// What the flags come to, read before anything runs.
struct Request {
  std::optional<std::uint64_t> seed;
  std::optional<SeedRange> seeds;
  std::optional<Duration> until;
  unsigned threads = 1;
  std::vector<std::string> paths;
  bool folder = false;
};

Result<void> check_together(const SimulateFlags& flags, bool folder) {
  const auto both = [](std::string_view left, std::string_view right, std::string_view why) {
    return fail(ErrorCode::invalid_argument,
                fmt::format("{} and {} do not go together: {}", left, right, why));
  };
  if (flags.seed && flags.seeds) return both("--seed", "--seeds", "one seed, or many");
  if (flags.trace && (flags.seeds || flags.tip || folder))
    return both("--trace", "many runs", "it is of one");
  if (flags.trace == "-")
    return fail(ErrorCode::invalid_argument,
                "--trace -: standard output has the report: write a file, as in --trace run.trace");
  if (flags.until && (flags.seeds || flags.tip || folder))
    return both("--until", "many runs", "a run that is cut short is not judged");
  if (flags.tip && flags.seed)
    return both("--tip", "--seed", "it tries many seeds; write --seeds FIRST..LAST");
  if (flags.tip && folder) return both("--tip", "a folder", "it is of one scenario");
  if (flags.summary && flags.json) return both("--summary", "--json", "JSON has everything");
  if (flags.summary && (flags.tip || !(flags.seeds || folder)))
    return fail(ErrorCode::invalid_argument,
                "--summary is of many runs: write --seeds FIRST..LAST, or a folder");
  return {};
}

Result<std::vector<std::string>> scenarios_in(const std::string& folder) {
  std::vector<std::string> paths;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
    if (entry.path().extension() != ".toml") continue;
    paths.push_back(entry.path().string());
    std::error_code unknown;
    if (!entry.is_regular_file(unknown) || ::access(paths.back().c_str(), R_OK) != 0)
      return fail(ErrorCode::unreadable_input,
                  fmt::format("{}: is no file that can be read: mend it, or take it out of the folder",
                              paths.back()));
  }
  if (error) return fail(ErrorCode::unreadable_input, fmt::format("{}: {}", folder, error.message()));
  if (paths.empty())
    return fail(ErrorCode::unreadable_input, fmt::format("{}: has no scenario, no *.toml", folder));
  std::ranges::sort(paths);
  return paths;
}

Result<Request> request_of(const SimulateFlags& flags) {
  Request request;
  const std::string path = flags.path == "-" ? "/dev/stdin" : flags.path;
  struct stat there{};
  request.folder = ::stat(path.c_str(), &there) == 0 && S_ISDIR(there.st_mode);
  if (const auto fits = check_together(flags, request.folder); !fits) return std::unexpected(fits.error());
  if (flags.seed) {
    const auto seed = whole("--seed", *flags.seed);
    if (!seed) return std::unexpected(seed.error());
    request.seed = *seed;
  }
  if (flags.seeds) {
    const auto seeds = seed_range(*flags.seeds);
    if (!seeds) return std::unexpected(seeds.error());
    request.seeds = *seeds;
  }
  if (flags.until) {
    const auto until = parse_duration(*flags.until);
    if (!until) return fail(ErrorCode::invalid_argument, "--until: " + until.error().message);
    if (until->count() == 0)
      return fail(ErrorCode::invalid_argument,
                  fmt::format("--until {}: write a duration above zero", *flags.until));
    request.until = *until;
  }
  request.threads = std::max(1U, std::thread::hardware_concurrency());
  if (flags.threads) {
    const auto threads = whole("--threads", *flags.threads, kThreadsMax);
    if (!threads) return std::unexpected(threads.error());
    if (*threads == 0)
      return fail(ErrorCode::invalid_argument,
                  fmt::format("--threads 0: write a number from 1 to {}", kThreadsMax));
    request.threads = static_cast<unsigned>(*threads);
  }
  request.paths = {path};
  if (request.folder) {
    auto paths = scenarios_in(flags.path);
    if (!paths) return std::unexpected(paths.error());
    request.paths = *std::move(paths);
  }
  return request;
}

Result<void> print(const std::string& text) {
  if (print_out(text)) return {};
  return fail(ErrorCode::unreadable_input, "standard output cannot be written");
}

void warn_of_scenario(const Scenario& scenario) {
  for (const ScenarioWarning& warning : lint_scenario(scenario)) {
    const std::string where =
        warning.line == 0 ? scenario.path : place_of_line(warning.line, scenario.path, scenario.base_path);
    print_error(fmt::format("{}: warning: {}", where, warning.text));
  }
}

Result<int> simulate_one(const SimulateFlags& flags, const Request& request) {
  const auto scenario = load_scenario({request.paths[0], flags.sets, flags.policy});
  if (!scenario) return std::unexpected(scenario.error());
  warn_of_scenario(*scenario);
  RunOptions options;
  if (!request.seed && !scenario->seed) {
    return fail(ErrorCode::invalid_argument,
                fmt::format("{}: says no seed: add `seed = 1` to it, or --seed 1", request.paths[0]));
  }
  options.seed = request.seed.value_or(scenario->seed.value_or(0));
  options.until = request.until;
  std::ofstream trace;
  if (flags.trace) {
    for (const std::string& read : {request.paths[0], flags.policy.value_or(""), scenario->base_path}) {
      std::error_code none;
      if (!read.empty() && std::filesystem::equivalent(read, *flags.trace, none))
        return fail(ErrorCode::invalid_argument,
                    fmt::format("--trace {}: the run reads that file: write another one", *flags.trace));
    }
    trace.open(*flags.trace, std::ios::binary | std::ios::trunc);
    if (!trace) return fail(ErrorCode::unreadable_input, fmt::format("{}: cannot be written", *flags.trace));
    options.trace = [&trace](std::string_view line) { trace << printable(line) << '\n'; };
  }
  RunProgress progress;
  options.stop = &progress.stop;
  SimulationReport report{.about = scenario->about, .run = {}, .expectations = {}, .cut_short = false};
  {
    const RunWatch watch(progress, "");
    report.run = run(*scenario, options);
  }
  if (report.run.too_many || report.run.stands_still)
    return std::unexpected(too_many_error(request.paths[0], report.run.stands_still));
  if (flags.trace && !trace.flush())
    return fail(ErrorCode::unreadable_input,
                fmt::format("{}: could not be written to its end", *flags.trace));
  report.cut_short = report.run.interrupted || (request.until && *request.until < scenario->until);
  if (!report.cut_short) report.expectations = judge(*scenario, report.run);
  const TextStyle style{.colours = colours_wanted(), .width = terminal_width()};
  if (const auto printed = print(flags.json ? simulation_json(report) : simulation_text(report, style));
      !printed)
    return std::unexpected(printed.error());
  if (report.run.interrupted) return exit_declined;
  return std::ranges::all_of(report.expectations, &ExpectationResult::held) ? exit_done : exit_check_failed;
}

Result<SeedRange> seeds_of(const Request& request, const Scenario& scenario, const std::string& path) {
  if (request.seeds) return *request.seeds;
  if (request.seed) return SeedRange{*request.seed, *request.seed};
  if (scenario.seed) return SeedRange{*scenario.seed, *scenario.seed};
  return fail(ErrorCode::invalid_argument,
              fmt::format("{}: says no seed: add `seed = 1` to it, or --seeds 1..200", path));
}

// Before an hour of the first ones is spent: the faults of all of them.
Result<void> check_all(const SimulateFlags& flags, const Request& request) {
  if (request.paths.size() < 2) return {};
  std::optional<Error> error;
  for (const std::string& path : request.paths) {
    const auto scenario = load_scenario({path, flags.sets, flags.policy});
    std::optional<Error> of_this;
    if (!scenario)
      of_this = scenario.error();
    else if (const auto seeds = seeds_of(request, *scenario, path); !seeds)
      of_this = seeds.error();
    if (!of_this) continue;
    if (error && error->message.find(of_this->message) != std::string::npos) continue;  // --set, of each.
    error = error ? Error{error->code, error->message + "\n" + of_this->message} : of_this;
  }
  if (error) return std::unexpected(*error);
  return {};
}

Result<int> simulate_many(const SimulateFlags& flags, const Request& request) {
  if (const auto fine = check_all(flags, request); !fine) return std::unexpected(fine.error());
  std::vector<SeedsReport> reports;
  RunProgress progress;
  bool incomplete = false;
  for (const std::string& path : request.paths) {
    const ScenarioChoice choice{path, flags.sets, flags.policy};
    const auto scenario = load_scenario(choice);
    if (!scenario) return std::unexpected(scenario.error());
    warn_of_scenario(*scenario);
    const auto seeds = seeds_of(request, *scenario, path);
    if (!seeds) return std::unexpected(seeds.error());
    progress.done = progress.failed = progress.total = 0;
    const std::string where = fmt::format(" ({} of {})", reports.size() + 1, request.paths.size());
    const RunWatch watch(progress, scenario->name + (request.folder ? where : ""));
    SeedsReport report = run_seeds(*scenario, *seeds, request.threads, progress);
    if (report.too_many || report.stands_still)
      return std::unexpected(too_many_error(path, report.stands_still));
    if (!report.failed_seeds.empty())
      report.reproduce = command_for_seed(choice, report.failed_seeds.front());
    incomplete = incomplete || report.runs < seeds->last - seeds->first + 1;
    if (report.runs > 0) reports.push_back(std::move(report));
    if (progress.stop) break;
  }
  incomplete = incomplete || reports.size() < request.paths.size();
  const TextStyle style{.colours = colours_wanted(), .width = terminal_width()};
  const Detail detail = flags.summary ? Detail::summary : Detail::all;
  std::string text =
      flags.json ? simulations_json(reports, incomplete) : simulations_text(reports, style, detail);
  if (!flags.json && reports.size() < request.paths.size())
    text += fmt::format("stopped: {} of {} scenarios were run\n", reports.size(), request.paths.size());
  if (const auto printed = print(text); !printed) return std::unexpected(printed.error());
  if (!std::ranges::all_of(reports, [](const SeedsReport& report) { return report.held == report.runs; }))
    return exit_check_failed;
  return incomplete ? exit_declined : exit_done;
}

Result<int> simulate_tip(const SimulateFlags& flags, const Request& request) {
  RunProgress progress;
  std::optional<Result<TipReport>> report;
  {
    const RunWatch watch(progress, "--tip");
    report = find_tip({request.paths[0], flags.sets, flags.policy}, *flags.tip,
                      request.seeds.value_or(kTipSeeds), request.threads, progress);
  }
  if (!*report) return std::unexpected(report->error());
  const TipReport& tip = **report;
  if (const auto printed = print(flags.json ? tip_json(tip) : tip_text(tip)); !printed)
    return std::unexpected(printed.error());
  if (tip.interrupted) return exit_declined;
  return tip.found ? exit_done : exit_check_failed;
}

// As `overdue check` does, of the files in force. What cannot be read is said by load_scenario().
void warn_of_policy(const std::string& path) {
  const auto text = read_small_file(path);
  if (!text) return;
  const auto policy = parse_policy(*text, path);
  if (!policy) return;
  for (const PolicyWarning& warning : lint_policy(*policy))
    print_error(fmt::format("{}:{}: warning: {}", path, warning.line, warning.text));
}

Result<int> simulate_as_asked(const SimulateFlags& flags, const Request& request) {
  if (flags.tip) return simulate_tip(flags, request);
  if (request.seeds || request.folder) return simulate_many(flags, request);
  return simulate_one(flags, request);
}

Result<int> simulate(const SimulateFlags& flags) {
  const auto request = request_of(flags);
  if (!request) return std::unexpected(request.error());
  std::set<std::string> policies;
  for (const std::string& path : request->paths) {
    const auto policy = policy_file_of({path, flags.sets, flags.policy});
    if (policy && policies.insert(*policy).second) warn_of_policy(*policy);
  }
  try {
    return simulate_as_asked(flags, *request);
  } catch (const std::bad_alloc&) {
    return fail(
        ErrorCode::invalid_argument,
        fmt::format("{}: the run does not fit into memory: lower rates, a shorter duration, a queue with a "
                    "max, or fewer --threads",
                    flags.path));
  }
}

}  // namespace

void add_simulate(CLI::App& app, int& status) {
  CLI::App* command = app.add_subcommand("simulate", "Runs a scenario: what a policy does before it ships");
  const auto flags = std::make_shared<SimulateFlags>();
  command->add_option("SCENARIO", flags->path, "A scenario file, a folder of them, or - for standard input")
      ->required();
  const auto option = [&](const char* name, auto& word, const char* type, const char* help) {
    return command->add_option(name, word, help)->type_name(type);
  };
  option("--seed", flags->seed, "N", "In place of the scenario's own");
  option("--seeds", flags->seeds, "A..B", "Every seed from A to B: on how many do the expectations hold");
  option("--policy", flags->policy, "FILE", "A policy file; its dependencies replace the scenario's");
  option("--set", flags->sets, "KEY=VALUE", "Change one value: service.orders.workers=20. May be given again")
      ->allow_extra_args(false);
  option("--until", flags->until, "DURATION", "Stop the run here; expectations are not judged");
  option("--trace", flags->trace, "FILE", "Write every event of the run, a line each");
  option("--tip", flags->tip, "KEY=LOW..HIGH",
         "Where between the two the expectations start to fail (seeds 1..20)");
  option("--threads", flags->threads, "N", "For many seeds; figures do not depend on it");
  command->add_flag("--json", flags->json, "Schema overdue.simulation/1; of many runs overdue.simulations/1");
  command->add_flag("--summary", flags->summary, "Of many runs: a line a scenario, and the sums alone");
  command->footer(std::string(kExamples));
  command->callback([flags, &status] { status = finish(simulate(*flags)); });
}

}  // namespace overdue
