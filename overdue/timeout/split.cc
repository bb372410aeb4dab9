#include "overdue/timeout/split.h"

#include <algorithm>
#include <cmath>

#include "overdue/base/check.h"

namespace overdue {

SplitRates rate_of_whole(Probability each, std::uint32_t calls) {
  OVERDUE_CHECK(calls >= 1);
  // 1 - (1 - each)^calls, without losing the digits of a small share.
  const double independent = each.value() < 1 ? -std::expm1(calls * std::log1p(-each.value())) : 1.0;
  return {.independent = Probability(std::clamp(independent, 0.0, 1.0)),
          .at_most = Probability(std::min(1.0, each.value() * calls))};
}

SplitRates rate_of_each(Probability whole, std::uint32_t calls) {
  OVERDUE_CHECK(calls >= 1);
  const double independent = whole.value() < 1 ? -std::expm1(std::log1p(-whole.value()) / calls) : 1.0;
  return {.independent = Probability(std::clamp(independent, 0.0, 1.0)),
          .at_most = Probability::from_parts(whole.parts() / calls)};
}

}  // namespace overdue
