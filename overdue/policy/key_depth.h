#pragma once

#include <cstdint>
#include <string_view>

namespace overdue {

// Of a TOML text, the line of the first key of more than 256 parts ("a.b.c..."), or 0: each part is a table
// in the one before, and a parser calls itself for each.
std::uint32_t line_of_too_deep_key(std::string_view text);

}  // namespace overdue
