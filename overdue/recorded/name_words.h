#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "overdue/recorded/number_text.h"

namespace overdue {

// A name as it reads, however it is written: "responseTimeMs", "Response time (ms)" and "response_time_ms"
// are all "responsetime", first word "response", in milliseconds.
struct ReadName {
  std::string joined;  // Without the unit.
  std::string first;
  std::optional<TimeUnit> unit;
  bool statistic = false;  // A percentile, an average: of many calls.
};

ReadName read_name(std::string_view name);

}  // namespace overdue
