#pragma once

#include <cstddef>
#include <cstdint>

namespace overdue {

// Finds every `delimiter`, quote and newline among `size` bytes, 64 at a time, and writes their places in
// order to `places`. Returns how many. Requires: room for size + 8 places; ChunkReader::kReadableAfter bytes
// readable behind the text.
std::size_t find_separators(const char* text, std::size_t size, char delimiter, std::uint32_t* places);

}  // namespace overdue
