#pragma once

#include <cmath>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "overdue/base/random.h"
#include "overdue/base/time.h"
#include "overdue/latency/distribution.h"

namespace overdue {

// DurationDraw is a distribution of durations chosen at run time: one of the named ones, what was measured,
// or a mixture of others. A draw is whole nanoseconds, never negative.
//
// Mixtures and measured ones share their tables when copied.
// Threads: const, so one may be shared; the Random is its owner's.
// Replay:  equal streams give equal draws; the last digit may depend on the C library's exp, log and pow.
class DurationDraw {
 public:
  struct Bucket {
    Duration low{};
    Duration high{};  // Not below low. Values are uniform in [low, high).
    double weight = 0;
  };

  DurationDraw() = default;  // Always zero.
  // Requires of all: durations >= 0, parameters finite and not negative.
  static DurationDraw constant(Duration value);
  static DurationDraw uniform(Duration low, Duration high);
  static DurationDraw exponential(Duration mean);
  static DurationDraw lognormal(Duration median, double log_sigma);
  // P(T > t) = (scale / t)^shape for t >= scale, and what is above `max` is `max` (Pareto's first kind).
  static DurationDraw pareto(Duration scale, double shape, Duration max);
  // Requires: some weight is positive.
  static DurationDraw measured(std::span<const Bucket> buckets);
  // Requires: as many shares as parts, some share positive. Shares need not sum to one.
  static DurationDraw mixture(std::span<const double> shares, std::span<const DurationDraw> parts);

  Duration draw(Random& random) const {
    switch (kind_) {
      case Kind::constant:
        return Duration(fixed_);
      case Kind::lognormal:
        return whole(std::exp(first_ + second_ * standard_normal(random)));
      case Kind::exponential:
        return whole(first_ * standard_exponential(random));
      case Kind::uniform:
        return whole(first_ + second_ * random.uniform());
      default:
        return draw_slowly(random);
    }
  }

  // It is always this: zero takes no time, and needs no event.
  bool always_zero() const { return kind_ == Kind::constant && fixed_ == 0; }

  // About 73 years: half of what an Instant holds, so that one draw never overflows it.
  static constexpr double kLongestNs = 0x1p61;

 private:
  enum class Kind : std::uint8_t { constant, uniform, exponential, lognormal, pareto, measured, mixture };
  struct Tables;

  static Duration whole(double ns) {
    return Duration(static_cast<std::int64_t>(ns < kLongestNs ? ns : kLongestNs));
  }
  Duration draw_slowly(Random& random) const;

  Kind kind_ = Kind::constant;
  union {
    std::int64_t fixed_ = 0;  // constant: the value; pareto: the greatest.
    double first_;            // uniform: low; exponential: mean; lognormal: log of the median.
  };
  double second_ = 0;  // uniform: width; lognormal: sigma; pareto: -1 / shape.
  double scale_ = 0;   // pareto.
  std::shared_ptr<const Tables> tables_;
};

}  // namespace overdue
