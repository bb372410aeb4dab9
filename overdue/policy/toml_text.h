#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "overdue/base/probability.h"
#include "overdue/base/time.h"
#include "overdue/policy/policy_tables.h"

// Values as the policy file writes them.
namespace overdue::toml_text {

std::string quoted(std::string_view text);
std::string as_key(std::string_view name);  // Bare where it may be, else quoted.
std::string as_rate(Probability rate);      // "0.1%", in quotes, exact.
std::string as_duration(Duration value);    // "250ms", in quotes, exact.

// Keys and their values, in the order to write them.
using Settings = std::vector<std::pair<std::string_view, std::string>>;
Settings settings_of(const TimeoutPolicy& timeout);

}  // namespace overdue::toml_text
