#include "overdue/cli/commands.h"

#include <CLI/CLI.hpp>

#include "overdue/cli/subcommands.h"

namespace overdue {

int run_command_line(int argc, char** argv) {
  CLI::App app{"Timeouts from what callers really saw, and what they will cost."};
  app.name("overdue");
  app.require_subcommand(1);
  app.set_version_flag("--version", "overdue 0.1.0");
  int status = exit_done;
  add_lesson(app, status);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? exit_done : exit_bad_usage;
  }
  return status;
}

}  // namespace overdue
