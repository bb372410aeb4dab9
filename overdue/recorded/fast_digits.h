#pragma once

#include <cstdint>
#include <cstring>

namespace overdue {

// Digits eight at a time in one machine word, for fields whose ends are known. The word is in the text's
// order: its lowest byte is the leftmost digit. (The method is public knowledge; see D. Lemire, "Quickly
// parsing eight digits".)

inline constexpr std::uint64_t kEightZeros = 0x3030303030303030U;

// Requires: 8 readable bytes at `at`.
inline std::uint64_t load_eight(const char* at) {
  std::uint64_t word = 0;
  std::memcpy(&word, at, sizeof word);
  return word;
}

// The first `count` characters, moved to the right end behind leading '0's. Requires: 1 <= count <= 8.
inline std::uint64_t right_aligned(std::uint64_t word, unsigned count) {
  const unsigned shift = 64 - 8 * count;
  return shift == 0 ? word : (word << shift) | (kEightZeros >> (8 * count));
}

inline bool are_eight_digits(std::uint64_t word) {
  return (((word + 0x4646464646464646U) | (word - kEightZeros)) & 0x8080808080808080U) == 0;
}

// Pairs, then fours, then all eight are put together by multiplication. Requires: are_eight_digits(word).
inline std::uint64_t eight_digits(std::uint64_t word) {
  word -= kEightZeros;
  word = word * 10 + (word >> 8);
  const std::uint64_t low = (word & 0x000000ff000000ffU) * (100 + (std::uint64_t{1'000'000} << 32));
  const std::uint64_t high = ((word >> 16) & 0x000000ff000000ffU) * (1 + (std::uint64_t{10'000} << 32));
  return (low + high) >> 32;
}

// A number without sign of up to 16 digits. False where it is none. Requires: 16 readable bytes at `at`.
inline bool whole_number(const char* at, std::size_t size, std::uint64_t& value) {
  if (size == 0 || size > 16) return false;
  const auto count = static_cast<unsigned>(size);
  if (count <= 8) {
    const std::uint64_t word = right_aligned(load_eight(at), count);
    value = eight_digits(word);
    return are_eight_digits(word);
  }
  const std::uint64_t first = load_eight(at);
  const std::uint64_t rest = right_aligned(load_eight(at + 8), count - 8);
  static constexpr std::uint64_t kScale[9] = {1,       10,        100,        1'000,      10'000,
                                              100'000, 1'000'000, 10'000'000, 100'000'000};
  value = eight_digits(first) * kScale[count - 8] + eight_digits(rest);
  return are_eight_digits(first) && are_eight_digits(rest);
}

// "12.345" as 12345 with 3 digits of fraction: up to 8 characters, no sign, at most one point. False where it
// is none. `fraction_digits` comes in as a guess, 0 for none: the numbers of a log mostly have as many as the
// one before. Requires: 8 readable bytes at `at`; fraction_digits < 8.
inline bool short_decimal(const char* at, std::size_t size, std::uint64_t& value, unsigned& fraction_digits) {
  if (size - 1 > 7) return false;
  std::uint64_t word = right_aligned(load_eight(at), static_cast<unsigned>(size));
  unsigned bit = 56 - 8 * fraction_digits;  // Where the point's byte begins.
  bool point = bit != 56 && ((word >> bit) & 0xff) == '.';
  if (!point) [[unlikely]] {
    // The byte that is a point becomes 0, and the lowest byte that is 0 is found by the borrow it causes.
    const std::uint64_t unlike = word ^ 0x2e2e2e2e2e2e2e2eU;
    const std::uint64_t found = (unlike - 0x0101010101010101U) & ~unlike & 0x8080808080808080U;
    point = found != 0;
    bit = point ? static_cast<unsigned>(__builtin_ctzll(found)) - 7 : 56;
    fraction_digits = 7 - bit / 8;
  }
  if (point) {
    // What stands before the point moves over it, one byte to the right.
    const std::uint64_t before = word & ((std::uint64_t{1} << bit) - 1);
    const std::uint64_t after = (word >> bit >> 8) << bit << 8;
    word = after | (before << 8) | 0x30;
  }
  value = eight_digits(word);
  return are_eight_digits(word) && (size > 1 || !point);
}

}  // namespace overdue
