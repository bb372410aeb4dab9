#pragma once

#include <compare>
#include <cstdint>

#include "overdue/base/check.h"

namespace overdue {

// A number in [0, 1] kept as a whole count of 1e-12ths, so that 0.001 is exactly one in a thousand and ranks
// are integer arithmetic. `Tag` keeps a quantile and a probability from being passed for each other.
template <typename Tag>
class UnitFraction {
 public:
  static constexpr std::int64_t kScale = 1'000'000'000'000;

  constexpr UnitFraction() = default;
  // Rounds to the nearest 1e-12. Requires: 0 <= value <= 1.
  constexpr explicit UnitFraction(double value) {
    OVERDUE_CHECK(value >= 0.0 && value <= 1.0);
    // Positive, so adding a half rounds; std::llround is not constexpr.
    // NOLINTNEXTLINE(bugprone-incorrect-roundings)
    parts_ = static_cast<std::int64_t>(value * static_cast<double>(kScale) + 0.5);
  }
  // Requires: 0 <= parts <= kScale.
  static constexpr UnitFraction from_parts(std::int64_t parts) {
    OVERDUE_CHECK(parts >= 0 && parts <= kScale);
    UnitFraction fraction;
    fraction.parts_ = parts;
    return fraction;
  }

  constexpr std::int64_t parts() const { return parts_; }
  constexpr double value() const { return static_cast<double>(parts_) / static_cast<double>(kScale); }
  constexpr auto operator<=>(const UnitFraction&) const = default;

 private:
  std::int64_t parts_ = 0;
};

// The share of something that happens, or is accepted, lost, cut off.
using Probability = UnitFraction<struct ProbabilityTag>;

// A position in a distribution: Quantile{0.99} is what others call p99.
using Quantile = UnitFraction<struct QuantileTag>;

// The 1-based rank ceil(q * count) of the nearest-rank quantile, at least 1. Exact: integers only.
// Requires: count >= 1.
constexpr std::uint64_t rank_of(Quantile q, std::uint64_t count) {
  OVERDUE_CHECK(count >= 1);
  __extension__ using Wide = unsigned __int128;
  const Wide product = static_cast<Wide>(static_cast<std::uint64_t>(q.parts())) * count;
  const auto scale = static_cast<std::uint64_t>(Quantile::kScale);
  const auto rank = static_cast<std::uint64_t>((product + scale - 1) / scale);
  return rank == 0 ? 1 : rank;
}

constexpr Quantile complement(Probability p) { return Quantile::from_parts(Probability::kScale - p.parts()); }

}  // namespace overdue
