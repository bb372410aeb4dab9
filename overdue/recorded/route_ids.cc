#include "overdue/recorded/route_ids.h"

#include <algorithm>
#include <bit>
#include <cstring>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace overdue {

#if defined(__SSE2__)

namespace {

__m128i load(const char* at) { return _mm_loadu_si128(reinterpret_cast<const __m128i*>(at)); }

// A bit for each of kBytes bytes.
template <unsigned kBytes, typename Hits>
[[gnu::always_inline]] inline std::uint64_t mask_of(const Hits& hits) {
  std::uint64_t mask = 0;
#pragma GCC unroll 4
  for (unsigned from = 0; from < kBytes; from += 16)
    mask |= std::uint64_t{static_cast<unsigned>(_mm_movemask_epi8(hits(from)))} << from;
  return mask;
}

template <unsigned kBytes>
std::uint64_t digits_of(const char* path) {
  return mask_of<kBytes>([path](unsigned from) {
    const __m128i value = _mm_sub_epi8(load(path + from), _mm_set1_epi8('0'));
    return _mm_cmpeq_epi8(_mm_min_epu8(value, _mm_set1_epi8(9)), value);
  });
}

template <unsigned kBytes>
std::uint64_t places_of(char like, const char* path) {
  return mask_of<kBytes>(
      [=](unsigned from) { return _mm_cmpeq_epi8(load(path + from), _mm_set1_epi8(like)); });
}

template <unsigned kBytes>
std::uint64_t same_bytes(const char* left, const char* right) {
  return mask_of<kBytes>(
      [=](unsigned from) { return _mm_cmpeq_epi8(load(left + from), load(right + from)); });
}

// The digits of segments that are numbers, which make no difference. A bit added to the first digit of a
// segment carries through its digits and stops behind the last of them, where the segment must end; where one
// does not, all digits make a difference.
std::uint64_t numbers_of(std::uint64_t digits, std::uint64_t slashes, std::size_t size) {
  const std::uint64_t end = std::uint64_t{1} << size;
  digits &= end - 1;
  const std::uint64_t carried = digits + (digits & slashes << 1);
  const std::uint64_t ends = carried & ~digits;
  return (ends & ~(slashes | end)) == 0 ? digits & ~carried : 0;
}

// Eight characters, or none where one of them makes no difference.
std::uint64_t word_at(const char* path, std::uint64_t numbers, unsigned at) {
  std::uint64_t word = 0;
  if ((numbers >> at & 0xff) == 0) std::memcpy(&word, path + at, sizeof(word));
  return word;
}

}  // namespace

template <unsigned kBytes>
RouteIds::Example& RouteIds::example_of(const char* path, std::size_t size, bool& is_new) {
  const std::uint64_t numbers = numbers_of(digits_of<kBytes>(path), places_of<kBytes>('/', path), size);
  std::uint64_t mixed = numbers * 5 ^ size;
  if (size >= 16) mixed ^= word_at(path, numbers, 0) * 31 ^ word_at(path, numbers, 8);
  Example& example = examples_[mixed * 0x9e3779b97f4a7c15U >> 58];
  const std::uint64_t counted = (std::uint64_t{1} << size) - 1;
  if (example.size == size && example.numbers == numbers &&
      ((same_bytes<kBytes>(example.path.data(), path) | numbers) & counted) == counted) [[likely]] {
    return example;
  }
  is_new = true;
  example.size = size;
  example.numbers = numbers;
  std::memcpy(example.path.data(), path, size);
  return example;
}

RouteIds::Example* RouteIds::find(std::string_view target, const char* readable_end, bool& is_new) {
  const char* const path = target.data();
  const bool readable = readable_end - path >= static_cast<std::ptrdiff_t>(target.size() + kShort);
  if (!readable || !target.starts_with('/')) return nullptr;
  std::size_t size = target.size();
  const std::uint64_t queries = size <= 32 ? places_of<32>('?', path) : places_of<64>('?', path);
  if (queries != 0) size = std::min(size, static_cast<std::size_t>(std::countr_zero(queries)));
  if (size >= kShort) return nullptr;
  return size <= 32 ? &example_of<32>(path, size, is_new) : &example_of<64>(path, size, is_new);
}

#else

RouteIds::Example* RouteIds::find(std::string_view, const char*, bool&) { return nullptr; }

#endif

}  // namespace overdue
