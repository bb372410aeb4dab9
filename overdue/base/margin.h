#pragma once

#include <string_view>

#include "overdue/base/result.h"

namespace overdue {

// How far above a value is still fine, as a share of it: "20%", "0.2", and, unlike a rate, up to "1000%". A
// bare number of 1 or more is refused with a hint. Fails with invalid_argument.
Result<double> parse_margin(std::string_view text);

}  // namespace overdue
