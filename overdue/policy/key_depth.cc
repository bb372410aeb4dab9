#include "overdue/policy/key_depth.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>

namespace overdue {
namespace {

// Where the text that begins at `at` with a quote ends: past the closing one, or with the line where there is
// none.
std::size_t end_of_text(std::string_view text, std::size_t at) {
  const char quote = text[at];
  const bool is_long = text.substr(at).starts_with(std::string(3, quote));
  const std::string closing(is_long ? 3 : 1, quote);
  for (std::size_t i = at + closing.size(); i < text.size(); ++i) {
    if (text.substr(i).starts_with(closing)) return i + closing.size();
    if (text[i] == '\n' && !is_long) return i;
    if (text[i] == '\\' && quote == '"') ++i;  // Of a pair, the second says nothing.
  }
  return text.size();
}

}  // namespace

Result<void> check_key_depth(std::string_view text, const std::string& path) {
  constexpr std::size_t kPartsMax = 256;
  std::size_t parts = 1;
  for (std::size_t i = 0; i < text.size();) {
    const char c = text[i];
    if (c == '"' || c == '\'') {
      i = end_of_text(text, i);
      continue;
    }
    if (c == '#') {
      i = std::min(text.find('\n', i), text.size());
      continue;
    }
    if (c == '.' && ++parts > kPartsMax) {
      const auto line = 1 + std::ranges::count(text.substr(0, i), '\n');
      return fail(ErrorCode::invalid_argument,
                  fmt::format("{}:{}: a key of more than {} parts: none here has more than five", path, line,
                              kPartsMax));
    }
    if (std::string_view("\n=[]{},").contains(c)) parts = 1;
    ++i;
  }
  return {};
}

}  // namespace overdue
