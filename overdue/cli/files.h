#pragma once

#include <string>
#include <string_view>

#include "overdue/base/result.h"

namespace overdue {

// The whole of a small file. Errors: unreadable_input, for a missing file too; a file over 16 MiB is refused.
Result<std::string> read_small_file(const std::string& path);

// Replaces the file at `path` by `text`, or leaves it as it was: written beside it, flushed to disk, then
// renamed. Keeps the file's permissions. Errors: unreadable_input, naming the path and what the system said.
Result<void> replace_file(const std::string& path, std::string_view text);

}  // namespace overdue
