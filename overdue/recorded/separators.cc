#include "overdue/recorded/separators.h"

#include <bit>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace overdue {
namespace {

// Eight places are written whether they are there or not, so that the usual number of them costs no branch.
[[gnu::always_inline]] inline std::uint32_t* write_places(std::uint64_t found, std::uint32_t from,
                                                          std::uint32_t* out) {
  const int count = std::popcount(found);
  for (int i = 0; i < 8; ++i) {
    out[i] = from + static_cast<std::uint32_t>(std::countr_zero(found));
    found &= found - 1;
  }
  for (int i = 8; i < count; ++i) {
    out[i] = from + static_cast<std::uint32_t>(std::countr_zero(found));
    found &= found - 1;
  }
  return out + count;
}

std::uint64_t only_first(std::uint64_t found, std::size_t bytes) {
  return bytes >= 64 ? found : found & ((std::uint64_t{1} << bytes) - 1);
}

#if defined(__x86_64__)

[[gnu::target("avx2,bmi,popcnt"), gnu::always_inline]] inline std::uint64_t are_like(__m256i low,
                                                                                     __m256i high,
                                                                                     char like) {
  const __m256i all = _mm256_set1_epi8(like);
  const auto low_bits = static_cast<std::uint32_t>(_mm256_movemask_epi8(_mm256_cmpeq_epi8(low, all)));
  const auto high_bits = static_cast<std::uint32_t>(_mm256_movemask_epi8(_mm256_cmpeq_epi8(high, all)));
  return low_bits | std::uint64_t{high_bits} << 32;
}

[[gnu::target("avx2,bmi,popcnt")]] Separators find_by_avx2(const char* text, std::size_t size, char delimiter,
                                                           std::uint32_t* places) {
  std::uint32_t* out = places;
  std::size_t newlines = 0;
  std::uint64_t quotes = 0;
  std::uint64_t returns = 0;
  for (std::size_t from = 0; from < size; from += 64) {
    const __m256i low = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(text + from));
    const __m256i high = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(text + from + 32));
    const std::uint64_t ends = only_first(are_like(low, high, '\n'), size - from);
    const std::uint64_t quoted = only_first(are_like(low, high, '"'), size - from);
    const std::uint64_t found = only_first(are_like(low, high, delimiter), size - from) | ends | quoted;
    newlines += static_cast<std::size_t>(std::popcount(ends));
    quotes |= quoted;
    returns |= only_first(are_like(low, high, '\r'), size - from);
    out = write_places(found, static_cast<std::uint32_t>(from), out);
  }
  return {static_cast<std::size_t>(out - places), newlines, quotes != 0, returns != 0};
}

// The places of the bits that are set, closed up by one instruction. (What would leave lanes undefined is
// asked to clear them: GCC 12 warns of its own header there.)
[[gnu::target("avx512bw,avx512vbmi2,popcnt"), gnu::always_inline]] inline std::uint32_t* write_places_at_once(
    std::uint64_t found, std::uint32_t from, std::uint32_t* out) {
  const __m512i numbers =
      _mm512_set_epi64(0x3f3e3d3c3b3a3938, 0x3736353433323130, 0x2f2e2d2c2b2a2928, 0x2726252423222120,
                       0x1f1e1d1c1b1a1918, 0x1716151413121110, 0x0f0e0d0c0b0a0908, 0x0706050403020100);
  const __m512i set = _mm512_maskz_compress_epi8(found, numbers);
  const __m512i base = _mm512_set1_epi32(static_cast<int>(from));
  const auto write = [&](__m128i sixteen, std::size_t at) __attribute__((
                         target("avx512bw,avx512vbmi2,popcnt"), always_inline)) {
    _mm512_storeu_si512(out + at, _mm512_add_epi32(base, _mm512_maskz_cvtepu8_epi32(0xffff, sixteen)));
  };
  const int count = std::popcount(found);
  write(_mm512_maskz_extracti32x4_epi32(0xf, set, 0), 0);
  if (count > 16) [[unlikely]] {
    write(_mm512_maskz_extracti32x4_epi32(0xf, set, 1), 16);
    write(_mm512_maskz_extracti32x4_epi32(0xf, set, 2), 32);
    write(_mm512_maskz_extracti32x4_epi32(0xf, set, 3), 48);
  }
  return out + count;
}

[[gnu::target("avx512bw,avx512vbmi2,popcnt")]] Separators find_by_avx512(const char* text, std::size_t size,
                                                                         char delimiter,
                                                                         std::uint32_t* places) {
  std::uint32_t* out = places;
  std::size_t newlines = 0;
  std::uint64_t quotes = 0;
  std::uint64_t returns = 0;
  for (std::size_t from = 0; from < size; from += 64) {
    const __m512i bytes = _mm512_loadu_si512(text + from);
    const auto are_like =
        [&](char like) __attribute__((target("avx512bw,avx512vbmi2,popcnt"), always_inline)) {
          return only_first(_mm512_cmpeq_epi8_mask(bytes, _mm512_set1_epi8(like)), size - from);
        };
    const std::uint64_t ends = are_like('\n');
    const std::uint64_t quoted = are_like('"');
    newlines += static_cast<std::size_t>(std::popcount(ends));
    quotes |= quoted;
    returns |= are_like('\r');
    out = write_places_at_once(are_like(delimiter) | ends | quoted, static_cast<std::uint32_t>(from), out);
  }
  return {static_cast<std::size_t>(out - places), newlines, quotes != 0, returns != 0};
}

#endif

Separators find_by_bytes(const char* text, std::size_t size, char delimiter, std::uint32_t* places) {
  std::uint32_t* out = places;
  std::size_t newlines = 0;
  bool quotes = false;
  bool returns = false;
  for (std::size_t i = 0; i < size; ++i) {
    newlines += text[i] == '\n' ? 1 : 0;
    quotes |= text[i] == '"';
    returns |= text[i] == '\r';
    *out = static_cast<std::uint32_t>(i);
    out += text[i] == delimiter || text[i] == '\n' || text[i] == '"' ? 1 : 0;
  }
  return {static_cast<std::size_t>(out - places), newlines, quotes, returns};
}

}  // namespace

std::vector<FindSeparators*> ways_to_find_separators() {
  std::vector<FindSeparators*> ways;
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vbmi2"))
    ways.push_back(find_by_avx512);
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi")) ways.push_back(find_by_avx2);
#endif
  ways.push_back(find_by_bytes);
  return ways;
}

Separators find_separators(const char* text, std::size_t size, char delimiter, std::uint32_t* places) {
  static FindSeparators* const fastest = ways_to_find_separators().front();
  return fastest(text, size, delimiter, places);
}

}  // namespace overdue
