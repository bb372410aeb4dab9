#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace overdue {

// Literal finds one of the short fixed texts between the fields of a log line ("] \"", " rt="). Where log
// lines are read at a hundred nanoseconds each, memchr and string_view::find cost too much per call for
// distances of 5 to 100 bytes; comparing the first and the last character of the text at 16 places at once
// does not.
//
// Requires: the text is not empty when find() is called.
class Literal {
 public:
  Literal() = default;
  explicit Literal(std::string_view text)
      : text_(text), first_(text.empty() ? '\0' : text.front()), size_(text.size()) {
    const std::size_t size = text.size() < 8 ? text.size() : 8;
    if (size > 0) std::memcpy(&word_, text.data(), size);
    mask_ = size == 8 ? ~std::uint64_t{0} : (std::uint64_t{1} << (8 * size)) - 1;
    if constexpr (std::endian::native == std::endian::big) mask_ = ~(~std::uint64_t{0} >> (8 * size));
  }
  const std::string& text() const { return text_; }
  bool empty() const { return text_.empty(); }
  std::size_t size() const { return size_; }
  char first() const { return first_; }

  // Whether the text's first character is met within 16 bytes of `at` and the text stands there, wholly
  // before `end`; else nullptr, which says nothing. The common case of find(), small enough to be inlined.
  const char* near(const char* at, const char* end, const char* readable_end) const {
#if defined(__SSE2__)
    if (readable_end - at < 32) return nullptr;
    const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(at));
    const auto hits = static_cast<unsigned>(_mm_movemask_epi8(_mm_cmpeq_epi8(bytes, _mm_set1_epi8(first_))));
    if (hits == 0) return nullptr;
    const char* const place = at + __builtin_ctz(hits);
    return end - place >= static_cast<std::ptrdiff_t>(text_.size()) && stands_at(place) ? place : nullptr;
#else
    (void)at, (void)end, (void)readable_end;
    return nullptr;
#endif
  }

  // The first place in [at, end) where the text lies wholly before `end`, or nullptr. Bytes up to
  // `readable_end`
  // (>= end) may be looked at.
  const char* find(const char* at, const char* end, const char* readable_end) const {
    const std::size_t size = text_.size();
    if (end - at < static_cast<std::ptrdiff_t>(size)) return nullptr;
    const char* const last_place = end - size;
#if defined(__SSE2__)
    const __m128i first = _mm_set1_epi8(text_.front());
    const __m128i last = _mm_set1_epi8(text_.back());
    const auto span = static_cast<std::ptrdiff_t>(size) + 24;
    while (at <= last_place && readable_end - at >= span) {
      const __m128i starts = _mm_loadu_si128(reinterpret_cast<const __m128i*>(at));
      const __m128i ends = _mm_loadu_si128(reinterpret_cast<const __m128i*>(at + size - 1));
      auto hits = static_cast<unsigned>(
          _mm_movemask_epi8(_mm_and_si128(_mm_cmpeq_epi8(starts, first), _mm_cmpeq_epi8(ends, last))));
      while (hits != 0) {
        const char* place = at + __builtin_ctz(hits);
        if (place > last_place) return nullptr;
        if (size <= 2 || stands_at(place)) return place;
        hits &= hits - 1;
      }
      at += 16;
    }
#endif
    while (at <= last_place) {
      const auto* place = static_cast<const char*>(
          std::memchr(at, text_.front(), static_cast<std::size_t>(last_place - at) + 1));
      if (place == nullptr) return nullptr;
      if (std::memcmp(place, text_.data(), size) == 0) return place;
      at = place + 1;
    }
    return nullptr;
  }

  // Requires: 8 bytes, and the text's size, are readable at `place`.
  bool stands_at(const char* place) const {
    std::uint64_t word = 0;
    std::memcpy(&word, place, sizeof word);
    if (((word ^ word_) & mask_) != 0) return false;
    return size_ <= 8 || std::memcmp(place + 8, text_.data() + 8, size_ - 8) == 0;
  }

 private:
  std::string text_;
  char first_ = '\0';
  std::size_t size_ = 0;
  std::uint64_t word_ = 0;  // The first bytes of the text,
  std::uint64_t mask_ = 0;  // and which of them count.
};

}  // namespace overdue
