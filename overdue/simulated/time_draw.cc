#include "overdue/simulated/time_draw.h"

#include <vector>

namespace overdue {
namespace {

struct Maker {
  DurationDraw operator()(const ConstantTime& said) const { return DurationDraw::constant(said.value); }
  DurationDraw operator()(const UniformTime& said) const {
    return DurationDraw::uniform(said.low, said.high);
  }
  DurationDraw operator()(const ExponentialTime& said) const { return DurationDraw::exponential(said.mean); }
  DurationDraw operator()(const LognormalTime& said) const {
    return DurationDraw::lognormal(said.median, said.log_sigma);
  }
  DurationDraw operator()(const ParetoTime& said) const {
    return DurationDraw::pareto(said.scale, said.shape, said.max);
  }
  DurationDraw operator()(const EmpiricalTime& said) const {
    std::vector<DurationDraw::Bucket> buckets;
    for (const EmpiricalTime::Bucket& bucket : said.buckets) {
      buckets.push_back({bucket.low, bucket.high, bucket.weight});
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
