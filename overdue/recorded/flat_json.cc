#include "overdue/recorded/flat_json.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "overdue/base/check.h"

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

// Whether `key` stands at `at`. Requires: kKeyRoom readable bytes there.
bool stands_at(const char* at, const FlatJson::Key& key) {
  for (std::size_t from = 0; from < key.size; from += 16) {
    const __m128i equal =
        _mm_cmpeq_epi8(_mm_loadu_si128(reinterpret_cast<const __m128i*>(at + from)),
                       _mm_loadu_si128(reinterpret_cast<const __m128i*>(key.text.data() + from)));
    const auto unlike = ~static_cast<std::uint32_t>(_mm_movemask_epi8(equal));
    const std::size_t left = key.size - from;
    if ((unlike & (left < 16 ? (1U << left) - 1 : 0xffffU)) != 0) return false;
  }
  return true;
}

// The end of a value that is no string.
const char* find_value_end(const char* at, const char* end) {
  for (; at < end; at += 16) {
    const std::uint32_t found = equal_16(at, ',') | equal_16(at, '}') | equal_16(at, ' ');
    if (found != 0) return at + std::countr_zero(found);
  }
  return end;
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

bool stands_at(const char* at, const FlatJson::Key& key) {
  return std::memcmp(at, key.text.data(), key.size) == 0;
}

const char* find_value_end(const char* at, const char* end) {
  while (at < end && *at != ',' && *at != '}' && *at != ' ') ++at;
  return at;
}

const char* find_quote(const char* at, const char* end) {
  const void* const found = std::memchr(at, '"', static_cast<std::size_t>(end - at));
  return found ? static_cast<const char*>(found) : end;
}

#endif

}  // namespace

#if defined(__x86_64__)

namespace {

// One step of a line's bytes, whose newlines and specials are bits. `before` is 1 while the only special was
// the line's first character. True where the line ends in it.
[[gnu::always_inline]] inline bool add_step(std::size_t at, std::size_t size, std::size_t bytes,
                                            std::uint32_t& ends, std::uint32_t specials,
                                            std::uint32_t& before) {
  if (size - at < bytes) {
    const std::uint32_t inside = (std::uint32_t{1} << (size - at)) - 1;
    ends &= inside;
    specials &= inside;
  }
  if (ends != 0) specials &= (ends & (0U - ends)) - 1;
  before |= at == 0 ? specials : specials != 0 ? 2U : 0U;
  return ends != 0;
}

// '[' and '{' differ in one bit, and nothing else is equal to '{' with that bit set but '[' and '{'.
constexpr char kBraceBit = 0x20;

[[gnu::target("avx2,bmi")]] LineShape shape_by_avx2(const char* text, std::size_t size) {
  const __m256i newline = _mm256_set1_epi8('\n');
  const __m256i backslash = _mm256_set1_epi8('\\');
  const __m256i bit = _mm256_set1_epi8(kBraceBit);
  const __m256i brace = _mm256_set1_epi8('{');
  std::uint32_t before = 0;
  for (std::size_t at = 0; at < size; at += 32) {
    const __m256i bytes = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(text + at));
    const __m256i special = _mm256_or_si256(_mm256_cmpeq_epi8(bytes, backslash),
                                            _mm256_cmpeq_epi8(_mm256_or_si256(bytes, bit), brace));
    auto ends = static_cast<std::uint32_t>(_mm256_movemask_epi8(_mm256_cmpeq_epi8(bytes, newline)));
    auto specials = static_cast<std::uint32_t>(_mm256_movemask_epi8(special));
    if (add_step(at, size, 32, ends, specials, before)) {
      return {at + static_cast<std::size_t>(std::countr_zero(ends)), before == 1 && text[0] == '{'};
    }
  }
  return {size, before == 1 && text[0] == '{'};
}

LineShape shape_by_sse2(const char* text, std::size_t size) {
  const __m128i newline = _mm_set1_epi8('\n');
  const __m128i backslash = _mm_set1_epi8('\\');
  const __m128i bit = _mm_set1_epi8(kBraceBit);
  const __m128i brace = _mm_set1_epi8('{');
  std::uint32_t before = 0;
  for (std::size_t at = 0; at < size; at += 16) {
    const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(text + at));
    const __m128i special =
        _mm_or_si128(_mm_cmpeq_epi8(bytes, backslash), _mm_cmpeq_epi8(_mm_or_si128(bytes, bit), brace));
    auto ends = static_cast<std::uint32_t>(_mm_movemask_epi8(_mm_cmpeq_epi8(bytes, newline)));
    auto specials = static_cast<std::uint32_t>(_mm_movemask_epi8(special));
    if (add_step(at, size, 16, ends, specials, before)) {
      return {at + static_cast<std::size_t>(std::countr_zero(ends)), before == 1 && text[0] == '{'};
    }
  }
  return {size, before == 1 && text[0] == '{'};
}

}  // namespace

LineShape shape_of_line(const char* text, std::size_t size) {
  static const bool has_avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi");
  return has_avx2 ? shape_by_avx2(text, size) : shape_by_sse2(text, size);
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
  for (const std::string& name : keys) {
    const std::string text = '"' + name + "\":";
    OVERDUE_CHECK(text.size() <= kKeyRoom);
    Key key;
    std::ranges::copy(text, key.text.begin());
    key.size = text.size();
    keys_.push_back(key);
  }
}

bool FlatJson::find(std::string_view line, Found& found) const {
  const char* const begin = line.data();
  const char* const end = begin + line.size();
  if (!line.ends_with('}') && !line.ends_with("}\r")) return false;
  const char* at = begin;
  for (std::size_t i = 0; i < keys_.size(); ++i) {
    const Key& key = keys_[i];
    const char* place = at + found.gaps[i];
    if (place + key.size > end || !stands_at(place, key)) {
      place = find_key(at, end, key.text.data(), key.size);
      if (place == nullptr) place = find_key(begin, end, key.text.data(), key.size);
      if (place == nullptr) return false;
      found.gaps[i] = place > at ? static_cast<std::uint32_t>(place - at) : 0;
    }
    if (place == begin) return false;
    const char before = place[-1];
    if (before != ',' && before != '{' && before != ' ') return false;
    const char* value = place + key.size;
    while (*value == ' ' && value < end) ++value;
    const bool text = *value == '"';
    value += text ? 1 : 0;
    const char* const to = text ? find_quote(value, end) : find_value_end(value, end);
    if (to >= end || (to == value && !text)) return false;
    found.texts[i] = {value, static_cast<std::size_t>(to - value)};
    at = to + (text ? 1 : 0);
  }
  return true;
}

}  // namespace overdue
