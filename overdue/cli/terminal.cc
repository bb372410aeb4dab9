#include "overdue/cli/terminal.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <string_view>

#include "overdue/report/text_table.h"

namespace overdue {
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

}  // namespace overdue
