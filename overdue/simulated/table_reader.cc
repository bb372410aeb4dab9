#include "overdue/simulated/table_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "overdue/base/quantity.h"

namespace overdue {

std::string place_of_line(std::uint32_t line, std::string_view path, std::string_view base_path) {
  if (line == 0) return "--set";
  if ((line & kLineOfBase) != 0) return fmt::format("{}:{}", base_path, line & ~kLineOfBase);
  return fmt::format("{}:{}", path, line);
}

std::string ScenarioFaults::place(std::uint32_t line) const { return place_of_line(line, path_, base_path_); }

void ScenarioFaults::add(std::uint32_t line, std::string_view key, std::string_view what) {
  faults_.emplace_back(line, fmt::format("{}: {}{}{}", place(line), key, key.empty() ? "" : " ", what));
}

void ScenarioFaults::add_of_whole(std::string_view key, std::string_view what) {
  faults_.emplace_back(UINT32_MAX, fmt::format("{}: {} {}", path_, key, what));
}

std::string ScenarioFaults::text() const {
  auto ordered = faults_;
  std::ranges::stable_sort(ordered, {}, &std::pair<std::uint32_t, std::string>::first);
  std::string text;
  for (const auto& [line, fault] : ordered) text += (text.empty() ? "" : "\n") + fault;
  return text;
}

std::string shown(const TomlValue& value) {
  switch (value.kind) {
    case TomlValue::Kind::text:
      return "\"" + value.text + "\"";
    case TomlValue::Kind::array:
      return "[...]";
    case TomlValue::Kind::table:
      return value.line == 0 ? inline_text(value) : "{...}";  // Of --set it is one or two values.
    default:
      return value.text;
  }
}

std::optional<double> parse_per_second(std::string_view text) {
  const std::size_t slash = text.find('/');
  if (slash == std::string_view::npos) return std::nullopt;
  std::string_view digits = text.substr(0, slash);
  while (digits.ends_with(' ')) digits.remove_suffix(1);
  std::string_view unit = text.substr(slash + 1);
  while (unit.starts_with(' ')) unit.remove_prefix(1);
  const double scale = unit == "s"    ? 1
                       : unit == "ms" ? 1e3
                       : unit == "m"  ? 1 / 60.0
                       : unit == "h"  ? 1 / 3600.0
                                      : 0;
  double value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (scale == 0 || error != std::errc() || end != digits.data() + digits.size()) return std::nullopt;
  value *= scale;
  if (!(value > 0) || value > 1e9) return std::nullopt;
  return value;
}

std::string TableReader::path_of(std::string_view key) const {
  if (key.empty()) return path_;
  return path_.empty() ? std::string(key) : fmt::format("{}.{}", path_, key);
}

const TomlValue* TableReader::ask(std::string_view key) {
  if (std::ranges::find(known_, key) == known_.end()) known_.emplace_back(key);
  return table_.find(key);
}

bool TableReader::has(std::string_view key) { return ask(key) != nullptr; }

const TomlValue* TableReader::any(std::string_view key) { return ask(key); }

void TableReader::fault(std::string_view key, std::string_view what) {
  const TomlValue* value = key.empty() ? nullptr : ask(key);
  faults_.add(value == nullptr ? table_.line : value->line, path_of(key), what);
}

void TableReader::require(std::string_view key, std::string_view example) {
  if (ask(key) == nullptr)
    faults_.add(table_.line, path_of(key), fmt::format("is missing: write {}", example));
}

std::optional<std::string> TableReader::text(std::string_view key) {
  const TomlValue* value = ask(key);
  if (value == nullptr) return std::nullopt;
  if (value->kind == TomlValue::Kind::text && !value->text.empty()) return value->text;
  fault(key, fmt::format("= {}: write text in quotes", shown(*value)));
  return std::nullopt;
}

std::optional<bool> TableReader::boolean(std::string_view key) {
  const TomlValue* value = ask(key);
  if (value == nullptr) return std::nullopt;
  if (value->kind == TomlValue::Kind::boolean) return value->boolean;
  fault(key, fmt::format("= {}: write true or false", shown(*value)));
  return std::nullopt;
}

std::optional<std::uint64_t> TableReader::whole(std::string_view key, std::uint64_t low, std::uint64_t high) {
  const TomlValue* value = ask(key);
  if (value == nullptr) return std::nullopt;
  if (value->kind == TomlValue::Kind::number && value->is_whole &&
      value->number >= static_cast<double>(low) && value->number <= static_cast<double>(high)) {
    return static_cast<std::uint64_t>(value->number);
  }
  fault(key, fmt::format("= {}: write a whole number from {} to {}", shown(*value), low, high));
  return std::nullopt;
}

std::optional<double> TableReader::number(std::string_view key, double low, double high) {
  const TomlValue* value = ask(key);
  if (value == nullptr) return std::nullopt;
  if (value->kind == TomlValue::Kind::number && value->number >= low && value->number <= high)
    return value->number;
  fault(key, fmt::format("= {}: write a number from {} to {}", shown(*value), low, high));
  return std::nullopt;
}

std::optional<Duration> TableReader::duration_or_zero(std::string_view key) {
  const TomlValue* value = ask(key);
  if (value == nullptr) return std::nullopt;
  if (value->kind != TomlValue::Kind::text) {
    fault(key, fmt::format("= {}: a duration is text with a unit, as in \"250ms\"", shown(*value)));
    return std::nullopt;
  }
  const auto read = parse_duration(value->text);
  if (read) return *read;
  fault(key, "= " + read.error().message);
  return std::nullopt;
}

std::optional<Duration> TableReader::duration(std::string_view key) {
  const auto value = duration_or_zero(key);
  if (!value || value->count() > 0) return value;
  fault(key, fmt::format("= {}: write a duration above zero", shown(*ask(key))));
  return std::nullopt;
}

std::optional<Duration> TableReader::duration_from(std::string_view key, Duration low) {
  const auto value = duration(key);
  if (!value || *value >= low) return value;
  fault(key, fmt::format("= {}: write {} or more", shown(*ask(key)), format_duration_exact(low)));
  return std::nullopt;
}

std::optional<Probability> TableReader::rate(std::string_view key) {
  const TomlValue* value = ask(key);
  if (value == nullptr) return std::nullopt;
  if (value->kind != TomlValue::Kind::text && value->kind != TomlValue::Kind::number) {
    fault(key, fmt::format("= {}: a rate is written \"0.1%\" or 0.001", shown(*value)));
    return std::nullopt;
  }
  if (value->kind == TomlValue::Kind::number && value->number == 1 && !value->is_whole) {
    fault(key, "= 1.0: for all of them write \"100%\", else a number below 1 such as 0.1");
    return std::nullopt;
  }
  const bool tiny =
      value->kind == TomlValue::Kind::number && value->number != 0 && std::abs(value->number) < 1e-3;
  const auto read = parse_rate(tiny ? fmt::format("{:.12f}", value->number) : value->text);
  if (read) return *read;
  fault(key, "= " + read.error().message);
  return std::nullopt;
}

std::optional<double> TableReader::per_second(std::string_view key) {
  const TomlValue* value = ask(key);
  if (value == nullptr) return std::nullopt;
  if (value->kind == TomlValue::Kind::text) {
    if (const auto read = parse_per_second(value->text)) return read;
  }
  fault(key, fmt::format("= {}: write how many in what time, as in \"450/s\" or \"30/m\", at most 1e9/s",
                         shown(*value)));
  return std::nullopt;
}

std::optional<TimeDistribution> TableReader::time(std::string_view key) {
  const TomlValue* value = ask(key);
  return value == nullptr ? std::nullopt : read_time(*value, path_of(key), faults_);
}

std::optional<std::size_t> TableReader::word(std::string_view key, const std::vector<std::string>& words) {
  const TomlValue* value = ask(key);
  if (value == nullptr) return std::nullopt;
  if (value->kind == TomlValue::Kind::text) {
    const auto found = std::ranges::find(words, value->text);
    if (found != words.end()) return static_cast<std::size_t>(found - words.begin());
  }
  fault(key, fmt::format("= {}: write one of {}", shown(*value), fmt::join(words, ", ")));
  return std::nullopt;
}

namespace {
constexpr double kCountMax = 1e9;  // Of workers and of who waits.
}  // namespace

void TableReader::whole_or_none(std::string_view key, std::optional<std::uint32_t>& into) {
  const TomlValue* value = ask(key);
  if (value == nullptr) return;
  if (is_none(*value)) {
    into.reset();
  } else if (value->kind == TomlValue::Kind::number && value->is_whole && value->number >= 1 &&
             value->number <= kCountMax) {
    into = static_cast<std::uint32_t>(value->number);
  } else {
    fault(key, fmt::format("= {}: write a whole number from 1 to {}, or \"none\" for no limit", shown(*value),
                           static_cast<std::uint64_t>(kCountMax)));
  }
}

std::optional<std::vector<std::string>> TableReader::texts(std::string_view key) {
  const TomlValue* value = ask(key);
  if (value == nullptr) return std::nullopt;
  std::vector<std::string> list;
  for (const TomlValue& item : value->items) {
    if (item.kind == TomlValue::Kind::text && !item.text.empty()) list.push_back(item.text);
  }
  if (value->kind == TomlValue::Kind::array && !list.empty() && list.size() == value->items.size())
    return list;
  fault(key, fmt::format("= {}: write a list of names, as in [\"a\", \"b\"]", shown(*value)));
  return std::nullopt;
}

const TomlValue* TableReader::table(std::string_view key) {
  const TomlValue* value = ask(key);
  if (value == nullptr || value->kind == TomlValue::Kind::table) return value;
  if (!is_none(*value)) fault(key, fmt::format("= {}: must be a table, or \"none\"", shown(*value)));
  return nullptr;
}

const TomlValue* TableReader::array(std::string_view key) {
  const TomlValue* value = ask(key);
  if (value == nullptr || value->kind == TomlValue::Kind::array) return value;
  fault(key, fmt::format("= {}: must be a list", shown(*value)));
  return nullptr;
}

void TableReader::done() {
  for (const auto& [key, value] : table_.entries) {
    if (std::ranges::find(known_, key) != known_.end()) continue;
    const std::string nearest = nearest_name(key, known_);
    const std::string there = fmt::format("there are: {}", fmt::join(known_, ", "));
    faults_.add(value.line, path_of(key),
                fmt::format("is not a key {}; {}", path_.empty() ? "of a scenario" : "here",
                            nearest.empty() ? there : fmt::format("did you mean {}?", nearest)));
  }
}

}  // namespace overdue
