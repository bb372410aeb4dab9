#pragma once

#include <cstdint>
#include <limits>

namespace overdue {

// The sum of two counts, or the greatest count there is: counters stop, they never wrap.
constexpr std::uint64_t saturating_sum(std::uint64_t left, std::uint64_t right) {
  std::uint64_t sum = 0;
  return __builtin_add_overflow(left, right, &sum) ? std::numeric_limits<std::uint64_t>::max() : sum;
}

}  // namespace overdue
