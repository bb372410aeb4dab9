#include "overdue/recorded/time_text.h"

#include <chrono>
#include <cstring>

#include "overdue/recorded/number_text.h"

namespace overdue {
namespace {

constexpr std::int64_t kSecond = 1'000'000'000;
constexpr std::string_view kMonths = "JanFebMarAprMayJunJulAugSepOctNovDec";

constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }

// Two digits at `at`, or something above 99.
constexpr unsigned two_digits(std::string_view text, std::size_t at) {
  const unsigned tens = static_cast<unsigned char>(text[at]) - unsigned{'0'};
  const unsigned ones = static_cast<unsigned char>(text[at + 1]) - unsigned{'0'};
  return tens > 9 || ones > 9 ? 1000 : tens * 10 + ones;
}

std::optional<std::int64_t> midnight(unsigned year, unsigned month, unsigned day) {
  if (year < 1970 || year > 2199) return std::nullopt;
  const std::chrono::year_month_day date{std::chrono::year(static_cast<int>(year)), std::chrono::month(month),
                                         std::chrono::day(day)};
  if (!date.ok()) return std::nullopt;
  return std::chrono::sys_days(date).time_since_epoch().count() * (86'400 * kSecond);
}

// "", "Z", "+0900", "+09:00", "+09", " UTC", each perhaps after a blank, and what Go adds behind. Minutes
// east.
std::optional<int> zone_minutes(std::string_view text, bool& missing) {
  if (text.empty()) {
    missing = true;
    return 0;
  }
  if (text == "Z" || text == "z") return 0;
  if (text.front() == ' ') text.remove_prefix(1);
  if (text == "UTC" || text == "GMT" || text == "Z") return 0;
  if (text.size() < 3 || (text[0] != '+' && text[0] != '-')) return std::nullopt;
  const unsigned hours = two_digits(text, 1);
  const std::size_t minutes_at = text.size() > 3 && text[3] == ':' ? 4 : 3;
  unsigned minutes = 0;
  std::size_t end = 3;
  if (text.size() >= minutes_at + 2 && is_digit(text[minutes_at])) {
    minutes = two_digits(text, minutes_at);
    end = minutes_at + 2;
  }
  if (hours > 18 || minutes > 59) return std::nullopt;
  if (end != text.size() && text[end] != ' ') return std::nullopt;
  const int east = static_cast<int>(hours * 60 + minutes);
  return text[0] == '-' ? -east : east;
}

}  // namespace

std::optional<WallTime> TimeText::epoch(std::string_view text) {
  const std::size_t whole = text.find('.') == std::string_view::npos ? text.size() : text.find('.');
  if (whole < 9 || whole > 19 || !is_digit(text[0])) return std::nullopt;
  const unsigned power = whole <= 11 ? 9 : whole <= 14 ? 6 : whole <= 17 ? 3 : 0;
  const auto value = decimal_scaled(text, power);
  if (!value) return std::nullopt;
  return WallTime(Duration(*value));
}

std::optional<WallTime> TimeText::iso(std::string_view text) {
  if (text.size() < 19 || (text[4] != '-' && text[4] != '/') || text[7] != text[4] ||
      (text[10] != 'T' && text[10] != ' ' && text[10] != 't')) {
    return std::nullopt;
  }
  if (std::memcmp(iso_date_.text.data(), text.data(), 10) != 0) {
    const auto ns =
        midnight(two_digits(text, 0) * 100 + two_digits(text, 2), two_digits(text, 5), two_digits(text, 8));
    if (!ns) return std::nullopt;
    std::memcpy(iso_date_.text.data(), text.data(), 10);
    iso_date_.midnight_ns = *ns;
  }
  if (std::memcmp(iso_second_.data(), text.data() + 11, 8) != 0) {
    const auto ns = time_of_day(text.substr(11));
    if (!ns) return std::nullopt;
    std::memcpy(iso_second_.data(), text.data() + 11, 8);
    iso_second_ns_ = *ns;
  }
  return with_fraction_and_zone(iso_date_.midnight_ns + iso_second_ns_, text.substr(19));
}

std::optional<WallTime> TimeText::common_log(std::string_view text) {
  if (text.size() < 20 || text[2] != '/' || text[6] != '/' || text[11] != ':') return std::nullopt;
  if (std::memcmp(common_date_.text.data(), text.data(), 11) != 0) {
    const std::size_t month = kMonths.find(text.substr(3, 3));
    if (month == std::string_view::npos || month % 3 != 0) return std::nullopt;
    const auto ns = midnight(two_digits(text, 7) * 100 + two_digits(text, 9),
                             static_cast<unsigned>(month / 3 + 1), two_digits(text, 0));
    if (!ns) return std::nullopt;
    std::memcpy(common_date_.text.data(), text.data(), 11);
    common_date_.midnight_ns = *ns;
  }
  const auto second = time_of_day(text.substr(12));
  if (!second) return std::nullopt;
  return with_fraction_and_zone(common_date_.midnight_ns + *second, text.substr(20));
}

// "Sun, 30 Nov 2025 10:53:20 GMT"
std::optional<WallTime> TimeText::mail(std::string_view text) {
  if (text.size() < 25 || text[4] != ' ' || text[7] != ' ' || text[11] != ' ' || text[16] != ' ')
    return std::nullopt;
  const std::size_t month = kMonths.find(text.substr(8, 3));
  if (month == std::string_view::npos || month % 3 != 0) return std::nullopt;
  const auto ns = midnight(two_digits(text, 12) * 100 + two_digits(text, 14),
                           static_cast<unsigned>(month / 3 + 1), two_digits(text, 5));
  const auto second = time_of_day(text.substr(17));
  if (!ns || !second) return std::nullopt;
  return with_fraction_and_zone(*ns + *second, text.substr(25));
}

// "05:58:05" since midnight. A leap second is written as 60.
std::optional<std::int64_t> TimeText::time_of_day(std::string_view text) {
  const unsigned hours = two_digits(text, 0);
  const unsigned minutes = two_digits(text, 3);
  const unsigned seconds = two_digits(text, 6);
  if (hours > 23 || minutes > 59 || seconds > 60 || text[2] != ':' || text[5] != ':') return std::nullopt;
  return static_cast<std::int64_t>(hours * 3600 + minutes * 60 + seconds) * kSecond;
}

std::optional<WallTime> TimeText::with_fraction_and_zone(std::int64_t ns, std::string_view rest) {
  std::size_t at = 0;
  if (!rest.empty() && (rest[0] == '.' || rest[0] == ',')) {
    std::int64_t place = kSecond / 10;
    for (++at; at < rest.size() && is_digit(rest[at]); ++at, place /= 10) ns += (rest[at] - '0') * place;
  }
  const auto east = zone_minutes(rest.substr(at), zone_was_missing_);
  if (!east) return std::nullopt;
  ns -= *east * (60 * kSecond);
  if (ns < 0) return std::nullopt;
  return WallTime(Duration(ns));
}

std::optional<WallTime> TimeText::parse(std::string_view text) {
  if (text.size() < 9) return std::nullopt;
  if (text[4] == '-' || text[4] == '/') return iso(text);
  if (text[3] == ',') return mail(text);
  if (text[2] == '/') return common_log(text);
  return epoch(text);
}

}  // namespace overdue
