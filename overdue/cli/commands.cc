#include "overdue/cli/commands.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <csignal>

#include "overdue/cli/subcommands.h"
#include "overdue/cli/terminal.h"

namespace overdue {

int finish(const Result<int>& outcome) {
  if (outcome) return *outcome;
  print_error(outcome.error().message);
  return outcome.error().code == ErrorCode::unsupported ? exit_declined : exit_bad_usage;
}

namespace {

std::vector<std::string> names_of(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* command : app.get_subcommands({})) names.push_back(command->get_name());
  return names;
}

}  // namespace

int run_command_line(int argc, char** argv) {
  std::signal(SIGPIPE, SIG_IGN);
  CLI::App app{"Timeouts from what callers really saw, and what they will cost."};
  app.name("overdue");
  app.require_subcommand(1);
  app.set_version_flag("--version", "overdue 0.1.0");
  int status = exit_done;
  add_advise(app, status);
  add_check(app, status);
  add_explain(app, status);
  add_lesson(app, status);
  add_simulate(app, status);
  const std::string_view first = argc > 1 ? argv[1] : "";
  if (first == "help") {
    return print_out(app.help()) ? exit_done : exit_bad_usage;
  }
  const std::vector<std::string> names = names_of(app);
  if (!first.empty() && !first.starts_with('-') && std::ranges::find(names, first) == names.end()) {
    print_error(fmt::format("there is no command '{}': there are {}; overdue --help tells of each", first,
                            fmt::join(names, ", ")));
    return exit_bad_usage;
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? exit_done : exit_bad_usage;
  }
  return status;
}

}  // namespace overdue
