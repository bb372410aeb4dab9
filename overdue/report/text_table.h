#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace overdue {

// Columns of text, padded to their widest cell. The first column is left-aligned, the others right unless
// said.
class TextTable {
 public:
  // `left`: columns besides the first that are left-aligned.
  explicit TextTable(std::vector<std::size_t> left = {}) : left_(std::move(left)) {}
  void add(std::vector<std::string> cells) { rows_.push_back(std::move(cells)); }
  // Each row on a line, indented, two spaces between columns, no spaces at the end.
  std::string text(std::size_t indent) const;

 private:
  std::vector<std::size_t> left_;
  std::vector<std::vector<std::string>> rows_;
};

// `text` broken at spaces into lines of at most `width`; `first` starts the first line, `rest` the others.
std::string wrapped(std::string_view text, std::size_t width, std::string_view first, std::string_view rest);

// Characters on the screen: UTF-8 continuation bytes do not count.
std::size_t shown_width(std::string_view text);

// At most `width` characters, of a longer text the middle left out: "payments_a..eu_west_1". Requires:
// width >= 4.
std::string without_middle(std::string_view text, std::size_t width);

// Names from logs may hold anything; control characters are shown as \xNN, so that none reaches a terminal.
std::string printable(std::string_view text);

}  // namespace overdue
