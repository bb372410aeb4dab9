#pragma once

#include <string>
#include <string_view>

#include "overdue/base/probability.h"
#include "overdue/base/result.h"
#include "overdue/base/time.h"

namespace overdue {

// Text to quantity and back, the one place where units are read and written.

// "385ms", "1.5s", "250us", "90ns", "5m", "24h", "1d". A unit is required and the value must be positive or
// zero; fractions finer than a nanosecond are an error. Fails with invalid_argument and says what would be
// right.
Result<Duration> parse_duration(std::string_view text);

// "0.1%", "0.001", "5 %". A bare number of 1 or more ("1", "99.9") is refused with a hint, and so is a
// negative one: whether 1 means 1 % or all is never guessed. Fails with invalid_argument.
Result<Probability> parse_rate(std::string_view text);

// For people: about three significant digits in the unit that fits ("383 ms", "2.7 s", "9.7 ms", "40 us").
std::string format_duration(Duration value);

// As the policy file writes it, exactly, without a space: "385ms", "1500us", "1h".
std::string format_duration_exact(Duration value);

// "0.10 %", "12.3 %", "0.004 %": two significant digits below one percent, one decimal above; "99.98 %" where
// one decimal would read as all.
std::string format_rate(double share);

// "1,204,118".
std::string format_count(std::uint64_t count);

constexpr double to_milliseconds(Duration value) { return static_cast<double>(value.count()) / 1e6; }

}  // namespace overdue
