#include "overdue/recorded/nginx_quick.h"

#include <cstddef>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#include "overdue/recorded/fast_digits.h"

namespace overdue {

#if defined(__SSE2__)

namespace {

constexpr std::ptrdiff_t kTimeLocalLength = 26;  // 06/Sep/2015:05:58:05 +0900
constexpr std::ptrdiff_t kStatusLength = 3;
constexpr std::ptrdiff_t kSecondsLength = 5;  // 0.123

// "200", or -1. A digit less '0' is below 16, and so it is with 6 added; no other character is both.
std::int32_t status_at(const char* at) {
  const std::uint64_t values = (load_eight(at) & 0xffffffU) ^ 0x303030U;
  if (((values | (values + 0x060606U)) & 0xf0f0f0U) != 0) return -1;
  return static_cast<std::int32_t>((values & 15) * 100 + (values >> 8 & 15) * 10 + (values >> 16));
}

// "0.123" in thousandths, or -1. Likewise; where the point is the difference is nothing at all.
std::int32_t milliseconds_at(const char* at) {
  const std::uint64_t values = (load_eight(at) & 0xff'ffff'ffffU) ^ 0x30'3030'2e30U;
  if (((values | (values + 0x06'0606'0006U)) & 0xf0'f0f0'fff0U) != 0) return -1;
  return static_cast<std::int32_t>((values & 15) * 1000 + (values >> 16 & 15) * 100 +
                                   (values >> 24 & 15) * 10 + (values >> 32));
}

__m128i load(const char* at) { return _mm_loadu_si128(reinterpret_cast<const __m128i*>(at)); }
unsigned bits_of(__m128i hits) { return static_cast<unsigned>(_mm_movemask_epi8(hits)); }

bool is_number(NginxField field) {
  return field == NginxField::status || field == NginxField::upstream_status ||
         field == NginxField::request_time || field == NginxField::response_time ||
         field == NginxField::connect_time;
}

}  // namespace

std::optional<NginxQuick::Step> NginxQuick::step_of(const NginxFormat::Step& step) {
  if (step.request || step.slot >= kNginxKnownFields) return std::nullopt;
  Step quick;
  quick.slot = step.slot;
  quick.literal = step.literal;
  quick.may_be_escaped = step.may_be_escaped;
  const std::string_view literal = step.literal.text();
  // What ends a word at the line's end is found as a blank is; a comma would make it a list.
  quick.firsts.fill(literal.empty() ? ',' : literal.front());
  quick.lasts.fill(literal.empty() ? ',' : literal.back());
  const auto field = static_cast<NginxField>(step.slot);
  if (step.upstream && (literal.starts_with(',') || literal.starts_with(" :"))) return std::nullopt;
  quick.may_be_redirect = step.list && literal == " ";
  if (is_number(field)) {
    // Such a literal could be met inside the number.
    const bool like_a_number =
        !literal.empty() && (literal.front() == '.' || (literal.front() >= '0' && literal.front() <= '9'));
    if (like_a_number) return std::nullopt;
    const bool status = field == NginxField::status || field == NginxField::upstream_status;
    quick.kind = status ? Kind::status : Kind::seconds;
  } else if (field == NginxField::time_local) {
    quick.kind = Kind::time_local;
  } else if (step.upstream) {
    quick.kind = Kind::one_upstream;
  } else {
    quick.is_long = field == NginxField::request || field == NginxField::uri || literal.starts_with('"');
  }
  return quick;
}

std::optional<NginxQuick> NginxQuick::create(const NginxFormat& format) {
  if (format.steps().empty()) return std::nullopt;
  NginxQuick quick;
  quick.first_literal_ = format.first_literal();
  for (const NginxFormat::Step& step : format.steps()) {
    auto of_step = step_of(step);
    if (!of_step) return std::nullopt;
    quick.steps_.push_back(*std::move(of_step));
  }
  return quick;
}

// The first place in [at, end) where the literal lies wholly before `end`, or nullptr. What is looked at ends
// before `end` + kPlaces.
template <unsigned kPlaces>
inline const char* NginxQuick::find(const Step& step, const char* at, const char* end) {
  const __m128i first = load(step.firsts.data());
  const __m128i last = load(step.lasts.data());
  const auto to_last = static_cast<std::ptrdiff_t>(step.literal.size()) - 1;
  for (; end - at > to_last; at += kPlaces) {
    std::uint64_t hits = 0;
#pragma GCC unroll 4
    for (unsigned from = 0; from < kPlaces; from += 16) {
      const __m128i starts = _mm_cmpeq_epi8(load(at + from), first);
      const __m128i ends = _mm_cmpeq_epi8(load(at + from + to_last), last);
      hits |= std::uint64_t{bits_of(_mm_and_si128(starts, ends))} << from;
    }
    for (; hits != 0; hits &= hits - 1) {
      const char* const place = at + __builtin_ctzll(hits);
      if (step.literal.stands_at(place)) return end - place > to_last ? place : nullptr;
    }
  }
  return nullptr;
}

inline const char* NginxQuick::end_of_text(const Step& step, const char* at, const char* end) {
  if (step.literal.empty()) return end;
  const char* const stop = step.is_long ? find<64>(step, at, end) : find<32>(step, at, end);
  if (step.may_be_escaped && stop != nullptr && stop > at && stop[-1] == '\\') return nullptr;
  return stop;
}

// The first blank or first character of the literal, which then must stand there; a comma makes it a list.
inline const char* NginxQuick::end_of_upstream(const Step& step, const char* at, const char* end) {
  const __m128i first = load(step.firsts.data());
  const __m128i blanks = _mm_set1_epi8(' ');
  for (const char* from = at; from < end; from += 32) {
    const auto hits_at = [&](const char* place) {
      const __m128i bytes = load(place);
      return bits_of(_mm_or_si128(_mm_cmpeq_epi8(bytes, first), _mm_cmpeq_epi8(bytes, blanks)));
    };
    const unsigned hits = hits_at(from) | hits_at(from + 16) << 16;
    if (hits == 0) continue;
    const char* const stop = from + __builtin_ctz(hits);
    if (stop >= end) break;
    return stop > at && (stop[-1] == '\\' || stop[-1] == ',') ? nullptr : stop;
  }
  return end;
}

bool NginxQuick::read(std::string_view line, NginxQuickLine& out) const {
  if (!line.starts_with(first_literal_)) return false;
  const char* at = line.data() + first_literal_.size();
  const char* const end = line.data() + line.size();
  for (const Step& step : steps_) {
    const char* stop = nullptr;
    if (step.kind <= Kind::seconds) {
      const bool status = step.kind == Kind::status;
      const std::int32_t number = status ? status_at(at) : milliseconds_at(at);
      if (number < 0) return false;
      out.numbers[step.slot] = number;
      stop = at + (status ? kStatusLength : kSecondsLength);
    } else {
      stop = step.kind == Kind::text           ? end_of_text(step, at, end)
             : step.kind == Kind::one_upstream ? end_of_upstream(step, at, end)
                                               : at + kTimeLocalLength;
      if (stop == nullptr) return false;
      out.texts[step.slot] = std::string_view(at, static_cast<std::size_t>(stop - at));
      if (step.kind == Kind::text) {
        at = stop + step.literal.size();
        continue;
      }
    }
    at = stop + step.literal.size();
    if (at > end || !step.literal.stands_at(stop)) return false;
    if (step.may_be_redirect && stop[1] == ':' && stop[2] == ' ') return false;
  }
  return at == end;
}

#else

std::optional<NginxQuick> NginxQuick::create(const NginxFormat&) { return std::nullopt; }
bool NginxQuick::read(std::string_view, NginxQuickLine&) const { return false; }

#endif

}  // namespace overdue
