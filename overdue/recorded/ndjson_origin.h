#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "overdue/recorded/number_text.h"
#include "overdue/recorded/read.h"

namespace overdue {

// What wrote the file, where its fields say so: names and units then need no guess.
struct NdjsonOrigin {
  std::string_view name;
  Vantage vantage = Vantage::caller;
  std::optional<TimeUnit> unit;
  bool zero_is_no_upstream = false;
  bool start_is_end = false;
  std::vector<std::pair<std::string, std::string>> calls_have = {};  // Name and text.
};

// Gives options.columns what is known of the file with these fields and the user did not say.
NdjsonOrigin known_origin(const std::vector<std::string>& names, ReadOptions& options);

}  // namespace overdue
