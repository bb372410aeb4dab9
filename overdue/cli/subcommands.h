#pragma once

namespace CLI {
class App;
}

namespace overdue {

// Each adds its subcommand to `app`; running it sets `status` to the command's exit code. One file each.
void add_lesson(CLI::App& app, int& status);

}  // namespace overdue
