#pragma once

#include <string>
#include <string_view>

#include "overdue/base/result.h"

namespace overdue {

// Fails with invalid_argument, and the line, where a key of the TOML text has more than 256 parts
// ("a.b.c..."): each part is a table in the one before, and a parser calls itself for each. What else may be
// wrong with the text is the parser's to say. `path`: as errors name it. Threads: any.
Result<void> check_key_depth(std::string_view text, const std::string& path);

}  // namespace overdue
