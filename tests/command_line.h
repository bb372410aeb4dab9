#pragma once

#include <string>
#include <string_view>

namespace overdue {

struct CommandResult {
  int status = -1;
  std::string out;
  std::string err;
};

// Runs `overdue` with the arguments, as one string that the shell splits. `input` is its standard input.
CommandResult run_overdue(const std::string& arguments, std::string_view input = "");

// A folder of its own for a test's files, removed at the end.
class ScratchFolder {
 public:
  ScratchFolder();
  ~ScratchFolder();
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  std::string path(std::string_view name) const { return folder_ + "/" + std::string(name); }
  // Writes the file and returns its path.
  std::string file(std::string_view name, std::string_view text) const;

 private:
  std::string folder_;
};

std::string text_of_file(const std::string& path);

}  // namespace overdue
