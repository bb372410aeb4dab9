#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "overdue/base/time.h"

namespace overdue {

// TimeText reads the times of day that logs write, to the nanosecond:
//     1438867590, 1438867590.285     seconds since 1970; with 12 to 14 digits milliseconds, 15 to 17
//     microseconds,
//                                    18 or 19 nanoseconds
//     2015-09-06T05:58:05.123+09:00  ISO 8601; a blank for the T, a comma for the point, / for -, +0900, Z;
//                                    no zone: UTC
//     2022-08-22 03:51:19.57 +0000 UTC m=+0.079    as Go prints it
//     06/Sep/2015:05:58:05 +0900     nginx, Apache, HAProxy (there with a fraction)
//     Sun, 06 Sep 2015 05:58:05 GMT  mail and HTTP (RFC 1123)
// Years 1970 to 2199. The date last seen is remembered, since logs repeat it: a time is then a few
// multiplications.
//
// Errors:  nothing where the text is no such time.
// Threads: none; one a thread (or a chunk).
class TimeText {
 public:
  // Any of the above, told apart by their shape.
  std::optional<WallTime> parse(std::string_view text);

  static std::optional<WallTime> epoch(std::string_view text);
  std::optional<WallTime> iso(std::string_view text);
  std::optional<WallTime> common_log(std::string_view text);
  std::optional<WallTime> mail(std::string_view text);

  // A time without a zone was read, and taken for UTC.
  bool zone_was_missing() const { return zone_was_missing_; }

 private:
  struct Date {
    std::array<char, 11> text{};
    std::int64_t midnight_ns = 0;
  };
  static std::optional<std::int64_t> time_of_day(std::string_view text);
  std::optional<WallTime> with_fraction_and_zone(std::int64_t ns, std::string_view rest);

  Date iso_date_;
  Date common_date_;
  std::array<char, 8> iso_second_{'0', '0', ':', '0', '0', ':', '0', '0'};  // As last seen.
  std::int64_t iso_second_ns_ = 0;
  bool zone_was_missing_ = false;
};

}  // namespace overdue
