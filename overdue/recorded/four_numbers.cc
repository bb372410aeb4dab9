// Four fields lie in the four lanes of a register, 64 bits each: a lane is the word of fast_digits.h, and
// what is done to it is the same.
#include "overdue/recorded/four_numbers.h"

#if defined(__x86_64__)
#include <immintrin.h>

#include "overdue/recorded/fast_digits.h"
#endif

namespace overdue {

#if defined(__x86_64__)

namespace {

static_assert(sizeof(Duration) == 8 && sizeof(WallTime) == 8);  // A lane each.

#define OVERDUE_AVX2 [[gnu::target("avx2"), gnu::always_inline]] inline

OVERDUE_AVX2 __m256i each(std::uint64_t word) { return _mm256_set1_epi64x(static_cast<long long>(word)); }

OVERDUE_AVX2 __m256i four(std::uint64_t first, std::uint64_t second, std::uint64_t third,
                          std::uint64_t fourth) {
  return _mm256_set_epi64x(static_cast<long long>(fourth), static_cast<long long>(third),
                           static_cast<long long>(second), static_cast<long long>(first));
}

// Of one column: where its fields of four rows lie, and their first eight characters.
struct Four {
  __m256i begins;
  __m256i ends;
  __m256i words;
};
OVERDUE_AVX2 Four four_fields(const char* text, const std::uint32_t* place, std::size_t step) {
  const std::uint32_t* const second = place + step;
  const std::uint32_t* const third = second + step;
  const std::uint32_t* const fourth = third + step;
  const std::uint32_t begin[] = {place[-1] + 1, second[-1] + 1, third[-1] + 1, fourth[-1] + 1};
  return {four(begin[0], begin[1], begin[2], begin[3]), four(*place, *second, *third, *fourth),
          four(load_eight(text + begin[0]), load_eight(text + begin[1]), load_eight(text + begin[2]),
               load_eight(text + begin[3]))};
}

OVERDUE_AVX2 bool is_zero(__m256i bits) { return _mm256_testz_si256(bits, bits) != 0; }

// Eight digits in each lane to their value; what is no digit leaves something in `wrong`.
OVERDUE_AVX2 __m256i values_of(__m256i characters, __m256i& wrong) {
  const __m256i digits = _mm256_sub_epi8(characters, each(kEightZeros));
  wrong = _mm256_or_si256(wrong, _mm256_subs_epu8(digits, _mm256_set1_epi8(9)));
  const __m256i pairs = _mm256_maddubs_epi16(digits, _mm256_set1_epi16(0x010a));   // 10 and 1.
  const __m256i fours = _mm256_madd_epi16(pairs, _mm256_set1_epi32(0x0001'0064));  // 100 and 1.
  return _mm256_add_epi64(_mm256_mul_epu32(fours, each(10'000)), _mm256_srli_epi64(fours, 32));
}

[[gnu::target("avx2")]] std::size_t decimals_by_avx2(const BlockFields& block, std::uint32_t field,
                                                     unsigned power, std::size_t row, Duration* values) {
  // What a value is multiplied by, by its digits behind the point; those it may not have: by 0.
  alignas(32) std::uint32_t scales[8] = {};
  std::uint32_t scale = 1;
  for (unsigned fraction = power + 1; fraction-- > 0; scale *= 10) {
    if (fraction < 8) scales[fraction] = scale;
  }
  const __m256i scale_of = _mm256_load_si256(reinterpret_cast<const __m256i*>(scales));
  const __m256i zero = _mm256_setzero_si256();
  const std::uint32_t* place = block.places + row * block.fields + field;
  for (; row + 4 <= block.rows; row += 4, place += 4 * std::size_t{block.fields}) {
    const Four found = four_fields(block.text, place, block.fields);
    const __m256i sizes = _mm256_sub_epi64(found.ends, found.begins);
    __m256i wrong = _mm256_and_si256(_mm256_sub_epi64(sizes, each(1)), each(~std::uint64_t{7}));
    // To the right end, behind zeros.
    const __m256i shift = _mm256_slli_epi64(_mm256_sub_epi64(each(8), sizes), 3);
    const __m256i words =
        _mm256_or_si256(_mm256_sllv_epi64(found.words, shift),
                        _mm256_srlv_epi64(each(kEightZeros), _mm256_sub_epi64(each(64), shift)));
    // What stands before the first point moves over it; a second point is no digit.
    const __m256i points = _mm256_cmpeq_epi8(words, _mm256_set1_epi8('.'));
    const __m256i lowest_bit = _mm256_and_si256(points, _mm256_sub_epi64(zero, points));
    const __m256i before = _mm256_sub_epi64(lowest_bit, each(1));
    const __m256i until = _mm256_sub_epi64(_mm256_slli_epi64(lowest_bit, 8), each(1));
    const __m256i moved =
        _mm256_or_si256(_mm256_andnot_si256(until, words),
                        _mm256_or_si256(_mm256_slli_epi64(_mm256_and_si256(words, before), 8), each('0')));
    const __m256i pointless = _mm256_cmpeq_epi64(points, zero);
    const __m256i value = values_of(_mm256_blendv_epi8(moved, words, pointless), wrong);
    // The bytes behind the point, counted: 8 - 1 where it is the lowest byte. None of them without a point.
    const __m256i behind = _mm256_andnot_si256(until, _mm256_set1_epi8(1));
    const __m256i fractions = _mm256_sad_epu8(behind, zero);
    const __m256i scaled = _mm256_mul_epu32(value, _mm256_permutevar8x32_epi32(scale_of, fractions));
    wrong = _mm256_or_si256(wrong, _mm256_cmpeq_epi64(scaled, zero));
    if (!is_zero(wrong)) break;
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(values + row), scaled);
  }
  return row;
}

[[gnu::target("avx2")]] std::size_t times_by_avx2(const BlockFields& block, std::uint32_t field,
                                                  const CommonBeginning& beginning, std::size_t row,
                                                  WallTime* times) {
  const char* const text_before = block.text - 8;
  const std::size_t step = block.fields;
  const std::uint32_t* place = block.places + row * step + field;
  for (; row + 4 <= block.rows; row += 4, place += 4 * step) {
    const Four found = four_fields(block.text, place, step);
    __m256i wrong = _mm256_xor_si256(each(beginning.first_eight), found.words);
    wrong = _mm256_or_si256(
        wrong, _mm256_xor_si256(_mm256_sub_epi64(found.ends, found.begins), each(beginning.size)));
    if (!is_zero(wrong)) break;  // Before what lies in front of shorter fields is read.
    const __m256i last =
        four(load_eight(text_before + place[0]), load_eight(text_before + place[step]),
             load_eight(text_before + place[2 * step]), load_eight(text_before + place[3 * step]));
    const __m256i value = values_of(last, wrong);
    if (!is_zero(wrong)) break;
    const __m256i since = _mm256_mul_epu32(value, each(static_cast<std::uint64_t>(beginning.unit)));
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(times + row),
                        _mm256_add_epi64(each(static_cast<std::uint64_t>(beginning.base)), since));
  }
  return row;
}

}  // namespace

bool reads_four_at_once() {
  static const bool has_avx2 = __builtin_cpu_supports("avx2");
  return has_avx2;
}

std::size_t four_decimals(const BlockFields& block, std::uint32_t field, unsigned power, std::size_t row,
                          Duration* values) {
  return reads_four_at_once() ? decimals_by_avx2(block, field, power, row, values) : row;
}

std::size_t four_times(const BlockFields& block, std::uint32_t field, const CommonBeginning& beginning,
                       std::size_t row, WallTime* times) {
  return reads_four_at_once() ? times_by_avx2(block, field, beginning, row, times) : row;
}

#else

bool reads_four_at_once() { return false; }
std::size_t four_decimals(const BlockFields&, std::uint32_t, unsigned, std::size_t row, Duration*) {
  return row;
}
std::size_t four_times(const BlockFields&, std::uint32_t, const CommonBeginning&, std::size_t row,
                       WallTime*) {
  return row;
}

#endif

}  // namespace overdue
