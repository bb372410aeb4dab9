#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace overdue {

// The sum of bytes, eight at a time: neighbours are added to 16 bits each, and these by a multiplication.
// Requires: fewer than 2^56 bytes.
inline std::uint64_t sum_of_bytes(std::span<const std::uint8_t> bytes) {
  constexpr std::uint64_t kEveryOther = 0x00ff'00ff'00ff'00ffU;
  std::uint64_t sum = 0;
  std::size_t at = 0;
  for (; at + 8 <= bytes.size(); at += 8) {
    std::uint64_t eight = 0;
    std::memcpy(&eight, bytes.data() + at, sizeof(eight));
    sum += (((eight & kEveryOther) + ((eight >> 8) & kEveryOther)) * 0x0001'0001'0001'0001U) >> 48;
  }
  for (; at < bytes.size(); ++at) sum += bytes[at];
  return sum;
}

}  // namespace overdue
