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
  for (std::size_t from = 0; from < size; from += 64) {
    const __m256i low = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(text + from));
    const __m256i high = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(text + from + 32));
    const std::uint64_t ends = only_first(are_like(low, high, '\n'), size - from);
    const std::uint64_t quoted = only_first(are_like(low, high, '"'), size - from);
    const std::uint64_t found = only_first(are_like(low, high, delimiter), size - from) | ends | quoted;
    newlines += static_cast<std::size_t>(std::popcount(ends));
    quotes |= quoted;
    out = write_places(found, static_cast<std::uint32_t>(from), out);
  }
  return {static_cast<std::size_t>(out - places), newlines, quotes != 0};
}

#endif

Separators find_by_bytes(const char* text, std::size_t size, char delimiter, std::uint32_t* places) {
  std::uint32_t* out = places;
  std::size_t newlines = 0;
  bool quotes = false;
  for (std::size_t i = 0; i < size; ++i) {
    newlines += text[i] == '\n' ? 1 : 0;
    quotes |= text[i] == '"';
    *out = static_cast<std::uint32_t>(i);
    out += text[i] == delimiter || text[i] == '\n' || text[i] == '"' ? 1 : 0;
  }
  return {static_cast<std::size_t>(out - places), newlines, quotes};
}

}  // namespace

Separators find_separators(const char* text, std::size_t size, char delimiter, std::uint32_t* places) {
#if defined(__x86_64__)
  static const bool has_avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi");
  if (has_avx2) return find_by_avx2(text, size, delimiter, places);
#endif
  return find_by_bytes(text, size, delimiter, places);
}

}  // namespace overdue
