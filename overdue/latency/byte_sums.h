#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace overdue {

// The sum of bytes. Sixteen at a time where every processor of the kind has an instruction for it; else, and
// at the end, eight at a time: neighbours are added to 16 bits each, and these by a multiplication. Requires:
// fewer than 2^56 bytes.
inline std::uint64_t sum_of_bytes(std::span<const std::uint8_t> bytes) {
  constexpr std::uint64_t kEveryOther = 0x00ff'00ff'00ff'00ffU;
  std::uint64_t sum = 0;
  std::size_t at = 0;
#if defined(__SSE2__)
  __m128i sums = _mm_setzero_si128();  // Of either half.
  for (; at + 16 <= bytes.size(); at += 16) {
    const __m128i some = _mm_loadu_si128(reinterpret_cast<const __m128i*>(bytes.data() + at));
    sums = _mm_add_epi64(sums, _mm_sad_epu8(some, _mm_setzero_si128()));
  }
  sums = _mm_add_epi64(sums, _mm_unpackhi_epi64(sums, sums));
  sum = static_cast<std::uint64_t>(_mm_cvtsi128_si64(sums));
#endif
  for (; at + 8 <= bytes.size(); at += 8) {
    std::uint64_t eight = 0;
    std::memcpy(&eight, bytes.data() + at, sizeof(eight));
    sum += (((eight & kEveryOther) + ((eight >> 8) & kEveryOther)) * 0x0001'0001'0001'0001U) >> 48;
  }
  for (; at < bytes.size(); ++at) sum += bytes[at];
  return sum;
}

}  // namespace overdue
