#include <algorithm>
#include <cmath>
#include <functional>
#include <utility>
#include <vector>

#include "overdue/latency/bounds.h"
#include "overdue/latency/doubt_rules.h"
#include "overdue/latency/redistribution.h"

namespace overdue {
namespace {

constexpr std::uint64_t kRepliesMin = 300;
constexpr std::uint64_t kShareDivisor = 20;  // 5 % of all replies.
constexpr double kMiss = 0.01;               // Shared among routes and the two ends of each interval.
constexpr std::int64_t kFactor = 3;
constexpr double kWeightMax = 1.25;
constexpr std::uint64_t kWatchedMin = 5;  // What one or two watched calls do decides nothing.

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

// What is seen of one route: its calls' curve (Redistribution). Nothing but its replies where nobody gave up.
// Calls open in the end count as slower than all that was seen; as lost, in no quantile, where no reply came
// in the last half of the longest wait, and nearly all calls were watched so long.
class RouteCurve {
 public:
  RouteCurve(const LatencyHistogram& replies, const BucketCounts* gave_up, std::size_t route)
      : replies_(&replies), route_(route), calls_(static_cast<double>(replies.count())), whole_(calls_) {
    if (gave_up == nullptr || gave_up->empty()) {
      seen_.push_back({.share = 1, .calls = calls_});
      return;
    }
    const std::uint64_t all = replies.count() + gave_up->total();
    calls_ = whole_ = static_cast<double>(all);
    Redistribution calls(all);
    std::uint32_t last = 0;  // That enough were watched in,
    double weight = 1;       // each for so many.
    open_.reserve(LatencyHistogram::kBucketCount);
    for (std::uint32_t bucket = 0; bucket < LatencyHistogram::kBucketCount; ++bucket) {
      if (calls.watched() >= kWatchedMin && gave_up->count_at(bucket) > 0) {
        last = bucket;
        weight = calls.weight();
      }
      calls.reply(replies.count_at(bucket));
      open_.push_back(calls.still_open());
      const std::uint64_t left = gave_up->count_at(bucket);
      if (left == 0 && calls.watched() > 0) continue;
      seen_.push_back({.share = calls_ - calls.still_open(), .calls = calls.weight()});
      calls.give_up(left);
      if (calls.watched() == 0) break;
    }
    const std::uint32_t half = LatencyHistogram::bucket_of(LatencyHistogram::low_of(last) / 2);
    if (weight <= kWeightMax && open_[half] - open_[last] < 0.5) whole_ = calls_ - open_[last];
    for (Seen& seen : seen_)
      seen = {.share = std::clamp(seen.share / whole_, 0.0, 1.0), .calls = whole_ / seen.calls};
  }

  // The greatest quantile whose interval ends where it is still seen.
  double supported(double miss) const {
    // Give-ups are many and an exact bound costs: only where the approximate one is highest.
    const auto roughly = [](const Seen& seen) {
      return wilson_interval(seen.share * seen.calls, seen.calls, kDeviations).low;
    };
    const Seen best = std::ranges::max(seen_, {}, roughly);
    return rate_lower_bound(best.share * best.calls, best.calls, miss);
  }

  // Requires: q is supported with this chance of a miss.
  RouteQuantile at(Quantile q, double miss) const {
    // Conservative past give-ups: as if all that was known of the calls given up had not been seen at all.
    const auto at_it = std::ranges::find_if(seen_, [q](const Seen& seen) { return seen.share >= q.value(); });
    const double calls = std::max(std::floor(at_it == seen_.end() ? seen_.back().calls : at_it->calls), 1.0);
    const auto count = static_cast<std::uint64_t>(calls);
    // The value at rank k is above the quantile unless k or more calls lie below it, and the other way
    // round.
    const std::uint64_t high =
        least_rank(count, [&](double k) { return binomial_at_least(k, calls, q.value()) <= miss; });
    const std::uint64_t above_low =
        least_rank(count, [&](double k) { return binomial_at_most(k - 1, calls, q.value()) > miss; });
    const std::uint64_t low = above_low > 1 ? above_low - 1 : 1;
    const auto share = [calls](std::uint64_t rank) {
      return Quantile((static_cast<double>(rank) - 0.5) / calls);
    };
    return {.route = route_,
            .at = open_.empty() ? replies_->value_at(q) : LatencyHistogram::middle_of(bucket_at(q)),
            .low = LatencyHistogram::low_of(bucket_at(share(low))),
            .high = LatencyHistogram::high_of(bucket_at(share(high)))};
  }

 private:
  // Up to a latency: the share of the calls that replied, and how many calls watched that long would have
  // told as much.
  struct Seen {
    double share = 0;
    double calls = 0;
  };
  static constexpr double kDeviations = 3;

  // The last one there is where it is not seen.
  std::uint32_t bucket_at(Quantile q) const {
    if (open_.empty()) return replies_->bucket_at(q);
    const double open = (calls_ - q.value() * whole_) * (1 + 1e-12);
    const auto found = std::ranges::lower_bound(open_, open, std::ranges::greater());
    const auto bucket = static_cast<std::uint32_t>(found - open_.begin());
    return std::min(bucket, LatencyHistogram::bucket_of(replies_->max()));
  }

  const LatencyHistogram* replies_;
  std::size_t route_;
  double calls_;              // That waited,
  double whole_;              // and those of which quantiles are.
  std::vector<double> open_;  // After the replies of each bucket; none where nobody gave up.
  std::vector<Seen> seen_;    // Just before give-ups, and at the end.
};

std::optional<MixedRoutes> compare_at(std::span<const RouteCurve* const> curves, Quantile q, double miss) {
  std::vector<RouteQuantile> quantiles;
  quantiles.reserve(curves.size());
  for (const RouteCurve* curve : curves) quantiles.push_back(curve->at(q, miss));
  const auto [fastest, slowest] = std::ranges::minmax(quantiles, {}, &RouteQuantile::at);
  if (slowest.at < fastest.at * kFactor || slowest.low <= fastest.high) return std::nullopt;
  return MixedRoutes{slowest.route, fastest.route, q, slowest.at, fastest.at};
}

}  // namespace

std::optional<MixedRoutes> find_mixed_routes(std::span<const LatencyHistogram> replies,
                                             std::span<const BucketCounts> gave_up,
                                             Probability accept_false) {
  std::uint64_t all = 0;
  for (const LatencyHistogram& route : replies) all += route.count();
  std::vector<RouteCurve> curves;
  for (std::size_t i = 0; i < replies.size(); ++i) {
    const std::uint64_t count = replies[i].count();
    if (count < kRepliesMin || count < all / kShareDivisor) continue;
    curves.emplace_back(replies[i], i < gave_up.size() ? &gave_up[i] : nullptr, i);
  }
  if (curves.size() < 2) return std::nullopt;
  const double miss = kMiss / (2 * static_cast<double>(curves.size()));
  std::vector<std::pair<double, const RouteCurve*>> by_support;
  for (const RouteCurve& curve : curves) by_support.emplace_back(curve.supported(miss), &curve);
  std::ranges::sort(by_support, std::ranges::greater(), [](const auto& route) { return route.first; });
  // One of which little is seen must not hide that others differ: it is asked last, and for all of them less.
  std::vector<const RouteCurve*> compared;
  for (std::size_t i = 0; i < by_support.size(); ++i) {
    compared.push_back(by_support[i].second);
    const Quantile q = std::min(complement(accept_false), Quantile(by_support[i].first));
    const bool more_at_q = i + 1 < by_support.size() && Quantile(by_support[i + 1].first) >= q;
    if (compared.size() < 2 || more_at_q || q == Quantile(0)) continue;
    if (auto found = compare_at(compared, q, miss)) return found;
  }
  return std::nullopt;
}

}  // namespace overdue
