#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace overdue {

// BlockFields is the fields of some lines of a block of text that have equally many, by the places of what
// separates them. Threads: const and shared.
struct BlockFields {
  const char* text = nullptr;
  // The first line's; before it stands the place before that line, UINT32_MAX at the start of the text.
  const std::uint32_t* places = nullptr;
  std::uint32_t fields = 0;  // A line.
  std::size_t rows = 0;

  std::uint32_t begin_of(std::size_t row, std::uint32_t field) const {
    return *(places + static_cast<std::ptrdiff_t>(row * fields + field) - 1) + 1;
  }
  std::uint32_t end_of(std::size_t row, std::uint32_t field) const { return places[row * fields + field]; }
  std::string_view text_of(std::size_t row, std::uint32_t field) const {
    const std::uint32_t begin = begin_of(row, field);
    return {text + begin, end_of(row, field) - begin};
  }
};

}  // namespace overdue
