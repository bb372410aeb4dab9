#pragma once

namespace overdue {

// Exit codes of every command.
enum ExitCode {
  exit_done = 0,
  exit_check_failed = 1,  // An expectation or a check did not hold.
  exit_bad_usage = 2,     // Bad usage or unreadable input.
  exit_declined = 3,      // The data cannot support an answer.
};

// Runs `overdue` as the shell would and returns its exit code. Prints to standard output and standard error.
int run_command_line(int argc, char** argv);

}  // namespace overdue
