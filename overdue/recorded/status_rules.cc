#include "overdue/recorded/status_rules.h"

#include <fmt/format.h>

namespace overdue {
namespace {

Ending usual_ending(int status, Vantage vantage) {
  if (status == 408) return Ending::timed_out;
  if (status == 499) return Ending::abandoned;
  if (status == 429) return Ending::rejected;
  if (status == 504 && vantage != Vantage::server) return Ending::timed_out;
  return status >= 500 ? Ending::rejected : Ending::replied;
}

}  // namespace

Result<StatusRules> StatusRules::create(const ReadOptions& options, Vantage vantage) {
  StatusRules rules;
  for (int status = 100; status <= 599; ++status) {
    rules.endings_[static_cast<std::size_t>(status - 100)] = usual_ending(status, vantage);
  }
  if (!options.success) return rules;
  for (Ending& ending : rules.endings_) {
    if (ending == Ending::replied) ending = Ending::rejected;
  }
  std::string_view rest = *options.success;
  while (!rest.empty()) {
    const std::size_t comma = rest.find(',');
    const std::string_view part = rest.substr(0, comma);
    rest = comma == std::string_view::npos ? "" : rest.substr(comma + 1);
    const auto digit = [&](std::size_t at) { return part[at] >= '0' && part[at] <= '9'; };
    const bool whole_class = part.size() == 3 && (part.substr(1) == "xx" || part.substr(1) == "XX");
    const bool one = part.size() == 3 && digit(1) && digit(2);
    if (part.size() != 3 || part[0] < '1' || part[0] > '5' || !(whole_class || one)) {
      return fail(ErrorCode::invalid_argument,
                  fmt::format("'{}' in --success is no status: write a list such as 2xx,404", part));
    }
    const int first =
        whole_class ? (part[0] - '0') * 100 : (part[0] - '0') * 100 + (part[1] - '0') * 10 + (part[2] - '0');
    const int last = whole_class ? first + 99 : first;
    for (int status = first; status <= last; ++status) {
      rules.endings_[static_cast<std::size_t>(status - 100)] = Ending::replied;
    }
  }
  return rules;
}

}  // namespace overdue
