#pragma once

#include <source_location>

namespace overdue {

// Ends the process with the condition and its place. For a bug of ours or of our caller, in every build.
[[noreturn]] void check_failed(const char* condition,
                               std::source_location where = std::source_location::current());

}  // namespace overdue

#define OVERDUE_CHECK(condition)           \
  do {                                     \
    if (!(condition)) [[unlikely]]         \
      ::overdue::check_failed(#condition); \
  } while (false)
