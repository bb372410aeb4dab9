#include "tests/command_line.h"

#include <stdlib.h>
#include <sys/wait.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace overdue {

CommandResult run_overdue(const std::string& arguments, std::string_view input) {
  const ScratchFolder folder;
  const std::string in = folder.file("in", input);
  const std::string command = "'" + std::string(OVERDUE_BINARY) + "' " + arguments + " <'" + in + "' >'" +
                              folder.path("out") + "' 2>'" + folder.path("err") + "'";
  const int status = std::system(command.c_str());
  return {.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status),
          .out = text_of_file(folder.path("out")),
          .err = text_of_file(folder.path("err"))};
}

ScratchFolder::ScratchFolder() {
  std::string name = (std::filesystem::temp_directory_path() / "overdue-test-XXXXXX").string();
  if (::mkdtemp(name.data()) == nullptr) std::abort();
  folder_ = name;
}

ScratchFolder::~ScratchFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(folder_, ignored);
}

std::string ScratchFolder::file(std::string_view name, std::string_view text) const {
  std::ofstream(path(name), std::ios::binary) << text;
  return path(name);
}

std::string text_of_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

}  // namespace overdue
