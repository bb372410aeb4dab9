#include <CLI/CLI.hpp>

#include "overdue/cli/subcommands.h"

namespace overdue {

void add_lesson(CLI::App& app, int& status) {
  CLI::App* command = app.add_subcommand("lesson", "The lesson's experiment, figure for figure");
  command->callback([&status] { status = 0; });
}

}  // namespace overdue
