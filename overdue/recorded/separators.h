#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace overdue {

struct Separators {
  std::size_t count = 0;
  std::size_t newlines = 0;  // Among them.
  bool quotes = false;       // Whether there are any.
  bool returns = false;      // Whether there are carriage returns, which separate nothing.
};

// Behind the last place so much room is written to.
inline constexpr std::size_t kPlacesAfter = 64;

// Finds every `delimiter`, quote and newline among `size` bytes, 64 at a time, and writes their places in
// order to `places`. Requires: `delimiter` is neither a quote nor a newline; room for size + kPlacesAfter
// places; ChunkReader::kReadableAfter bytes readable behind the text.
using FindSeparators = Separators(const char* text, std::size_t size, char delimiter, std::uint32_t* places);
FindSeparators find_separators;

// All ways to do it that this machine has, the fastest first: find_separators() takes that one. For tests.
std::vector<FindSeparators*> ways_to_find_separators();

}  // namespace overdue
