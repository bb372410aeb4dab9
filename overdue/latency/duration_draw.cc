#include "overdue/latency/duration_draw.h"

#include <algorithm>

#include "overdue/base/check.h"

// One of several by weight is drawn by the alias method (Walker 1977; tables as in Vose, "A Linear Algorithm
// for Generating Random Numbers with a Given Distribution", IEEE Transactions on Software Engineering 17(9),
// 1991): a place, and whether it is itself or its alias, from one draw.

namespace overdue {
namespace {

struct Alias {
  double keep = 1;  // The probability of staying.
  std::uint32_t other = 0;
};

std::vector<Alias> alias_table(std::span<const double> weights) {
  double sum = 0;
  for (const double weight : weights) {
    OVERDUE_CHECK(weight >= 0);
    sum += weight;
  }
  OVERDUE_CHECK(sum > 0);
  const auto count = static_cast<double>(weights.size());
  std::vector<Alias> table(weights.size());
  std::vector<double> left(weights.size());
  std::vector<std::uint32_t> small;
  std::vector<std::uint32_t> large;
  for (std::uint32_t i = 0; i < weights.size(); ++i) {
    left[i] = weights[i] * count / sum;
    (left[i] < 1 ? small : large).push_back(i);
  }
  while (!small.empty() && !large.empty()) {
    const std::uint32_t low = small.back();
    small.pop_back();
    const std::uint32_t high = large.back();
    table[low] = {left[low], high};
    left[high] -= 1 - left[low];
    if (left[high] < 1) {
      large.pop_back();
      small.push_back(high);
    }
  }
  // What rounding has left over is itself; but a weight of zero never is.
  const auto heaviest = static_cast<std::uint32_t>(std::ranges::max_element(weights) - weights.begin());
  for (const std::uint32_t i : small) table[i] = weights[i] > 0 ? Alias{1, i} : Alias{0, heaviest};
  for (const std::uint32_t i : large) table[i] = {1, i};
  return table;
}

std::uint32_t pick(const std::vector<Alias>& table, Random& random) {
  const double place = random.uniform() * static_cast<double>(table.size());
  const auto index = static_cast<std::uint32_t>(place);
  // Both are read, so that nothing has to be guessed: which one it will be is drawn.
  const auto [keep, other] = table[index];
  return place - static_cast<double>(index) < keep ? index : other;
}

}  // namespace

struct DurationDraw::Tables {
  std::vector<Alias> alias;
  std::vector<Bucket> buckets;
  std::vector<DurationDraw> parts;
};

DurationDraw DurationDraw::constant(Duration value) {
  OVERDUE_CHECK(value >= Duration::zero());
  DurationDraw made;
  made.fixed_ = value.count();
  return made;
}

DurationDraw DurationDraw::uniform(Duration low, Duration high) {
  OVERDUE_CHECK(low >= Duration::zero() && high >= low);
  DurationDraw made;
  made.kind_ = Kind::uniform;
  made.first_ = static_cast<double>(low.count());
  made.second_ = static_cast<double>((high - low).count());
  return made;
}

DurationDraw DurationDraw::exponential(Duration mean) {
  OVERDUE_CHECK(mean >= Duration::zero());
  DurationDraw made;
  made.kind_ = Kind::exponential;
  made.first_ = static_cast<double>(mean.count());
  return made;
}

DurationDraw DurationDraw::lognormal(Duration median, double log_sigma) {
  OVERDUE_CHECK(median > Duration::zero() && log_sigma >= 0);
  DurationDraw made;
  made.kind_ = Kind::lognormal;
  made.first_ = std::log(static_cast<double>(median.count()));
  made.second_ = log_sigma;
  return made;
}

DurationDraw DurationDraw::pareto(Duration scale, double shape, Duration max) {
  OVERDUE_CHECK(scale > Duration::zero() && shape > 0 && max >= scale);
  DurationDraw made;
  made.kind_ = Kind::pareto;
  made.fixed_ = max.count();
  made.second_ = -1 / shape;
  made.scale_ = static_cast<double>(scale.count());
  return made;
}

DurationDraw DurationDraw::measured(std::span<const Bucket> buckets) {
  std::vector<double> weights;
  for (const Bucket& bucket : buckets) {
    OVERDUE_CHECK(bucket.low >= Duration::zero() && bucket.high >= bucket.low);
    weights.push_back(bucket.weight);
  }
  DurationDraw made;
  made.kind_ = Kind::measured;
  made.tables_ = std::make_shared<Tables>(
      alias_table(weights), std::vector<Bucket>(buckets.begin(), buckets.end()), std::vector<DurationDraw>{});
  return made;
}

DurationDraw DurationDraw::mixture(std::span<const double> shares, std::span<const DurationDraw> parts) {
  OVERDUE_CHECK(shares.size() == parts.size());
  DurationDraw made;
  made.kind_ = Kind::mixture;
  made.tables_ = std::make_shared<Tables>(alias_table(shares), std::vector<Bucket>{},
                                          std::vector<DurationDraw>(parts.begin(), parts.end()));
  return made;
}

Duration DurationDraw::draw_slowly(Random& random) const {
  if (kind_ == Kind::pareto) {
    // 1 - uniform is in (0, 1], so the power is finite.
    const double ns = scale_ * std::pow(1 - random.uniform(), second_);
    return std::min(whole(ns), Duration(fixed_));
  }
  const std::uint32_t index = pick(tables_->alias, random);
  if (kind_ == Kind::mixture) return tables_->parts[index].draw(random);
  const Bucket& bucket = tables_->buckets[index];
  const auto width = static_cast<double>((bucket.high - bucket.low).count());
  return bucket.low + whole(width * random.uniform());
}

}  // namespace overdue
