#include "overdue/cli/run_watch.h"

#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <csignal>
#include <cstdlib>

namespace overdue {
namespace {

std::atomic<RunProgress*> watched{nullptr};
static_assert(std::atomic<RunProgress*>::is_always_lock_free,
              "a signal handler may only touch what never locks");

// Ctrl-C, a polite kill, and the terminal that goes away.
constexpr std::array kStopping = {SIGINT, SIGTERM, SIGHUP};

extern "C" void stop_running(int signal) {
  if (RunProgress* progress = watched.load()) {
    if (progress->stop.exchange(true)) std::_Exit(128 + signal);
  }
}

// Under nohup a terminal that goes away is nothing to stop for.
bool is_ignored(int signal) {
  struct sigaction before{};
  return ::sigaction(signal, nullptr, &before) == 0 && before.sa_handler == SIG_IGN;
}

void write_error(const std::string& text) {
  [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, text.data(), text.size());
}

}  // namespace

RunWatch::RunWatch(RunProgress& progress, std::string name) : progress_(progress), name_(std::move(name)) {
  watched = &progress_;
  struct sigaction action{};
  action.sa_handler = stop_running;
  action.sa_flags = SA_RESTART;
  for (const int signal : kStopping) {
    if (signal != SIGHUP || !is_ignored(signal)) ::sigaction(signal, &action, nullptr);
  }
  if (!name_.empty() && ::isatty(STDERR_FILENO) != 0) drawer_ = std::thread([this] { draw_until_done(); });
}

RunWatch::~RunWatch() {
  done_ = true;
  if (drawer_.joinable()) drawer_.join();
  for (const int signal : kStopping) {
    if (signal != SIGHUP || !is_ignored(signal)) std::signal(signal, SIG_DFL);
  }
  watched = nullptr;
}

void RunWatch::draw_until_done() {
  using namespace std::chrono_literals;
  bool drawn = false;
  for (int tick = 1; !done_; ++tick) {
    std::this_thread::sleep_for(20ms);
    if (tick < 25 || tick % 10 != 0) continue;  // Nothing for what takes less than half a second.
    write_error(fmt::format("\r\x1b[K{}: {} of {} seeds, {} failed", name_, progress_.done.load(),
                            progress_.total.load(), progress_.failed.load()));
    drawn = true;
  }
  if (drawn) write_error("\r\x1b[K");
}

}  // namespace overdue
