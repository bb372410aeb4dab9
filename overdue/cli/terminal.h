#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <thread>

#include "overdue/recorded/read.h"

namespace overdue {

// Colours where standard output is a terminal, NO_COLOR is not set and TERM is not dumb.
bool colours_wanted();
// Columns of the terminal, or 80.
int terminal_width();

// Writes all of `text` to standard output. False where it cannot be written (a full disk, a closed pipe).
bool print_out(const std::string& text);
// One line on standard error, "overdue: ...".
void print_error(const std::string& message);

// While it lives: progress of a read on standard error if that is a terminal, and Ctrl-C sets progress.stop,
// so that what was read is reported and not lost; a second Ctrl-C ends the process at once.
class ReadWatch {
 public:
  ReadWatch(ReadProgress& progress, std::string name);
  ReadWatch(const ReadWatch&) = delete;
  ReadWatch& operator=(const ReadWatch&) = delete;
  ~ReadWatch();

 private:
  void draw_until_done();

  ReadProgress& progress_;
  std::string name_;
  std::atomic<bool> done_{false};
  std::thread drawer_;
};

}  // namespace overdue
