#include "overdue/cli/terminal.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <string_view>

#include "overdue/report/text_table.h"

namespace overdue {
namespace {

std::atomic<ReadProgress*> interrupted_progress{nullptr};
static_assert(std::atomic<ReadProgress*>::is_always_lock_free,
              "a signal handler may only touch what never locks");

extern "C" void stop_reading(int) {
  if (ReadProgress* progress = interrupted_progress.load()) {
    if (progress->stop.exchange(true)) std::_Exit(130);
  }
}

}  // namespace

bool colours_wanted() {
  const char* no_color = std::getenv("NO_COLOR");
  const char* term = std::getenv("TERM");
  return ::isatty(STDOUT_FILENO) != 0 && (no_color == nullptr || *no_color == 0) && term != nullptr &&
         std::string_view(term) != "dumb";
}

int terminal_width() {
  winsize size{};
  if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col >= 40) return size.ws_col;
  return 80;
}

bool print_out(const std::string& text) {
  std::string_view rest = text;
  while (!rest.empty()) {
    const ssize_t written = ::write(STDOUT_FILENO, rest.data(), rest.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return errno == EPIPE;  // Whoever reads has seen enough: `overdue ... | head`.
    rest.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

void print_error(const std::string& message) {
  std::string line = "overdue: ";
  for (std::string_view rest = message;
       !rest.empty();) {  // Lines of their own; other control characters are shown.
    const std::size_t end = rest.find('\n');
    line += printable(rest.substr(0, end)) + "\n";
    rest = end == std::string_view::npos ? "" : rest.substr(end + 1);
  }
  [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, line.data(), line.size());
}

ReadWatch::ReadWatch(ReadProgress& progress, std::string name) : progress_(progress), name_(std::move(name)) {
  interrupted_progress = &progress_;
  struct sigaction action{};
  action.sa_handler = stop_reading;
  action.sa_flags = SA_RESTART;
  ::sigaction(SIGINT, &action, nullptr);
  if (::isatty(STDERR_FILENO) != 0) drawer_ = std::thread([this] { draw_until_done(); });
}

ReadWatch::~ReadWatch() {
  done_ = true;
  if (drawer_.joinable()) drawer_.join();
  std::signal(SIGINT, SIG_DFL);
  interrupted_progress = nullptr;
}

void ReadWatch::draw_until_done() {
  using namespace std::chrono_literals;
  bool drawn = false;
  for (int tick = 1; !done_; ++tick) {
    std::this_thread::sleep_for(20ms);
    if (tick < 25 || tick % 10 != 0) continue;  // Nothing for what takes less than half a second.
    const std::uint64_t total = progress_.bytes_total;
    const double read = static_cast<double>(progress_.bytes_read.load());
    const std::string line =
        total > 0 ? fmt::format("\r\x1b[K{}: {:.0f} % of {:.0f} MB", name_,
                                100 * read / static_cast<double>(total), static_cast<double>(total) / 1e6)
                  : fmt::format("\r\x1b[K{}: {:.0f} MB", name_, read / 1e6);
    [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, line.data(), line.size());
    drawn = true;
  }
  if (drawn) {
    [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, "\r\x1b[K", 4);
  }
}

}  // namespace overdue
