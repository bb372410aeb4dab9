#include "overdue/policy/key_depth.h"

#include <cstddef>

namespace overdue {

std::uint32_t line_of_too_deep_key(std::string_view text) {
  constexpr std::uint32_t kDotsMax = 255;
  std::uint32_t line = 1;
  std::uint32_t dots = 0;
  char quote = 0;
  bool in_comment = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '\n') {
      ++line;
      quote = 0;
      in_comment = false;
      dots = 0;
    } else if (in_comment) {
      continue;
    } else if (quote != 0) {
      if (c == '\\' && quote == '"') ++i;
      if (c == quote) quote = 0;
    } else if (c == '"' || c == '\'') {
      quote = c;
    } else if (c == '#') {
      in_comment = true;
    } else if (c == '.') {
      if (++dots > kDotsMax) return line;
    } else if (c == '=' || c == '[' || c == ']' || c == '{' || c == '}' || c == ',') {
      dots = 0;
    }
  }
  return 0;
}

}  // namespace overdue
