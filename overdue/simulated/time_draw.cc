#include "overdue/simulated/time_draw.h"

#include <algorithm>
#include <cstdint>
#include <vector>

namespace overdue {
namespace {

// As the other kinds' draws are: later than any run all the same, and a few of them with a time of the run
// stay within what an Instant holds.
Duration no_longer_than_a_draw(Duration length) {
  return std::min(length, Duration(static_cast<std::int64_t>(DurationDraw::kLongestNs)));
}

struct Maker {
  DurationDraw operator()(const ConstantTime& said) const {
    return DurationDraw::constant(no_longer_than_a_draw(said.value));
  }
  DurationDraw operator()(const UniformTime& said) const {
    return DurationDraw::uniform(said.low, said.high);
  }
  DurationDraw operator()(const ExponentialTime& said) const { return DurationDraw::exponential(said.mean); }
  DurationDraw operator()(const LognormalTime& said) const {
    return DurationDraw::lognormal(said.median, said.log_sigma);
  }
  DurationDraw operator()(const ParetoTime& said) const {
    return DurationDraw::pareto(no_longer_than_a_draw(said.scale), said.shape,
                                no_longer_than_a_draw(said.max));
  }
  DurationDraw operator()(const EmpiricalTime& said) const {
    std::vector<DurationDraw::Bucket> buckets;
    for (const EmpiricalTime::Bucket& bucket : said.buckets) {
      buckets.push_back(
          {no_longer_than_a_draw(bucket.low), no_longer_than_a_draw(bucket.high), bucket.weight});
    }
    return DurationDraw::measured(buckets);
  }
  DurationDraw operator()(const MixtureTime& said) const {
    std::vector<DurationDraw> parts;
    for (const TimeDistribution& part : said.parts) parts.push_back(draw_of(part));
    return DurationDraw::mixture(said.shares, parts);
  }
};

}  // namespace

DurationDraw draw_of(const TimeDistribution& said) { return std::visit(Maker{}, said.kind); }

}  // namespace overdue
