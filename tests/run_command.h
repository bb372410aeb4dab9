#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace overdue::house {

struct Outcome {
  std::string output;
  int status = 0;  // As the shell knows it; -1 where the command did not end by itself.
};

// Runs a line of shell with nothing on its standard input. Standard error is where it was unless the line
// redirects it.
Outcome run_command(const std::string& line);

// In single quotes for the shell, whatever is in it.
std::string quoted(const std::string& word);

std::vector<std::string> split_lines(std::string_view text);

}  // namespace overdue::house
