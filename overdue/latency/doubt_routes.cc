#include <algorithm>
#include <cmath>

#include "overdue/latency/bounds.h"
#include "overdue/latency/doubt_rules.h"

namespace overdue {
namespace {

constexpr std::uint64_t kRepliesMin = 300;
constexpr std::uint64_t kShareDivisor = 20;  // 5 % of all replies.
constexpr double kMiss = 0.01;               // Shared among routes and the two ends of each interval.
constexpr std::int64_t kFactor = 3;

struct RouteQuantile {
  std::size_t route = 0;
  Duration at{};
  Duration low{};
  Duration high{};
};

// The least rank k in [1, count] for which `holds`, which once true stays true; `count` where none does.
template <typename Holds>
std::uint64_t least_rank(std::uint64_t count, const Holds& holds) {
  std::uint64_t low = 1;
  std::uint64_t high = count;
  while (low < high) {
    const std::uint64_t middle = low + (high - low) / 2;
    if (holds(static_cast<double>(middle))) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return low;
}

std::uint32_t bucket_at_rank(const LatencyHistogram& histogram, std::uint64_t rank) {
  return histogram.bucket_at(
      Quantile((static_cast<double>(rank) - 0.5) / static_cast<double>(histogram.count())));
}

RouteQuantile quantile_of(const LatencyHistogram& histogram, std::size_t route, Quantile q, double miss) {
  const std::uint64_t count = histogram.count();
  const auto n = static_cast<double>(count);
  // The value at rank k is above the quantile unless k or more calls lie below it, and the other way round.
  const std::uint64_t high =
      least_rank(count, [&](double k) { return binomial_at_least(k, n, q.value()) <= miss; });
  const std::uint64_t above_low =
      least_rank(count, [&](double k) { return binomial_at_most(k - 1, n, q.value()) > miss; });
  const std::uint64_t low = above_low > 1 ? above_low - 1 : 1;
  return {route, histogram.value_at(q), LatencyHistogram::low_of(bucket_at_rank(histogram, low)),
          LatencyHistogram::high_of(bucket_at_rank(histogram, high))};
}

}  // namespace

std::optional<MixedRoutes> find_mixed_routes(std::span<const LatencyHistogram> routes,
                                             Probability accept_false) {
  std::uint64_t all = 0;
  for (const LatencyHistogram& route : routes) all += route.count();
  std::vector<std::size_t> large;
  std::uint64_t fewest = all;
  for (std::size_t i = 0; i < routes.size(); ++i) {
    const std::uint64_t count = routes[i].count();
    if (count < kRepliesMin || count < all / kShareDivisor) continue;
    large.push_back(i);
    fewest = std::min(fewest, count);
  }
  if (large.size() < 2) return std::nullopt;
  const double miss = kMiss / (2 * static_cast<double>(large.size()));
  // The greatest of n replies lies above the quantile q with certainty 1 - miss if q^n <= miss.
  const double supported = std::pow(miss, 1 / static_cast<double>(fewest));
  const Quantile q = std::min(complement(accept_false), Quantile(supported));
  std::vector<RouteQuantile> quantiles;
  quantiles.reserve(large.size());
  for (const std::size_t i : large) quantiles.push_back(quantile_of(routes[i], i, q, miss));
  const auto [fastest, slowest] = std::ranges::minmax(quantiles, {}, &RouteQuantile::at);
  if (slowest.at < fastest.at * kFactor || slowest.low <= fastest.high) return std::nullopt;
  return MixedRoutes{slowest.route, fastest.route, q, slowest.at, fastest.at};
}

}  // namespace overdue
