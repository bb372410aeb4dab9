// Changing one table of a policy file in place: the file is people's, so all that is not the figures to set
// stays, byte for byte. The text is cut into lines; the table's own lines are found by its header, each key
// that is set is replaced where it stands or added below the last line of the table that is not blank.
#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "overdue/policy/policy.h"
#include "overdue/policy/toml_text.h"

namespace overdue {
namespace {

using toml_text::Settings;

constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";  // Some editors begin a file with it.

std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t\r");
  if (first == std::string_view::npos) return "";
  return text.substr(first, text.find_last_not_of(" \t\r") - first + 1);
}

std::vector<std::string> lines_of(std::string_view text) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    lines.emplace_back(text.substr(0, end));
    text = end == std::string_view::npos ? "" : text.substr(end + 1);
  }
  return lines;
}

// The parts of a header such as [dependency . "a.b" . timeout], or nothing where the line is no table header.
std::vector<std::string> header_of(std::string_view line) {
  std::string_view text = trimmed(line);
  if (text.empty() || text.front() != '[' || text.starts_with("[[")) return {};
  text.remove_prefix(1);
  std::vector<std::string> parts(1);
  char quote = 0;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    if (quote != 0) {
      if (c == '\\' && quote == '"' && at + 1 < text.size())
        parts.back() += text[++at];
      else if (c == quote)
        quote = 0;
      else
        parts.back() += c;
    } else if (c == '"' || c == '\'') {
      quote = c;
    } else if (c == ']') {
      return parts;
    } else if (c == '.') {
      parts.emplace_back();
    } else if (c != ' ' && c != '\t') {
      parts.back() += c;
    }
  }
  return {};
}

// Without its quotes, which a key may have; in them nothing that we set has anything to escape.
std::string_view key_of(std::string_view line) {
  const std::string_view text = trimmed(line);
  if (text.empty() || text.front() == '#') return "";
  const std::string_view key = trimmed(text.substr(0, text.find('=')));
  const bool quoted =
      key.size() > 2 && (key.front() == '"' || key.front() == '\'') && key.back() == key.front();
  return quoted ? key.substr(1, key.size() - 2) : key;
}

// What a line ends with before its "\n".
std::string_view line_end(std::string_view line) { return line.ends_with('\r') ? "\r" : ""; }

// What follows the value on its line: spaces and a comment.
std::string_view comment_of(std::string_view line) {
  char quote = 0;
  for (std::size_t at = line.find('=') + 1; at < line.size(); ++at) {
    if (quote != 0) {
      if (line[at] == quote) quote = 0;
    } else if (line[at] == '"' || line[at] == '\'') {
      quote = line[at];
    } else if (line[at] == '#') {
      std::size_t from = at;
      while (from > 0 && (line[from - 1] == ' ' || line[from - 1] == '\t')) --from;
      return line.substr(from);
    }
  }
  return "";
}

// Sets the keys in the table whose header stands at lines[header].
void set_keys(std::vector<std::string>& lines, std::size_t header, const Settings& settings) {
  const std::string new_line_end(line_end(lines[header]));
  std::size_t end = header + 1;
  std::size_t last_used = header;
  while (end < lines.size() && !trimmed(lines[end]).starts_with('[')) {
    if (!trimmed(lines[end]).empty() && trimmed(lines[end]).front() != '#') last_used = end;
    ++end;
  }
  for (const auto& [key, value] : settings) {
    const auto stands = std::find_if(lines.begin() + static_cast<std::ptrdiff_t>(header) + 1,
                                     lines.begin() + static_cast<std::ptrdiff_t>(last_used) + 1,
                                     [&](const std::string& line) { return key_of(line) == key; });
    if (stands != lines.begin() + static_cast<std::ptrdiff_t>(last_used) + 1) {
      const std::string before = stands->substr(0, stands->find('=') + 1);
      const std::string own_end(line_end(*stands));
      const std::string_view line = std::string_view(*stands).substr(0, stands->size() - own_end.size());
      *stands = fmt::format("{} {}{}{}", before, value, comment_of(line), own_end);
    } else {
      ++last_used;
      lines.insert(lines.begin() + static_cast<std::ptrdiff_t>(last_used),
                   fmt::format("{} = {}{}", key, value, new_line_end));
    }
  }
}

// "[dependency.orders.timeout]".
std::string header_text(std::string_view name, std::string_view table) {
  return fmt::format("[dependency.{}{}{}]", toml_text::as_key(name), table.empty() ? "" : ".", table);
}

// `text` with the settings in the table of `name`. See with_timeout() for what can go wrong.
Result<std::string> changed_table(std::string_view text, const std::string& path, std::string_view name,
                                  std::string_view table, const Settings& settings) {
  const auto before = parse_policy(text, path);
  if (!before) return std::unexpected(before.error());
  const std::string_view mark = text.starts_with(kByteOrderMark) ? kByteOrderMark : "";
  std::vector<std::string> lines = lines_of(text.substr(mark.size()));
  // A last line without an end gets that of the others.
  const std::string ending(lines.empty() ? "" : line_end(lines.front()));
  if (!lines.empty() && !text.ends_with('\n') && line_end(lines.back()) != ending) lines.back() += ending;
  std::vector<std::string> wanted_header = {"dependency", std::string(name)};
  if (!table.empty()) wanted_header.emplace_back(table);
  const auto at = std::find_if(lines.begin(), lines.end(),
                               [&](const std::string& line) { return header_of(line) == wanted_header; });
  if (at != lines.end()) {
    set_keys(lines, static_cast<std::size_t>(at - lines.begin()), settings);
  } else {
    if (!lines.empty()) lines.push_back(ending);
    lines.push_back(header_text(name, table) + ending);
    set_keys(lines, lines.size() - 1, settings);
  }
  std::string changed(mark);
  for (const std::string& line : lines) changed += line + "\n";
  const auto after = parse_policy(changed, path);
  if (after) return changed;
  // Fine as TOML, and the figures do not fit what else is in the file.
  if (after.error().message.find("not TOML") == std::string::npos) {
    return fail(ErrorCode::invalid_argument,
                fmt::format("{}\n{}: is left as it is", after.error().message, path));
  }
  std::string wanted;
  for (const auto& [key, value] : settings) wanted += fmt::format("\n  {} = {}", key, value);
  return fail(
      ErrorCode::invalid_argument,
      fmt::format("{}: the {} of {} is not a [table] of its own, or a value in it has several lines, so "
                  "it cannot be set in place; put these lines in it:{}",
                  path, table.empty() ? "table" : table, name, wanted));
}

}  // namespace

Result<std::string> with_timeout(std::string_view text, const std::string& path, std::string_view name,
                                 const TimeoutPolicy& timeout) {
  return changed_table(text, path, name, "timeout", toml_text::settings_of(timeout));
}

Result<std::string> with_setting(std::string_view text, const std::string& path, std::string_view name,
                                 const PolicySetting& setting) {
  return changed_table(text, path, name, setting.table, {{setting.key, std::string(setting.value)}});
}

}  // namespace overdue
