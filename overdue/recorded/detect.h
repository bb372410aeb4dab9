#pragma once

#include <string>
#include <string_view>

#include "overdue/recorded/chunk_reader.h"

namespace overdue {

// Chooses the format of a log by its head, or takes options.format, and opens it.
// Errors: those of the format; unreadable_input for what is none we read, named where it is known to us.
Result<OpenedFormat> open_format(std::string_view head, const std::string& path, const ReadOptions& options);

// What a head is that we know and do not read, in words ("a k6 summary: ..."); empty where it is nothing
// known.
std::string known_but_not_read(std::string_view head);

}  // namespace overdue
