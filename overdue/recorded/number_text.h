#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "overdue/base/time.h"

namespace overdue {

// Decimal text to whole numbers, exactly: 0.1 s is 100,000,000 ns and not a nearby double.

inline constexpr std::int64_t kPowersOfTen[19] = {1,
                                                  10,
                                                  100,
                                                  1'000,
                                                  10'000,
                                                  100'000,
                                                  1'000'000,
                                                  10'000'000,
                                                  100'000'000,
                                                  1'000'000'000,
                                                  10'000'000'000,
                                                  100'000'000'000,
                                                  1'000'000'000'000,
                                                  10'000'000'000'000,
                                                  100'000'000'000'000,
                                                  1'000'000'000'000'000,
                                                  10'000'000'000'000'000,
                                                  100'000'000'000'000'000,
                                                  1'000'000'000'000'000'000};

// A unit of time that is a power of ten of nanoseconds: how far the decimal point moves.
enum class TimeUnit : std::uint8_t { nanoseconds = 0, microseconds = 3, milliseconds = 6, seconds = 9 };

constexpr Duration length_of(TimeUnit unit) { return Duration(kPowersOfTen[static_cast<unsigned>(unit)]); }
// "ns", "us", "ms", "s".
constexpr std::string_view name_of(TimeUnit unit) {
  return unit == TimeUnit::seconds        ? "s"
         : unit == TimeUnit::milliseconds ? "ms"
         : unit == TimeUnit::microseconds ? "us"
                                          : "ns";
}

// Slow and complete: signs, exponents, any number of digits.
std::optional<std::int64_t> decimal_scaled_slow(std::string_view text, unsigned power);

// The whole of `text` ("12", "0.057", "-3.5", "2.1e-06") times 10^power, rounded to the nearest whole number,
// halves away from zero. Nothing where it is no plain number (blanks, "-", "1,5", "nan") or does not fit.
// Requires: power <= 18.
inline std::optional<std::int64_t> decimal_scaled(std::string_view text, unsigned power) {
  const char* at = text.data();
  const char* const end = at + text.size();
  std::uint64_t value = 0;
  const auto digit = [&] { return static_cast<unsigned>(static_cast<unsigned char>(*at)) - '0'; };
  for (; at != end && digit() <= 9; ++at) value = value * 10 + digit();
  const auto whole_digits = static_cast<unsigned>(at - text.data());
  unsigned fraction_digits = 0;
  if (at != end && *at == '.') {
    const char* const point = at++;
    for (; at != end && digit() <= 9; ++at) value = value * 10 + digit();
    fraction_digits = static_cast<unsigned>(at - point) - 1;
  }
  // Up to 19 digits fit an unsigned value; what is longer, signed or has an exponent takes the slow way.
  if (at != end || whole_digits == 0 || text.size() > 19) [[unlikely]]
    return decimal_scaled_slow(text, power);
  if (fraction_digits <= power) {
    std::int64_t result = 0;
    if (__builtin_mul_overflow(value, kPowersOfTen[power - fraction_digits], &result)) return std::nullopt;
    return result;
  }
  const auto divisor = static_cast<std::uint64_t>(kPowersOfTen[fraction_digits - power]);
  return static_cast<std::int64_t>((value + divisor / 2) / divisor);
}

// A length of time in `unit`: "0.057" in seconds is 57 ms.
inline std::optional<Duration> duration_text(std::string_view text, TimeUnit unit) {
  const auto value = decimal_scaled(text, static_cast<unsigned>(unit));
  if (!value) return std::nullopt;
  return Duration(*value);
}

}  // namespace overdue
