#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "overdue/base/time.h"
#include "overdue/recorded/number_text.h"

namespace overdue {

// One interval line of an HdrHistogram log: Tag=A,0.127,1.007,2.769,HISTFAAA...
struct HlogInterval {
  std::string_view tag;
  Duration start{};  // As written: since the base time, or since 1970.
  Duration length{};
  double max = 0;  // In the log's unit for maxima, by convention milliseconds.
  std::string_view histogram;
};

// Nothing where `line` is no interval line.
std::optional<HlogInterval> split_hlog_line(std::string_view line);

// Which of nanoseconds, microseconds and milliseconds the recorded values may be counted in, told from a
// greatest value in both units: the log's maxima are in milliseconds by convention. `recorded_low` to
// `recorded_high` is the bucket of the greatest value. A value of a few steps may fit two units.
struct HlogUnits {
  std::array<bool, 3> fits{};  // ns, us, ms.
  bool any() const { return fits[0] || fits[1] || fits[2]; }
};
inline constexpr std::array<TimeUnit, 3> kHlogUnits = {TimeUnit::nanoseconds, TimeUnit::microseconds,
                                                       TimeUnit::milliseconds};
HlogUnits hlog_units(std::int64_t recorded_low, std::int64_t recorded_high, double max);

}  // namespace overdue
