#include "overdue/policy/reading.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <sstream>

#include "overdue/base/quantity.h"
#include "overdue/policy/toml_text.h"

namespace overdue::reading {
namespace {

std::string listed(std::span<const std::string_view> names) {
  std::string text;
  for (const std::string_view name : names) text += fmt::format("{}\"{}\"", text.empty() ? "" : ", ", name);
  return text;
}

}  // namespace

void Faults::add(const toml::node& at, std::string_view key, std::string_view what) {
  const std::uint32_t line = at.source().begin.line;
  faults_.emplace_back(line, fmt::format("{}:{}: {} {}", path_, line, key, what));
}

std::string Faults::text() const {
  auto ordered = faults_;
  std::ranges::stable_sort(ordered, {}, &std::pair<std::uint32_t, std::string>::first);
  std::string text;
  for (const auto& [line, fault] : ordered) text += (text.empty() ? "" : "\n") + fault;
  return text;
}

std::string shown(const toml::node& node) {
  std::ostringstream out;
  node.visit([&](const auto& value) {
    // A number as it is written, and not with all of its binary digits.
    if constexpr (toml::is_floating_point<decltype(value)>)
      out << fmt::format("{}", value.get());
    else
      out << value;
  });
  std::string text;
  for (const char letter : out.str()) {  // One fault, one line.
    if (letter == '\n')
      text += "\\n";
    else
      text += letter;
  }
  return text;
}

bool is_word(const toml::node& node, std::string_view word) {
  return node.is_string() && node.value<std::string_view>() == word;
}

void read_duration(const Place& at, std::optional<Duration>& into) {
  const auto text = at.node.value<std::string_view>();
  if (!text || !at.node.is_string())
    return at.fault(fmt::format("= {}: a duration is text with a unit, as in \"250ms\"", shown(at.node)));
  const auto value = parse_duration(*text);
  if (!value) return at.fault(fmt::format("= {}", value.error().message));
  if (value->count() == 0) {
    return at.fault(
        fmt::format("= \"{}\" is no timeout at all in some systems and an instant one in others: write a "
                    "positive duration",
                    *text));
  }
  into = *value;
}

void read_rate(const Place& at, std::optional<Probability>& into) {
  std::string text;
  if (at.node.is_string()) {
    text = *at.node.value<std::string>();
  } else if (at.node.is_integer()) {
    text = fmt::format("{}", *at.node.value<std::int64_t>());  // Not every one is a double.
  } else if (at.node.is_floating_point()) {
    const double number = *at.node.value<double>();
    if (number == 1)
      return at.fault("= 1.0: for all of them write \"100%\", else a number below 1 such as 0.1");
    text =
        number != 0 && std::abs(number) < 1e-3 ? fmt::format("{:.12f}", number) : fmt::format("{}", number);
  } else {
    return at.fault(fmt::format("= {}: a rate is written \"0.1%\" or 0.001", shown(at.node)));
  }
  const auto value = parse_rate(text);
  if (!value) return at.fault(fmt::format("= {}", value.error().message));
  into = *value;
}

void read_bool(const Place& at, bool& into) {
  if (!at.node.is_boolean()) return at.fault(fmt::format("= {}: write true or false", shown(at.node)));
  into = *at.node.value<bool>();
}

void read_count(const Place& at, std::uint32_t max, std::optional<std::uint32_t>& into) {
  const auto number = at.node.value_exact<std::int64_t>();
  if (!at.node.is_integer() || !number || *number < 1 || *number > max)
    return at.fault(fmt::format("= {}: write a whole number from 1 to {}", shown(at.node), max));
  into = static_cast<std::uint32_t>(*number);
}

std::optional<std::size_t> read_choice(const Place& at, std::span<const std::string_view> names) {
  const auto text = at.node.value<std::string_view>();
  const auto found = at.node.is_string() && text ? std::ranges::find(names, *text) : names.end();
  if (found == names.end()) {
    at.fault(fmt::format("= {}: write one of {}", shown(at.node), listed(names)));
    return std::nullopt;
  }
  return static_cast<std::size_t>(found - names.begin());
}

std::optional<std::vector<std::size_t>> read_choices(const Place& at,
                                                     std::span<const std::string_view> names) {
  const toml::array* list = at.node.as_array();
  if (list == nullptr) {
    at.fault(fmt::format("= {}: write a list of some of {}", shown(at.node), listed(names)));
    return std::nullopt;
  }
  std::vector<std::size_t> places;
  for (const toml::node& entry : *list) {
    const Place one{entry, at.key, at.faults};
    const auto place = read_choice(one, names);
    if (!place) continue;
    if (std::ranges::find(places, *place) != places.end())
      one.fault(fmt::format("has {} twice", shown(entry)));
    else
      places.push_back(*place);
  }
  return places;
}

bool read_table(const Place& at, std::string_view what, std::span<const Key> keys) {
  const toml::table* table = at.node.as_table();
  if (table == nullptr) {
    std::vector<std::string_view> names;
    for (const Key& key : keys) names.push_back(key.name);
    at.fault(fmt::format("= {}: must be a table: write [{}], and under it any of {}", shown(at.node), at.key,
                         fmt::join(names, ", ")));
    return false;
  }
  for (const auto& [name, node] : *table) {
    const std::string full = at.key + "." + toml_text::as_key(name.str());
    const auto key = std::ranges::find(keys, name.str(), &Key::name);
    if (key != keys.end()) {
      key->read({node, full, at.faults});
      continue;
    }
    std::string known;
    for (const Key& one : keys) known += fmt::format("{}{}", known.empty() ? "" : ", ", one.name);
    at.faults.add(node, full, fmt::format("is not a key of {}; there are: {}", what, known));
  }
  return true;
}

}  // namespace overdue::reading
