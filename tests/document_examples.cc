#include "document_examples.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "run_command.h"

namespace overdue::house {
namespace {

constexpr std::string_view kAnyLines = "...";

bool is_prompt(std::string_view line) { return line.starts_with("$ "); }

// Words as a shell would part them, roughly: quotes are taken off, pipes and redirections are words of their
// own.
std::vector<std::string> words_of_command(std::string_view command) {
  std::vector<std::string> words;
  std::string word;
  char quote = 0;
  const auto end_word = [&] {
    if (!word.empty()) words.push_back(word);
    word.clear();
  };
  for (const char letter : command) {
    if (quote != 0) {
      if (letter == quote) {
        quote = 0;
      } else {
        word += letter;
      }
    } else if (letter == '\'' || letter == '"') {
      quote = letter;
    } else if (std::isspace(static_cast<unsigned char>(letter)) != 0) {
      end_word();
    } else if (letter == '|' || letter == ';' || letter == '<' || letter == '>' || letter == '&') {
      end_word();
      words.emplace_back(1, letter);
    } else {
      word += letter;
    }
  }
  end_word();
  return words;
}

// Matches expected[e..] against actual[a..].
bool matches(const std::vector<std::string>& expected, std::size_t e, const std::vector<std::string>& actual,
             std::size_t a) {
  for (; e < expected.size(); ++e, ++a) {
    if (expected[e] == kAnyLines) {
      for (std::size_t skipped = a; skipped <= actual.size(); ++skipped) {
        if (matches(expected, e + 1, actual, skipped)) return true;
      }
      return false;
    }
    if (a >= actual.size() || expected[e] != actual[a]) return false;
  }
  return a == actual.size();
}

}  // namespace

std::vector<Example> examples_in(std::string_view markdown) {
  std::vector<Example> examples;
  bool inside = false;
  bool continued = false;
  std::size_t indent = 0;  // A block in a list is indented as its fence is.
  bool has_command = false;
  std::size_t number = 0;
  for (const std::string& whole : split_lines(markdown)) {
    ++number;
    const std::size_t first = std::min(whole.find_first_not_of(' '), whole.size());
    if (!inside) {
      inside = whole.substr(first) == "```console";
      indent = first;
      has_command = false;
      continue;
    }
    const std::string line = whole.substr(std::min(indent, first));
    if (line == "```") {
      inside = false;
      continued = false;
    } else if (continued) {
      Example& example = examples.back();
      example.command.pop_back();  // The backslash.
      example.command += line.starts_with("> ") ? line.substr(2) : line;
      continued = line.ends_with('\\');
    } else if (is_prompt(line)) {
      examples.push_back({.line = number, .command = line.substr(2), .expected = {}});
      continued = line.ends_with('\\');
      has_command = true;
    } else if (has_command) {
      examples.back().expected.push_back(line);
    }
  }
  return examples;
}

bool is_run(std::string_view command) {
  const std::vector<std::string> words = words_of_command(command);
  if (words.empty()) return false;
  static constexpr std::string_view shown[] = {"cat", "echo", "head", "printf", "zcat"};
  if (std::find(std::begin(shown), std::end(shown), words.front()) != std::end(shown)) return true;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const bool starts_a_command = i == 0 || words[i - 1] == "|" || words[i - 1] == ";" || words[i - 1] == "&";
    if (starts_a_command && (words[i] == "overdue" || words[i] == "./run")) return true;
  }
  return false;
}

std::string as_shell_command(std::string_view command) {
  if (command == "./run")
    return "overdue advise examples/orders.log.gz";  // What ./run does without arguments.
  std::string text(command);
  constexpr std::string_view run = "./run ";
  constexpr std::string_view overdue = "overdue ";
  for (std::size_t at = text.find(run); at != std::string::npos; at = text.find(run, at + overdue.size())) {
    if (at == 0 || text[at - 1] == ' ') text.replace(at, run.size(), overdue);
  }
  return text;
}

std::vector<std::string> named_files(std::string_view command) {
  static constexpr std::string_view folders[] = {"examples/", "docs/", "tests/", "scenarios/"};
  std::vector<std::string> files;
  for (const std::string& word : words_of_command(command)) {
    const auto in_folder = [&](std::string_view folder) { return word.starts_with(folder); };
    if (std::any_of(std::begin(folders), std::end(folders), in_folder)) files.push_back(word);
  }
  return files;
}

std::optional<std::string> difference(const std::vector<std::string>& expected,
                                      const std::vector<std::string>& actual) {
  if (matches(expected, 0, actual, 0)) return std::nullopt;
  std::size_t same = 0;
  while (same < expected.size() && same < actual.size() && expected[same] == actual[same]) ++same;
  const auto line_or_end = [&](const std::vector<std::string>& lines) {
    return same < lines.size() ? "\"" + lines[same] + "\"" : std::string("the end");
  };
  return fmt::format(
      "line {} of the output: the document says {}, it printed {}\n--- all it printed:\n{}\n---", same + 1,
      line_or_end(expected), line_or_end(actual), fmt::join(actual, "\n"));
}

}  // namespace overdue::house
