#pragma once

#include <cstddef>
#include <cstring>
#include <string_view>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace overdue {

// Finds the short fixed texts between the fields of a log line ("] \"", " rt="). Where log lines are read at
// a hundred nanoseconds each, memchr and string_view::find cost too much per call for distances of 5 to 100
// bytes; comparing the first and the last character of the text at 16 places at once does not.
//
// Returns the first place in [at, end) where `text` lies wholly before `end`, or nullptr. Bytes up to
// `readable_end` (>= end) may be looked at. Requires: text is not empty.
inline const char* find_literal(const char* at, const char* end, const char* readable_end,
                                std::string_view text) {
  const std::size_t size = text.size();
  if (static_cast<std::size_t>(end - at) < size) return nullptr;
  const char* const last_place = end - size;
#if defined(__SSE2__)
  const __m128i first = _mm_set1_epi8(text.front());
  const __m128i last = _mm_set1_epi8(text.back());
  const auto span = static_cast<std::ptrdiff_t>(size) + 15;
  while (at <= last_place && readable_end - at >= span) {
    const __m128i starts = _mm_loadu_si128(reinterpret_cast<const __m128i*>(at));
    const __m128i ends = _mm_loadu_si128(reinterpret_cast<const __m128i*>(at + size - 1));
    auto hits = static_cast<unsigned>(
        _mm_movemask_epi8(_mm_and_si128(_mm_cmpeq_epi8(starts, first), _mm_cmpeq_epi8(ends, last))));
    while (hits != 0) {
      const char* place = at + __builtin_ctz(hits);
      if (place > last_place) return nullptr;
      if (size <= 2 || std::memcmp(place + 1, text.data() + 1, size - 2) == 0) return place;
      hits &= hits - 1;
    }
    at += 16;
  }
#endif
  while (at <= last_place) {
    const auto* place = static_cast<const char*>(
        std::memchr(at, text.front(), static_cast<std::size_t>(last_place - at) + 1));
    if (place == nullptr) return nullptr;
    if (std::memcmp(place, text.data(), size) == 0) return place;
    at = place + 1;
  }
  return nullptr;
}

}  // namespace overdue
