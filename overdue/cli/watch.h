#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>
#include <thread>

namespace overdue {

struct ReadProgress;

// Progress and interruption of runs, shared with the threads that run them.
struct RunProgress {
  std::atomic<bool> stop{false};  // Set it: running ones end soon, no further one begins.
  std::atomic<std::uint64_t> done{0};
  std::atomic<std::uint64_t> failed{0};
  std::atomic<std::uint64_t> total{0};
};

// While it lives: Ctrl-C sets `stop`, so that what was finished is reported and not lost; a second one ends
// the process at once. SIGTERM and SIGHUP do as Ctrl-C does. One at a time.
class Watch {
 public:
  // `shown`: a line on standard error, drawn again and again if that is a terminal and it takes a while.
  // Nothing: none is drawn.
  Watch(std::atomic<bool>& stop, std::function<std::string()> shown);
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;
  ~Watch();

 private:
  void draw_until_done();

  std::function<std::string()> shown_;
  std::atomic<bool> done_{false};
  std::thread drawer_;
};

// "NAME: 12 of 200 seeds, 1 failed"; without a name nothing is drawn.
class RunWatch : public Watch {
 public:
  RunWatch(RunProgress& progress, const std::string& name);
};

// "NAME: 40 % of 925 MB".
class ReadWatch : public Watch {
 public:
  ReadWatch(ReadProgress& progress, const std::string& name);
};

}  // namespace overdue
