#include "overdue/simulated/toml_tree.h"

#include <fmt/format.h>
#include <toml++/toml.h>

#include <algorithm>
#include <sstream>

#include "overdue/base/edit_distance.h"
#include "overdue/policy/key_depth.h"

namespace overdue {
namespace {

constexpr std::int64_t kWholeMax = std::int64_t{1} << 53;

TomlValue copied(const toml::node& node);

TomlValue copied_table(const toml::table& table) {
  TomlValue value;
  value.is_inline = table.is_inline();
  for (const auto& [key, node] : table) value.entries.emplace_back(std::string(key.str()), copied(node));
  // toml++ keeps keys sorted; people read a file from its top. Keys of one line keep that order.
  std::ranges::stable_sort(value.entries, {}, [](const auto& entry) { return entry.value.line; });
  return value;
}

TomlValue copied(const toml::node& node) {
  TomlValue value;
  if (const toml::table* table = node.as_table()) {
    value = copied_table(*table);
  } else if (const toml::array* array = node.as_array()) {
    value.kind = TomlValue::Kind::array;
    for (const toml::node& item : *array) value.items.push_back(copied(item));
  } else if (node.is_string()) {
    value.kind = TomlValue::Kind::text;
    value.text = *node.value<std::string>();
  } else if (node.is_integer() || node.is_floating_point()) {
    value.kind = TomlValue::Kind::number;
    if (const toml::value<std::int64_t>* whole = node.as_integer()) {
      // Not every one is a double: asked for as one, toml++ has none.
      value.number = static_cast<double>(whole->get());
      value.is_whole = whole->get() >= -kWholeMax && whole->get() <= kWholeMax;
      value.text = fmt::format("{}", whole->get());
    } else {
      value.number = *node.value<double>();
      value.text = fmt::format("{}", value.number);
    }
  } else if (node.is_boolean()) {
    value.kind = TomlValue::Kind::boolean;
    value.boolean = *node.value<bool>();
    value.text = value.boolean ? "true" : "false";
  } else {
    value.kind = TomlValue::Kind::other;
    std::ostringstream out;
    node.visit([&](const auto& inner) { out << inner; });
    value.text = out.str();
  }
  value.line = node.source().begin.line;
  return value;
}

std::string quoted(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\')
      out += fmt::format("\\{}", c);
    else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f)
      out += fmt::format("\\u{:04X}", static_cast<unsigned char>(c));
    else
      out += c;
  }
  return out + "\"";
}

}  // namespace

std::string inline_text(const TomlValue& value) {
  std::string out;
  switch (value.kind) {
    case TomlValue::Kind::text:
      return quoted(value.text);
    case TomlValue::Kind::array:
      for (const TomlValue& item : value.items) out += (out.empty() ? "" : ", ") + inline_text(item);
      return "[" + out + "]";
    case TomlValue::Kind::table:
      for (const auto& [key, entry] : value.entries)
        out += fmt::format("{}{} = {}", out.empty() ? "" : ", ", quoted(key), inline_text(entry));
      return "{" + out + "}";
    case TomlValue::Kind::number:
      // A fraction stays one: 1.0 is not 1.
      if (!value.is_whole && value.text.find_first_not_of("-0123456789") == std::string::npos)
        return value.text + ".0";
      return value.text;
    case TomlValue::Kind::boolean:
    case TomlValue::Kind::other:
      return value.text;
  }
  return out;
}

const TomlValue* TomlValue::find(std::string_view key) const {
  const auto found = std::ranges::find(entries, key, &TomlEntry::key);
  return found == entries.end() ? nullptr : &found->value;
}

TomlValue* TomlValue::find(std::string_view key) {
  return const_cast<TomlValue*>(std::as_const(*this).find(key));
}

Result<TomlValue> parse_toml(std::string_view text, const std::string& path) {
  if (const auto shallow = check_key_depth(text, path); !shallow) return std::unexpected(shallow.error());
  try {
    return copied_table(toml::parse(text, path));
  } catch (const toml::parse_error& error) {
    return fail(ErrorCode::invalid_argument,
                fmt::format("{}:{}: not TOML: {}", path, error.source().begin.line, error.description()));
  }
}

namespace {
void forget_lines(TomlValue& value) {
  value.line = 0;
  for (auto& [key, entry] : value.entries) forget_lines(entry);
  for (TomlValue& item : value.items) forget_lines(item);
}
}  // namespace

TomlValue parse_set_value(std::string_view text) {
  // One line of TOML and no more: a text with a line break in it is itself.
  if (text.find('\n') == std::string_view::npos) {
    if (const auto read = parse_toml(fmt::format("value = {}", text), "--set");
        read && read->entries.size() == 1) {
      TomlValue value = read->entries.front().value;
      if (value.kind != TomlValue::Kind::other) {
        forget_lines(value);
        return value;
      }
    }
  }
  TomlValue value;
  value.kind = TomlValue::Kind::text;
  value.text = text;
  return value;
}

std::string toml_text(const TomlValue& table) {
  std::string plain;
  std::string tables;
  for (const auto& [key, entry] : table.entries) {
    if (entry.kind != TomlValue::Kind::table) {
      plain += fmt::format("{} = {}\n", quoted(key), inline_text(entry));
      continue;
    }
    for (const auto& [name, inner] : entry.entries)
      tables += fmt::format("{}.{} = {}\n", quoted(key), quoted(name), inline_text(inner));
  }
  return plain + tables;
}

std::vector<std::string> split_path(std::string_view path) {
  std::vector<std::string> parts(1);
  char quote = 0;
  for (const char c : path) {
    if (quote != 0) {
      if (c == quote)
        quote = 0;
      else
        parts.back() += c;
    } else if (c == '"' || c == '\'') {
      quote = c;
    } else if (c == '.') {
      parts.emplace_back();
    } else {
      parts.back() += c;
    }
  }
  const bool bad =
      quote != 0 || std::ranges::any_of(parts, [](const std::string& part) { return part.empty(); });
  return bad ? std::vector<std::string>{} : parts;
}

std::string nearest_name(std::string_view name, const std::vector<std::string>& candidates) {
  constexpr std::size_t kNameMax = 100;  // Longer ones are no slip of the pen, and the table is quadratic.
  if (name.size() > kNameMax) return "";
  std::string best;
  std::size_t best_distance = std::max<std::size_t>(name.size() / 3, 1) + 1;  // At most a third is wrong.
  for (const std::string& candidate : candidates) {
    if (candidate.size() > kNameMax) continue;
    const std::size_t steps = edit_distance(name, candidate);
    if (steps < best_distance) {
      best = candidate;
      best_distance = steps;
    }
  }
  return best;
}

}  // namespace overdue
