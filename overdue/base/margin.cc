#include "overdue/base/margin.h"

#include <fmt/format.h>

#include <charconv>
#include <string>

#include "overdue/base/quantity.h"

namespace overdue {

Result<double> parse_margin(std::string_view text) {
  constexpr double kPercentMax = 1000;
  double percent = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), percent);
  const std::string_view unit = text.substr(static_cast<std::size_t>(end - text.data()));
  if (error == std::errc() && (unit == "%" || unit == " %") && percent > 100) {
    if (percent <= kPercentMax) return percent / 100;
    return fail(ErrorCode::invalid_argument, fmt::format("'{}' is too much: write at most 1000%", text));
  }
  const auto rate = parse_rate(text);
  if (!rate) return std::unexpected(rate.error());
  return rate->value();
}

}  // namespace overdue
