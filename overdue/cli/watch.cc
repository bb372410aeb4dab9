#include "overdue/cli/watch.h"

#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <utility>

#include "overdue/recorded/read.h"

namespace overdue {
namespace {

std::atomic<std::atomic<bool>*> watched{nullptr};
static_assert(std::atomic<std::atomic<bool>*>::is_always_lock_free && std::atomic<bool>::is_always_lock_free,
              "a signal handler may only touch what never locks");

// Ctrl-C, a polite kill, and the terminal that goes away.
constexpr std::array kStopping = {SIGINT, SIGTERM, SIGHUP};

extern "C" void stop_what_is_watched(int signal) {
  if (std::atomic<bool>* const stop = watched.load()) {
    if (stop->exchange(true)) std::_Exit(128 + signal);
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

std::string seeds_shown(const RunProgress& progress, const std::string& name) {
  return fmt::format("{}: {} of {} seeds, {} failed", name, progress.done.load(), progress.total.load(),
                     progress.failed.load());
}

std::string bytes_shown(const ReadProgress& progress, const std::string& name) {
  const auto read = static_cast<double>(progress.bytes_read.load());
  const auto total = static_cast<double>(progress.bytes_total);
  if (total == 0) return fmt::format("{}: {:.0f} MB", name, read / 1e6);
  return fmt::format("{}: {:.0f} % of {:.0f} MB", name, 100 * read / total, total / 1e6);
}

}  // namespace

Watch::Watch(std::atomic<bool>& stop, std::function<std::string()> shown) : shown_(std::move(shown)) {
  watched = &stop;
  struct sigaction action{};
  action.sa_handler = stop_what_is_watched;
  action.sa_flags = SA_RESTART;
  for (const int signal : kStopping) {
    if (signal != SIGHUP || !is_ignored(signal)) ::sigaction(signal, &action, nullptr);
  }
  if (shown_ && ::isatty(STDERR_FILENO) != 0) drawer_ = std::thread([this] { draw_until_done(); });
}

Watch::~Watch() {
  done_ = true;
  if (drawer_.joinable()) drawer_.join();
  for (const int signal : kStopping) {
    if (signal != SIGHUP || !is_ignored(signal)) std::signal(signal, SIG_DFL);
  }
  watched = nullptr;
}

void Watch::draw_until_done() {
  using namespace std::chrono_literals;
  bool drawn = false;
  for (int tick = 1; !done_; ++tick) {
    std::this_thread::sleep_for(20ms);
    if (tick < 25 || tick % 10 != 0) continue;  // Nothing for what takes less than half a second.
    write_error("\r\x1b[K" + shown_());
    drawn = true;
  }
  if (drawn) write_error("\r\x1b[K");
}

RunWatch::RunWatch(RunProgress& progress, const std::string& name)
    : Watch(
          progress.stop, name.empty() ? std::function<std::string()>()
                                      : [&progress, name] { return seeds_shown(progress, name); }) {}

ReadWatch::ReadWatch(ReadProgress& progress, const std::string& name)
    : Watch(progress.stop, [&progress, name] { return bytes_shown(progress, name); }) {}

}  // namespace overdue
