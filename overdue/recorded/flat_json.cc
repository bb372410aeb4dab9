#include "overdue/recorded/flat_json.h"

#include <bit>
#include <cstring>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace overdue {
namespace {

#if defined(__x86_64__)

// SSE2 is in every x86-64.
std::uint32_t equal_16(const char* at, char wanted) {
  const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(at));
  return static_cast<std::uint32_t>(_mm_movemask_epi8(_mm_cmpeq_epi8(bytes, _mm_set1_epi8(wanted))));
}

// Where `key` begins at or after `at`, or null. Its first two and its last character pick the places to
// compare.
const char* find_key(const char* at, const char* end, const char* key, std::size_t size) {
  const __m128i second = _mm_set1_epi8(key[1]);
  const __m128i last = _mm_set1_epi8(key[size - 2]);
  const __m128i quote = _mm_set1_epi8('"');
  for (; at < end; at += 16) {
    const auto load = [&](std::size_t offset) {
      return _mm_loadu_si128(reinterpret_cast<const __m128i*>(at + offset));
    };
    const __m128i both = _mm_and_si128(_mm_cmpeq_epi8(load(0), quote), _mm_cmpeq_epi8(load(1), second));
    auto found = static_cast<std::uint32_t>(
        _mm_movemask_epi8(_mm_and_si128(both, _mm_cmpeq_epi8(load(size - 2), last))));
    while (found != 0) {
      const char* const place = at + std::countr_zero(found);
      if (place + size > end) return nullptr;
      if (std::memcmp(place, key, size) == 0) return place;
      found &= found - 1;
    }
  }
  return nullptr;
}

const char* find_quote(const char* at, const char* end) {
  for (; at < end; at += 16) {
    const std::uint32_t found = equal_16(at, '"');
    if (found != 0) return at + std::countr_zero(found);
  }
  return end;
}

#else

const char* find_key(const char* at, const char* end, const char* key, std::size_t size) {
  const std::size_t place =
      std::string_view(at, static_cast<std::size_t>(end - at)).find(std::string_view(key, size));
  return place == std::string_view::npos ? nullptr : at + place;
}

const char* find_quote(const char* at, const char* end) {
  const void* const found = std::memchr(at, '"', static_cast<std::size_t>(end - at));
  return found ? static_cast<const char*>(found) : end;
}

#endif

}  // namespace

#if defined(__x86_64__)

LineShape shape_of_line(const char* text, std::size_t size) {
  const __m128i newline = _mm_set1_epi8('\n');
  const __m128i backslash = _mm_set1_epi8('\\');
  // '[' and '{' differ in one bit, and nothing else is equal to '{' with that bit set but '[' and '{'.
  const __m128i bit = _mm_set1_epi8(0x20);
  const __m128i brace = _mm_set1_epi8('{');
  unsigned opened = 0;
  for (std::size_t at = 0; at < size; at += 16) {
    const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(text + at));
    auto ends = static_cast<std::uint32_t>(_mm_movemask_epi8(_mm_cmpeq_epi8(bytes, newline)));
    const __m128i special =
        _mm_or_si128(_mm_cmpeq_epi8(bytes, backslash), _mm_cmpeq_epi8(_mm_or_si128(bytes, bit), brace));
    auto specials = static_cast<std::uint32_t>(_mm_movemask_epi8(special));
    if (size - at < 16) {
      const std::uint32_t inside = (1U << (size - at)) - 1;
      ends &= inside;
      specials &= inside;
    }
    if (ends != 0) {
      specials &= (ends & -ends) - 1;
      if (specials != 0) opened += static_cast<unsigned>(std::popcount(specials));
      return {at + static_cast<std::size_t>(std::countr_zero(ends)), opened == 1 && text[0] == '{'};
    }
    if (specials != 0) opened += static_cast<unsigned>(std::popcount(specials));
  }
  return {size, opened == 1 && text[0] == '{'};
}

#else

LineShape shape_of_line(const char* text, std::size_t size) {
  unsigned opened = 0;
  std::size_t at = 0;
  for (; at < size && text[at] != '\n'; ++at)
    opened += text[at] == '{' || text[at] == '[' || text[at] == '\\' ? 1 : 0;
  return {at, opened == 1 && text[0] == '{'};
}

#endif

FlatJson::FlatJson(const std::vector<std::string>& keys) {
  for (const std::string& key : keys) keys_.push_back({'"' + key + "\":"});
}

bool FlatJson::find(std::string_view line, std::array<std::string_view, kWantedMax>& texts) const {
  const char* const begin = line.data();
  const char* const end = begin + line.size();
  if (!line.ends_with('}') && !line.ends_with("}\r")) return false;
  const char* at = begin;
  for (std::size_t i = 0; i < keys_.size(); ++i) {
    const std::string& key = keys_[i].text;
    const char* place = find_key(at, end, key.data(), key.size());
    if (place == nullptr) place = find_key(begin, end, key.data(), key.size());
    if (place == nullptr || place == begin) return false;
    const char before = place[-1];
    if (before != ',' && before != '{' && before != ' ') return false;
    const char* value = place + key.size();
    while (*value == ' ' && value < end) ++value;
    if (*value == '"') {
      const char* const quote = find_quote(value + 1, end);
      if (quote >= end) return false;
      texts[i] = {value + 1, static_cast<std::size_t>(quote - value - 1)};
      at = quote + 1;
    } else {
      const char* to = value;
      while (to < end && *to != ',' && *to != '}' && *to != ' ') ++to;
      if (to == end || to == value) return false;
      texts[i] = {value, static_cast<std::size_t>(to - value)};
      at = to;
    }
  }
  return true;
}

}  // namespace overdue
