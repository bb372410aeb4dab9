#pragma once

#include <string>
#include <string_view>

#include "overdue/base/result.h"

namespace overdue {

// The whole of a small file. What comes through a pipe is kept: it is given once, and may be asked for again.
// Errors: unreadable_input, for a missing file too; a file over 16 MiB is refused. Threads: one at a time.
Result<std::string> read_small_file(const std::string& path);

// Replaces the file at `path` by `text`, or leaves it as it was: written beside it, flushed to disk, then
// renamed. Keeps the file's permissions. Errors: unreadable_input, naming the path and what the system said.
Result<void> replace_file(const std::string& path, std::string_view text);

}  // namespace overdue
