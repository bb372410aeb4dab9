#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace overdue::house {

// The examples in our documents, as tests. In a block
//
//     ```console
//     $ overdue advise examples/orders.log.gz | head -5
//     ...what it prints...
//     $ echo $?
//     0
//     ```
//
// every line "$ COMMAND" is a command and the lines up to the next are what it prints, to the letter,
// standard error included. A line `...` stands for any number of lines. A command that ends in a backslash
// goes on in the next line.
// "./run" is the same program as "overdue". `echo $?` prints the status of the command before it.
struct Example {
  std::size_t line = 0;  // 1-based, of the command.
  std::string command;
  std::vector<std::string> expected;
};

std::vector<Example> examples_in(std::string_view markdown);

// Whether we run the command at all: it runs overdue, or shows a file, or asks for the status. Installing,
// cloning and building are left to the reader.
bool is_run(std::string_view command);

// The command as the shell is given it, with ./run spelled overdue.
std::string as_shell_command(std::string_view command);

// Words of the command that name a file of the repository ("examples/...", "docs/...", "tests/...",
// "scenarios/...").
std::vector<std::string> named_files(std::string_view command);

// What differs, for people; nothing where the output is as the document says.
std::optional<std::string> difference(const std::vector<std::string>& expected,
                                      const std::vector<std::string>& actual);

}  // namespace overdue::house
