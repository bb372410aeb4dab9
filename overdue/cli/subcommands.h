#pragma once

#include "overdue/base/result.h"

namespace CLI {
class App;
}

namespace overdue {

// Each adds its subcommand to `app`; running it sets `status` to the command's exit code. One file each.
void add_advise(CLI::App& app, int& status);
void add_check(CLI::App& app, int& status);
void add_explain(CLI::App& app, int& status);
void add_lesson(CLI::App& app, int& status);
void add_simulate(CLI::App& app, int& status);

// The exit code of a command; an error is printed and is bad usage or unreadable input (2), or what the data
// cannot support (3).
int finish(const Result<int>& outcome);

}  // namespace overdue
