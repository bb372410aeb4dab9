#pragma once

#include <cstddef>
#include <cstdint>

namespace overdue {

struct Separators {
  std::size_t count = 0;
  std::size_t newlines = 0;  // Among them.
  bool quotes = false;       // Whether there are any.
};

// Finds every `delimiter`, quote and newline among `size` bytes, 64 at a time, and writes their places in
// order to `places`. Requires: `delimiter` is neither a quote nor a newline; room for size + 8 places;
// ChunkReader::kReadableAfter bytes readable behind the text.
Separators find_separators(const char* text, std::size_t size, char delimiter, std::uint32_t* places);

}  // namespace overdue
