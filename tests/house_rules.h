#pragma once

#include <cstddef>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace overdue::house {

// The rules of the house (docs/architecture.md) as functions of text, so that each can be tried on a bad
// sample.

// One file. `path` is relative to the repository root, with '/': "overdue/base/time.h".
struct SourceFile {
  std::string path;
  std::string text;
};

// What breaks a rule and where. `line` is 1-based; 0: the file as a whole.
struct Finding {
  std::string path;
  std::size_t line = 0;
  std::string message;
};
std::string describe(std::span<const Finding> findings);  // One line each: "path:line: message".

// Every file below the named folders of `root` whose name ends in one of `suffixes`, sorted by path.
std::vector<SourceFile> files_under(const std::string& root, std::span<const std::string_view> folders,
                                    std::span<const std::string_view> suffixes);

// The text with comments, string and character literals blanked out; line numbers stay.
std::string code_only(std::string_view text);

// A room includes its own headers and those of the rooms it may see; tests, benches and fuzzers may include
// any.
std::vector<Finding> check_includes(const SourceFile& file);

// Pure rooms neither read clocks, draw randomness of the system, touch files or sockets, lock, print nor
// exit. Their tests may print and use files, but no clock, no foreign randomness, no sleep, no socket.
std::vector<Finding> check_purity(const SourceFile& file);

// Headers have at most 200 lines, sources 500. `exceptions` lists longer files with their exact length, so
// that the list can only shrink: a file that grew, shrank or is gone is a finding too.
std::vector<Finding> check_sizes(std::span<const SourceFile> files,
                                 const std::map<std::string, std::size_t>& exceptions);

// No word that puts something off until later.
std::vector<Finding> check_leftovers(const SourceFile& file);

// Every add_NAME() of overdue/cli/subcommands.h has its file overdue/cli/NAME.cc and a page NAME.md among
// `pages`.
std::vector<Finding> check_subcommand_pages(const SourceFile& subcommands,
                                            std::span<const std::string> cli_files,
                                            std::span<const std::string> pages);

}  // namespace overdue::house
