#include "overdue/report/text_table.h"

#include <fmt/format.h>

#include <algorithm>

namespace overdue {

std::size_t shown_width(std::string_view text) {
  return static_cast<std::size_t>(
      std::ranges::count_if(text, [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; }));
}

std::string printable(std::string_view text) {
  std::string shown;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const auto byte = static_cast<unsigned char>(text[at]);
    const auto next = at + 1 < text.size() ? static_cast<unsigned char>(text[at + 1]) : 0;
    // U+0080 to U+009F are control characters too, two bytes in UTF-8.
    if (byte < 0x20 || byte == 0x7F || (byte == 0xC2 && next >= 0x80 && next < 0xA0)) {
      shown += fmt::format("\\x{:02x}", byte == 0xC2 ? next : byte);
      if (byte == 0xC2) ++at;
    } else {
      shown += text[at];
    }
  }
  return shown;
}

std::string without_middle(std::string_view text, std::size_t width) {
  std::vector<std::size_t> letters;  // Where each begins.
  for (std::size_t at = 0; at < text.size(); ++at) {
    if ((static_cast<unsigned char>(text[at]) & 0xC0U) != 0x80U) letters.push_back(at);
  }
  if (letters.size() <= width) return std::string(text);
  const std::size_t kept = width - 2;
  const std::string_view end = text.substr(letters[letters.size() - kept / 2]);
  return std::string(text.substr(0, letters[kept - kept / 2])) + ".." + std::string(end);
}

std::string TextTable::text(std::size_t indent) const {
  std::vector<std::size_t> widths;
  for (const auto& row : rows_) {
    widths.resize(std::max(widths.size(), row.size()));
    for (std::size_t column = 0; column < row.size(); ++column) {
      widths[column] = std::max(widths[column], shown_width(row[column]));
    }
  }
  std::string text;
  for (const auto& row : rows_) {
    std::string line(indent, ' ');
    for (std::size_t column = 0; column < row.size(); ++column) {
      const std::string padding(widths[column] - shown_width(row[column]), ' ');
      const bool left = column == 0 || std::ranges::find(left_, column) != left_.end();
      line += (column == 0 ? "" : "  ") + (left ? row[column] + padding : padding + row[column]);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  }
  return text;
}

namespace {

// What a number is followed by, with or without what closes the sentence.
bool is_unit(std::string_view word) {
  while (!word.empty() && std::string_view(".,;:)").find(word.back()) != std::string_view::npos)
    word.remove_suffix(1);
  return word == "%" || word == "ms" || word == "s" || word == "us" || word == "ns" || word == "min" ||
         word == "h";
}

}  // namespace

std::string wrapped(std::string_view text, std::size_t width, std::string_view first, std::string_view rest) {
  std::string all;
  std::string line(first);
  bool empty = true;
  while (!text.empty()) {
    const std::size_t space = text.find(' ');
    const std::string_view word = text.substr(0, space);
    text = space == std::string_view::npos ? "" : text.substr(space + 1);
    if (word.empty()) continue;
    // "385 ms" stays together.
    if (!empty && !is_unit(word) && shown_width(line) + 1 + shown_width(word) > width) {
      all += line + "\n";
      line = rest;
      empty = true;
    }
    if (!empty) line += ' ';
    line += word;
    empty = false;
  }
  return all + line + "\n";
}

}  // namespace overdue
