#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <thread>

namespace overdue {

// Progress and interruption of runs, shared with the threads that run them.
struct RunProgress {
  std::atomic<bool> stop{false};  // Set it: running ones end soon, no further one begins.
  std::atomic<std::uint64_t> done{0};
  std::atomic<std::uint64_t> failed{0};
  std::atomic<std::uint64_t> total{0};
};

// While it lives: Ctrl-C sets progress.stop, so that what was finished is reported; a second one ends the
// process at once. SIGTERM and SIGHUP do as Ctrl-C does. With a name, "NAME: 12 of 200 seeds, 1 failed" on
// standard error if that is a terminal and it takes a while.
class RunWatch {
 public:
  RunWatch(RunProgress& progress, std::string name);
  RunWatch(const RunWatch&) = delete;
  RunWatch& operator=(const RunWatch&) = delete;
  ~RunWatch();

 private:
  void draw_until_done();

  RunProgress& progress_;
  std::string name_;
  std::atomic<bool> done_{false};
  std::thread drawer_;
};

}  // namespace overdue
