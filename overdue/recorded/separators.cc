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

[[gnu::target("avx2,bmi,popcnt")]] std::size_t find_by_avx2(const char* text, std::size_t size,
                                                            char delimiter, std::uint32_t* places) {
  const __m256i delimiters = _mm256_set1_epi8(delimiter);
  const __m256i newlines = _mm256_set1_epi8('\n');
  const __m256i quotes = _mm256_set1_epi8('"');
  std::uint32_t* out = places;
  for (std::size_t from = 0; from < size; from += 64) {
    std::uint64_t found = 0;
    for (unsigned half = 0; half < 2; ++half) {
      const __m256i bytes = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(text + from + 32 * half));
      const __m256i any = _mm256_or_si256(
          _mm256_or_si256(_mm256_cmpeq_epi8(bytes, delimiters), _mm256_cmpeq_epi8(bytes, newlines)),
          _mm256_cmpeq_epi8(bytes, quotes));
      found |= static_cast<std::uint64_t>(static_cast<std::uint32_t>(_mm256_movemask_epi8(any)))
               << (32 * half);
    }
    out = write_places(only_first(found, size - from), static_cast<std::uint32_t>(from), out);
  }
  return static_cast<std::size_t>(out - places);
}

#endif

std::size_t find_by_bytes(const char* text, std::size_t size, char delimiter, std::uint32_t* places) {
  std::uint32_t* out = places;
  for (std::size_t i = 0; i < size; ++i) {
    *out = static_cast<std::uint32_t>(i);
    out += text[i] == delimiter || text[i] == '\n' || text[i] == '"' ? 1 : 0;
  }
  return static_cast<std::size_t>(out - places);
}

}  // namespace

std::size_t find_separators(const char* text, std::size_t size, char delimiter, std::uint32_t* places) {
#if defined(__x86_64__)
  static const bool has_avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi");
  if (has_avx2) return find_by_avx2(text, size, delimiter, places);
#endif
  return find_by_bytes(text, size, delimiter, places);
}

}  // namespace overdue
