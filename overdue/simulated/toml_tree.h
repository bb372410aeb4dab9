#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "overdue/base/result.h"

namespace overdue {

// Marks the line of a value that stands in the file another is based on.
inline constexpr std::uint32_t kLineOfBase = std::uint32_t{1} << 31;

// A TOML document as plain data, each value with the line it stands on, so that values set from outside
// (--set) and values of the file are read by the same code, and no other file needs the TOML library.
struct TomlEntry;
struct TomlValue {
  enum class Kind : std::uint8_t { text, number, boolean, array, table, other };

  Kind kind = Kind::table;
  std::string text;  // Of a text; of a number, its digits as written by us; of any other, as TOML shows it.
  double number = 0;
  bool is_whole = false;   // A number without a fraction, within 2^53.
  bool is_inline = false;  // A table in braces: one value, where a [table] is a place for several.
  bool boolean = false;
  std::vector<TomlEntry> entries;  // Of a table, in the file's order.
  std::vector<TomlValue> items;    // Of an array.
  std::uint32_t line = 0;          // 1-based; 0: it came from outside the file. See kLineOfBase.

  const TomlValue* find(std::string_view key) const;
  TomlValue* find(std::string_view key);
};
struct TomlEntry {
  std::string key;
  TomlValue value;
};

// "none": no limit, or of what a base has nothing.
inline bool is_none(const TomlValue& value) {
  return value.kind == TomlValue::Kind::text && value.text == "none";
}

// Errors: invalid_argument, "PATH:LINE: not TOML: ...".
Result<TomlValue> parse_toml(std::string_view text, const std::string& path);

// One value as --set has it: TOML where it is TOML ("3", "true", "[1, 2]", "\"3\""), otherwise the text
// itself (50ms, 450/s, 10%, fifo). Its line is 0.
TomlValue parse_set_value(std::string_view text);

// As TOML text, every table written inline below the first two levels. What it says is what was read.
std::string toml_text(const TomlValue& table);

// A value in braces, on one line.
std::string inline_text(const TomlValue& value);

// Text cut at dots, quotes respected: a."b.c".d. Empty where it is no such path.
std::vector<std::string> split_path(std::string_view path);

// Of `candidates` the one most like `name`, if it is like it at all; else empty.
std::string nearest_name(std::string_view name, const std::vector<std::string>& candidates);

}  // namespace overdue
