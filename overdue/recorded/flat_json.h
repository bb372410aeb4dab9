#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace overdue {

inline constexpr std::size_t kWantedMax = 24;  // Fields of a line that may be asked for.

// What FlatJson saw of a line: its length, and whether it is flat.
struct LineShape {
  std::size_t size = 0;  // Without the newline.
  // One '{' at the front, no other brace or bracket opened, no backslash: keys stand out as text.
  bool flat = false;
};

// The line at `text`. Requires: 64 readable bytes after `size`.
LineShape shape_of_line(const char* text, std::size_t size);

// FlatJson finds wanted fields of a flat JSON line by their keys' text, in the order in which they stood in
// the line before. In a flat line without backslashes `"key":` after '{', ',' or a blank can be nothing but
// that key, so no more of the line needs to be understood. Errors: find() is false where a field is not there
// or looks unusual; a full parser then decides. Threads: const and shared.
class FlatJson {
 public:
  // So that what is read behind a line stays within 64 bytes.
  static constexpr std::size_t kKeyMax = 40;

  // Keys in the usual order, each without a dot. Requires: at most kWantedMax, none longer than kKeyMax.
  explicit FlatJson(const std::vector<std::string>& keys);

  // What one line after the other is found into.
  struct Found {
    std::array<std::string_view, kWantedMax> texts;
    // From the end of the value before to each key, as it was in the last line: the place looked at first.
    std::array<std::uint32_t, kWantedMax> gaps{};
  };

  // Fills texts[i] with key i's value: a string without its quotes, another scalar as written.
  // Requires: shape_of_line() called the line flat; 64 readable bytes after it.
  bool find(std::string_view line, Found& found) const;

  static constexpr std::size_t kKeyRoom = 48;
  struct Key {
    std::array<char, kKeyRoom> text{};  // With both quotes and the colon.
    std::size_t size = 0;
  };

 private:
  std::vector<Key> keys_;
};

}  // namespace overdue
