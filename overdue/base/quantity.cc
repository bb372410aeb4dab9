#include "overdue/base/quantity.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <optional>

namespace overdue {
namespace {

struct Unit {
  std::string_view name;
  std::int64_t nanoseconds;
};
// Longest first where the printed form must be exact.
constexpr std::array<Unit, 7> kUnits = {{{"d", 86'400'000'000'000},
                                         {"h", 3'600'000'000'000},
                                         {"m", 60'000'000'000},
                                         {"s", 1'000'000'000},
                                         {"ms", 1'000'000},
                                         {"us", 1'000},
                                         {"ns", 1}}};

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

// A plain decimal as an exact multiple of 1/scale, or nothing where it is not one or does not fit.
std::optional<std::int64_t> decimal_times(std::string_view digits, std::int64_t scale) {
  if (digits.empty() || digits.size() > 30) return std::nullopt;
  __extension__ __int128 value = 0;
  std::int64_t divisor = 1;
  bool fraction = false;
  bool any = false;
  for (const char c : digits) {
    if (c == '.' && !fraction) {
      fraction = true;
      continue;
    }
    if (c < '0' || c > '9') return std::nullopt;
    any = true;
    if (fraction && divisor >= 1'000'000'000'000'000'000) {
      if (c != '0') return std::nullopt;
      continue;
    }
    value = value * 10 + (c - '0');
    if (fraction) divisor *= 10;
  }
  if (!any) return std::nullopt;
  value *= scale;
  if (value % divisor != 0) return std::nullopt;
  value /= divisor;
  if (value > INT64_MAX) return std::nullopt;
  return static_cast<std::int64_t>(value);
}

// What is wrong with a text that is no duration.
std::string why_no_duration(std::string_view text) {
  const std::string_view whole = trimmed(text);
  double number = 0;
  const auto [end, error] = std::from_chars(whole.data(), whole.data() + whole.size(), number);
  const std::string_view unit = trimmed(whole.substr(static_cast<std::size_t>(end - whole.data())));
  for (const Unit& known : kUnits) {
    if (unit != known.name || error == std::errc::invalid_argument) continue;
    if (whole.starts_with('-')) return fmt::format("'{}' is negative: a duration is 0 or more", text);
    if (error == std::errc::result_out_of_range ||
        number * static_cast<double>(known.nanoseconds) >= static_cast<double>(INT64_MAX))
      return fmt::format("'{}' is too long: write at most 106751d", text);
  }
  return fmt::format("'{}' is not a duration: write a number and one of ns, us, ms, s, m, h, d, as in 250ms",
                     text);
}

}  // namespace

Result<Duration> parse_duration(std::string_view text) {
  const std::string_view whole = trimmed(text);
  const std::size_t unit_at = whole.find_first_not_of("0123456789.");
  const std::string_view digits = trimmed(whole.substr(0, unit_at));
  const std::string_view unit = unit_at == std::string_view::npos ? "" : trimmed(whole.substr(unit_at));
  if (unit.empty()) {
    return fail(ErrorCode::invalid_argument,
                fmt::format("'{}' has no unit: write 250ms, 1.5s, 40us, 5m or 1h", text));
  }
  for (const Unit& known : kUnits) {
    if (unit != known.name) continue;
    if (const auto value = decimal_times(digits, known.nanoseconds)) return Duration(*value);
    break;
  }
  return fail(ErrorCode::invalid_argument, why_no_duration(text));
}

Result<Probability> parse_rate(std::string_view text) {
  std::string_view digits = trimmed(text);
  const bool percent = !digits.empty() && digits.back() == '%';
  if (percent) digits = trimmed(digits.substr(0, digits.size() - 1));
  const auto parts = decimal_times(digits, percent ? Probability::kScale / 100 : Probability::kScale);
  if (!parts) {
    return fail(ErrorCode::invalid_argument, fmt::format("'{}' is not a rate: write 0.1% or 0.001", text));
  }
  const bool zero = *parts == 0;
  if (!percent && !zero && *parts >= Probability::kScale) {
    return fail(
        ErrorCode::invalid_argument,
        fmt::format("'{}' could mean a percentage or a fraction: write {}% or a number below 1 such as 0.001",
                    text, digits));
  }
  if (*parts > Probability::kScale) {
    return fail(ErrorCode::invalid_argument,
                fmt::format("'{}' is more than all of the calls: a rate is 0% to 100%", text));
  }
  return Probability::from_parts(*parts);
}

std::string format_duration(Duration value) {
  const double ns = static_cast<double>(value.count());
  const double size = std::abs(ns);
  const auto [unit, scale] = size >= 86'400e9 * 2 ? std::pair("days", 86'400e9)
                             : size >= 3600e9 * 2 ? std::pair("h", 3600e9)
                             : size >= 120e9      ? std::pair("min", 60e9)
                             : size >= 999.5e6    ? std::pair("s", 1e9)
                             : size >= 999.5e3    ? std::pair("ms", 1e6)
                             : size >= 999.5      ? std::pair("us", 1e3)
                                                  : std::pair("ns", 1.0);
  const double shown = ns / scale;
  const double magnitude = std::abs(shown);
  std::string digits = fmt::format("{:.{}f}", shown, magnitude >= 99.95 ? 0 : magnitude >= 9.995 ? 1 : 2);
  if (digits.find('.') != std::string::npos) {
    while (digits.back() == '0') digits.pop_back();
    if (digits.back() == '.') digits.pop_back();
  }
  return digits + " " + unit;
}

std::string format_duration_exact(Duration value) {
  if (value.count() == 0) return "0s";
  for (const Unit& unit : kUnits) {
    if (value.count() % unit.nanoseconds == 0)
      return fmt::format("{}{}", value.count() / unit.nanoseconds, unit.name);
  }
  return fmt::format("{}ns", value.count());
}

std::string format_rate(double share) {
  const double percent = share * 100;
  const double size = std::abs(percent);
  if (size == 0) return "0 %";
  if (std::abs(size - 100) < 5e-7) return fmt::format("{:.0f} %", percent);
  if (size >= 9.995) {
    // What is nearly all does not read as all.
    int decimals = 1;
    while (size < 100 && decimals < 6 && size >= 100 - 0.5 * std::pow(10, -decimals)) ++decimals;
    return fmt::format("{:.{}f} %", percent, decimals);
  }
  if (size >= 0.0995) return fmt::format("{:.2f} %", percent);
  const int decimals = std::min(12, 1 - static_cast<int>(std::floor(std::log10(size))));
  return fmt::format("{:.{}f} %", percent, decimals);
}

std::string format_count(std::uint64_t count) {
  const std::string digits = fmt::format("{}", count);
  std::string grouped;
  for (std::size_t at = 0; at < digits.size(); ++at) {
    if (at > 0 && (digits.size() - at) % 3 == 0) grouped += ',';
    grouped += digits[at];
  }
  return grouped;
}

}  // namespace overdue
