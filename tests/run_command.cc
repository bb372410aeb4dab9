#include "run_command.h"

#include <sys/wait.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <string_view>

namespace overdue::house {

Outcome run_command(const std::string& line) {
  FILE* pipe = popen(("{ " + line + "\n} </dev/null").c_str(), "r");
  if (pipe == nullptr) return {"no shell", -1};
  Outcome outcome;
  std::array<char, 4096> buffer;
  std::size_t got = 0;
  while ((got = fread(buffer.data(), 1, buffer.size(), pipe)) > 0) outcome.output.append(buffer.data(), got);
  const int status = pclose(pipe);
  outcome.status = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  return outcome;
}

std::string quoted(const std::string& word) {
  std::string text = "'";
  for (const char letter : word) text += letter == '\'' ? std::string("'\\''") : std::string(1, letter);
  return text + "'";
}

std::vector<std::string> split_lines(std::string_view text) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    lines.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

}  // namespace overdue::house
