#include "house_rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <optional>
#include <set>
#include <sstream>

namespace overdue::house {
namespace {

constexpr std::size_t kHeaderLinesMax = 200;
constexpr std::size_t kSourceLinesMax = 500;

using Words = std::set<std::string_view>;

// Who may see whom; the same as the SEES of overdue/CMakeLists.txt, spelled out.
const std::map<std::string_view, Words>& rooms() {
  static const std::map<std::string_view, Words> table = {
      {"base", {}},
      {"latency", {"base"}},
      {"timeout", {"base", "latency"}},
      {"call", {"base", "latency", "timeout"}},
      {"fault", {"base"}},
      {"write", {"base", "latency", "timeout", "call"}},
      {"policy", {"base", "call", "write"}},
      {"recorded", {"base", "latency", "timeout", "policy"}},
      {"simulated", {"base", "latency", "timeout", "call", "write", "policy", "fault"}},
      {"report", {"base", "latency", "timeout", "policy"}},
      {"cli",
       {"base", "latency", "timeout", "call", "write", "policy", "fault", "recorded", "simulated", "report"}},
  };
  return table;
}
// Reports see results and not worlds: these headers are plain data, and need nothing of their room's library.
const Words kResults = {"overdue/simulated/run_result.h"};
const Words kPureRooms = {"base", "latency", "timeout", "call", "write", "fault"};
// It prints why the process ends, and ends it.
constexpr std::string_view kMayAbort = "overdue/base/check.cc";

// Names of the standard library, whatever follows them. The first set is banned in tests of pure rooms too.
const Words kClocksAndChance = {"system_clock",
                                "steady_clock",
                                "high_resolution_clock",
                                "utc_clock",
                                "file_clock",
                                "random_device",
                                "mt19937",
                                "mt19937_64",
                                "minstd_rand",
                                "default_random_engine",
                                "this_thread"};
const Words kFilesLocksOutput = {"ifstream",
                                 "ofstream",
                                 "fstream",
                                 "filebuf",
                                 "filesystem",
                                 "mutex",
                                 "shared_mutex",
                                 "recursive_mutex",
                                 "timed_mutex",
                                 "lock_guard",
                                 "unique_lock",
                                 "scoped_lock",
                                 "shared_lock",
                                 "condition_variable",
                                 "atomic",
                                 "atomic_flag",
                                 "atomic_ref",
                                 "thread",
                                 "jthread",
                                 "async",
                                 "call_once",
                                 "counting_semaphore",
                                 "binary_semaphore",
                                 "latch",
                                 "barrier",
                                 "cout",
                                 "cerr",
                                 "clog",
                                 "cin",
                                 "print",
                                 "println"};
// Functions, where they are called by a bare name, std:: or a leading ::. C's random() is not among them: it
// is too good a name for a member of a generator of ours, and srandom() gives it away.
const Words kClockAndChanceCalls = {"now",          "time",      "clock",   "gettimeofday", "clock_gettime",
                                    "timespec_get", "localtime", "gmtime",  "mktime",       "rand",
                                    "srand",        "rand_r",    "srandom", "drand48",      "getrandom",
                                    "arc4random",   "sleep",     "usleep",  "nanosleep",    "sleep_for",
                                    "sleep_until",  "socket"};
const Words kFileAndOutputCalls = {"fopen",      "freopen",
                                   "fdopen",     "open",
                                   "openat",     "creat",
                                   "mmap",       "unlink",
                                   "rename",     "remove",
                                   "printf",     "fprintf",
                                   "vprintf",    "vfprintf",
                                   "puts",       "fputs",
                                   "putchar",    "fputc",
                                   "putc",       "fwrite",
                                   "fread",      "perror",
                                   "syslog",     "exit",
                                   "_exit",      "_Exit",
                                   "quick_exit", "abort",
                                   "terminate",  "getenv",
                                   "system",     "popen",
                                   "fork",       "pthread_mutex_lock"};
const Words kClockAndChanceHeaders = {"ctime", "time.h", "sys/time.h", "random", "thread", "sys/socket.h"};
const Words kFileAndOutputHeaders = {
    "fstream", "iostream",           "cstdio",     "stdio.h",    "filesystem", "mutex",    "shared_mutex",
    "atomic",  "condition_variable", "semaphore",  "future",     "latch",      "barrier",  "unistd.h",
    "fcntl.h", "syslog.h",           "sys/mman.h", "sys/stat.h", "netdb.h",    "pthread.h"};

bool is_word(char letter) { return std::isalnum(static_cast<unsigned char>(letter)) != 0 || letter == '_'; }

bool ends_with_any(std::string_view name, std::span<const std::string_view> suffixes) {
  return std::any_of(suffixes.begin(), suffixes.end(),
                     [&](std::string_view suffix) { return name.ends_with(suffix); });
}

bool is_test(std::string_view path) { return path.ends_with("_test.cc"); }

// "latency" for "overdue/latency/histogram.h", "" for "overdue/main.cc", nothing elsewhere.
std::optional<std::string_view> room_of(std::string_view path) {
  constexpr std::string_view prefix = "overdue/";
  if (!path.starts_with(prefix)) return std::nullopt;
  path.remove_prefix(prefix.size());
  const std::size_t slash = path.find('/');
  return slash == std::string_view::npos ? std::string_view{} : path.substr(0, slash);
}

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    lines.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

// What stands between the delimiters of an #include line, with the opening one in front: `<ctime`,
// `"overdue/...`.
std::optional<std::string_view> included(std::string_view line) {
  std::size_t at = line.find_first_not_of(" \t");
  if (at == std::string_view::npos || line[at] != '#') return std::nullopt;
  at = line.find_first_not_of(" \t", at + 1);
  constexpr std::string_view directive = "include";
  if (at == std::string_view::npos || !line.substr(at).starts_with(directive)) return std::nullopt;
  at = line.find_first_not_of(" \t", at + directive.size());
  if (at == std::string_view::npos || (line[at] != '<' && line[at] != '"')) return std::nullopt;
  const std::size_t end = line.find(line[at] == '<' ? '>' : '"', at + 1);
  return line.substr(at, std::min(end, line.size()) - at);
}

const Words kBeforeACall = {"return", "co_return", "co_await", "co_yield", "throw", "else",
                            "do",     "case",      "and",      "or",       "not"};

// A word of the code and what stands right before and after it.
struct Word {
  std::string_view text;
  std::size_t line;
  std::string_view before;     // "::", ".", "->" or "".
  std::string_view qualifier;  // The word before "::", "" for a leading "::".
  bool declared;               // A word stands right before it, as in `Duration time(...)`: no call.
  bool called;
};

// Steps back over spaces from `at` (exclusive).
std::size_t skip_back(std::string_view code, std::size_t at) {
  while (at > 0 && (code[at - 1] == ' ' || code[at - 1] == '\t' || code[at - 1] == '\n')) --at;
  return at;
}

// The word that ends right before `at`; empty where there is none.
std::string_view word_before(std::string_view code, std::size_t at) {
  std::size_t begin = at;
  while (begin > 0 && is_word(code[begin - 1])) --begin;
  return code.substr(begin, at - begin);
}

std::vector<Word> words_of(std::string_view code) {
  std::vector<Word> words;
  std::size_t line = 1;
  for (std::size_t at = 0; at < code.size();) {
    if (code[at] == '\n') ++line;
    if (!is_word(code[at])) {
      ++at;
      continue;
    }
    std::size_t end = at;
    while (end < code.size() && is_word(code[end])) ++end;
    Word word{.text = code.substr(at, end - at),
              .line = line,
              .before = {},
              .qualifier = {},
              .declared = false,
              .called = false};
    const std::size_t next = code.find_first_not_of(" \t\n", end);
    word.called = next != std::string_view::npos && code[next] == '(';
    const std::size_t back = skip_back(code, at);
    if (back >= 2 && code.substr(back - 2, 2) == "::") {
      word.before = "::";
      word.qualifier = word_before(code, back - 2);
    } else if (back >= 2 && code.substr(back - 2, 2) == "->") {
      word.before = "->";
    } else if (back >= 1 && code[back - 1] == '.') {
      word.before = ".";
    } else {
      const std::string_view type = word_before(code, back);
      word.declared = !type.empty() && !kBeforeACall.contains(type);
    }
    words.push_back(word);
    at = end;
  }
  return words;
}

// Whether a call by this name can be the C library's: not a member's, not another namespace's.
bool may_be_global(const Word& word) {
  if (word.declared) return false;
  if (word.before.empty()) return true;
  return word.before == "::" && (word.qualifier.empty() || word.qualifier == "std");
}

std::optional<std::string> impurity_of(const Word& word, bool test) {
  const bool of_std = word.before == "::" &&
                      (word.qualifier == "std" || word.qualifier == "chrono" || word.qualifier == "fmt");
  if (of_std && kClocksAndChance.contains(word.text)) return fmt::format("uses {}", word.text);
  if (of_std && word.text.ends_with("_distribution"))
    return fmt::format("uses {}: differs between libraries", word.text);
  // A clock's now(), whoever's it is; a variable `now` is not called.
  if (word.called && word.text == "now" && word.before == "::") return "reads a clock";
  if (word.called && may_be_global(word) && kClockAndChanceCalls.contains(word.text))
    return fmt::format("calls {}()", word.text);
  if (test) return std::nullopt;
  if (of_std && kFilesLocksOutput.contains(word.text)) return fmt::format("uses {}", word.text);
  if (word.called && may_be_global(word) && kFileAndOutputCalls.contains(word.text))
    return fmt::format("calls {}()", word.text);
  if (word.called && word.text == "print" && word.qualifier == "fmt") return "prints";
  return std::nullopt;
}

// Blanks [from, to) but keeps line ends.
void blank(std::string& text, std::size_t from, std::size_t to) {
  for (std::size_t at = from; at < to && at < text.size(); ++at) {
    if (text[at] != '\n') text[at] = ' ';
  }
}

// Past the end of a quoted literal that opens at `at`.
std::size_t end_of_quoted(std::string_view text, std::size_t at) {
  const char quote = text[at];
  for (++at; at < text.size() && text[at] != quote && text[at] != '\n'; ++at) {
    if (text[at] == '\\') ++at;
  }
  return std::min(at + 1, text.size());
}

// Past the end of a raw string whose quote is at `at`.
std::size_t end_of_raw(std::string_view text, std::size_t at) {
  const std::size_t open = std::min(text.find('(', at), text.size());
  const std::string closing = ")" + std::string(text.substr(at + 1, open - at - 1)) + "\"";
  const std::size_t end = text.find(closing, open);
  return end == std::string_view::npos ? text.size() : end + closing.size();
}

}  // namespace

std::string describe(std::span<const Finding> findings) {
  std::string text;
  for (const Finding& finding : findings) {
    text += fmt::format("{}:{}: {}\n", finding.path, finding.line, finding.message);
  }
  return text;
}

std::vector<SourceFile> files_under(const std::string& root, std::span<const std::string_view> folders,
                                    std::span<const std::string_view> suffixes) {
  std::vector<SourceFile> files;
  for (const std::string_view folder : folders) {
    const std::filesystem::path start = std::filesystem::path(root) / folder;
    if (!std::filesystem::exists(start)) continue;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(start)) {
      const std::string path = std::filesystem::relative(entry.path(), root).generic_string();
      if (!entry.is_regular_file() || !ends_with_any(path, suffixes)) continue;
      std::ostringstream text;
      text << std::ifstream(entry.path(), std::ios::binary).rdbuf();
      files.push_back({path, std::move(text).str()});
    }
  }
  std::sort(files.begin(), files.end(),
            [](const SourceFile& a, const SourceFile& b) { return a.path < b.path; });
  return files;
}

std::string code_only(std::string_view text) {
  std::string code(text);
  for (std::size_t at = 0; at < text.size();) {
    std::size_t end = at + 1;
    if (text.substr(at, 2) == "//") {
      end = std::min(text.find('\n', at), text.size());
      blank(code, at, end);
    } else if (text.substr(at, 2) == "/*") {
      const std::size_t close = text.find("*/", at + 2);
      end = close == std::string_view::npos ? text.size() : close + 2;
      blank(code, at, end);
    } else if (text[at] == '"') {
      end = at > 0 && text[at - 1] == 'R' ? end_of_raw(text, at) : end_of_quoted(text, at);
      blank(code, at, end);
    } else if (text[at] == '\'' &&
               (at == 0 || !is_word(text[at - 1]))) {  // Else it parts the digits of a number.
      end = end_of_quoted(text, at);
      blank(code, at, end);
    }
    at = end;
  }
  return code;
}

std::vector<Finding> check_includes(const SourceFile& file) {
  std::vector<Finding> findings;
  const std::optional<std::string_view> room = room_of(file.path);
  if (!room) return findings;
  if (!room->empty() && !rooms().contains(*room)) {
    findings.push_back(
        {file.path, 0, fmt::format("{} is a new room: add what it may see to the table", *room)});
    return findings;
  }
  std::size_t number = 0;
  for (const std::string_view line : lines_of(file.text)) {
    ++number;
    const std::optional<std::string_view> name = included(line);
    if (!name || name->front() != '"') continue;
    const std::optional<std::string_view> seen = room_of(name->substr(1));
    if (!seen) {
      findings.push_back(
          {file.path, number, "quoted includes name a file from the root: \"overdue/ROOM/FILE.h\""});
      continue;
    }
    // main.cc belongs to no room and sees only the command line.
    const bool is_result = room == "report" && kResults.contains(name->substr(1));
    const bool allowed =
        room->empty() ? *seen == "cli" : *seen == *room || rooms().at(*room).contains(*seen) || is_result;
    if (!allowed) {
      const std::string_view who = room->empty() ? std::string_view("main") : *room;
      findings.push_back({file.path, number, fmt::format("{} may not see {}", who, *seen)});
    }
  }
  return findings;
}

std::vector<Finding> check_purity(const SourceFile& file) {
  std::vector<Finding> findings;
  const std::optional<std::string_view> room = room_of(file.path);
  if (!room || !kPureRooms.contains(*room) || file.path == kMayAbort) return findings;
  const bool test = is_test(file.path);
  std::size_t number = 0;
  for (const std::string_view line : lines_of(file.text)) {
    ++number;
    const std::optional<std::string_view> name = included(line);
    if (!name) continue;
    const std::string_view header = name->substr(1);
    if (kClockAndChanceHeaders.contains(header) || (!test && kFileAndOutputHeaders.contains(header))) {
      findings.push_back({file.path, number, fmt::format("includes <{}>", header)});
    }
  }
  const std::string code = code_only(file.text);
  for (const Word& word : words_of(code)) {
    if (const auto why = impurity_of(word, test)) findings.push_back({file.path, word.line, *why});
  }
  return findings;
}

std::vector<Finding> check_sizes(std::span<const SourceFile> files,
                                 const std::map<std::string, std::size_t>& exceptions) {
  std::vector<Finding> findings;
  std::set<std::string> unused;
  for (const auto& [path, lines] : exceptions) unused.insert(path);
  for (const SourceFile& file : files) {
    const std::size_t lines = lines_of(file.text).size();
    const std::size_t most = file.path.ends_with(".h") ? kHeaderLinesMax : kSourceLinesMax;
    const auto exception = exceptions.find(file.path);
    if (exception == exceptions.end()) {
      if (lines > most)
        findings.push_back(
            {file.path, 0, fmt::format("{} lines, at most {}: split it by idea", lines, most)});
      continue;
    }
    unused.erase(file.path);
    if (lines > exception->second) {
      findings.push_back({file.path, 0, fmt::format("grew from {} to {} lines", exception->second, lines)});
    } else if (lines <= most) {
      findings.push_back({file.path, 0, "fits now: take it off the list of exceptions"});
    } else if (lines < exception->second) {
      findings.push_back(
          {file.path, 0, fmt::format("shrank: lower its entry from {} to {}", exception->second, lines)});
    }
  }
  for (const std::string& path : unused)
    findings.push_back({path, 0, "is gone: take it off the list of exceptions"});
  return findings;
}

std::vector<Finding> check_leftovers(const SourceFile& file) {
  // In two halves, so that this file passes its own check.
  static const Words leftovers = {
      "TO"
      "DO",
      "FIX"
      "ME",
      "XX"
      "X",
      "HA"
      "CK"};
  std::vector<Finding> findings;
  for (const Word& word : words_of(file.text)) {
    if (leftovers.contains(word.text))
      findings.push_back({file.path, word.line, fmt::format("leaves a {}", word.text)});
  }
  return findings;
}

std::vector<Finding> check_subcommand_pages(const SourceFile& subcommands,
                                            std::span<const std::string> cli_files,
                                            std::span<const std::string> pages) {
  std::vector<Finding> findings;
  const std::string code = code_only(subcommands.text);
  for (const Word& word : words_of(code)) {
    constexpr std::string_view prefix = "add_";
    if (!word.called || !word.text.starts_with(prefix)) continue;
    const std::string name(word.text.substr(prefix.size()));
    if (std::find(cli_files.begin(), cli_files.end(), "overdue/cli/" + name + ".cc") == cli_files.end()) {
      findings.push_back(
          {subcommands.path, word.line, fmt::format("{} has no overdue/cli/{}.cc", word.text, name)});
    }
    std::string page_name = name + ".md";
    std::replace(page_name.begin(), page_name.end(), '_', '-');
    const auto has_page = [&](const std::string& page) {
      return std::filesystem::path(page).filename() == page_name;
    };
    if (std::none_of(pages.begin(), pages.end(), has_page)) {
      findings.push_back(
          {subcommands.path, word.line, fmt::format("{} has no page {} under docs/", word.text, page_name)});
    }
  }
  return findings;
}

}  // namespace overdue::house
