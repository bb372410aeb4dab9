#pragma once

#include <array>
#include <cmath>
#include <cstdint>

#include "overdue/base/random.h"

namespace overdue {

// Distributions that worlds and tests draw from, on our own generator: a handful of nanoseconds a draw, and
// equal seeds give equal draws whatever the standard library. Values have no unit: a draw has that of its
// parameters.
//
//     const Lognormal service{.log_median = 2.0, .log_sigma = 0.5};   // Median exp(2) ms.
//     const double ms = service.draw(random);
//
// The normal and the exponential come from 256-layer ziggurats (Marsaglia and Tsang, "The Ziggurat Method for
// Generating Random Variables", Journal of Statistical Software 5(8), 2000), with layer and position taken
// from different bits of one 64-bit draw (Doornik, "An Improved Ziggurat Method to Generate Normal Random
// Samples", 2005: sharing them is a flaw that tests of randomness find).
//
// Threads: none beyond those of the Random given.
// Replay:  equal streams give equal draws; the last digit may depend on the C library's exp and log.

// Mean 0, standard deviation 1.
double standard_normal(Random& random);

// Mean 1.
double standard_exponential(Random& random);

struct Normal {
  double mean = 0;
  double sigma = 1;  // Requires: sigma >= 0.
  double draw(Random& random) const { return mean + sigma * standard_normal(random); }
};

// exp of a normal one: its median is exp(log_median).
struct Lognormal {
  double log_median = 0;
  double log_sigma = 1;  // Requires: log_sigma >= 0.
  static Lognormal with_median(double median, double log_sigma) { return {std::log(median), log_sigma}; }
  double draw(Random& random) const { return std::exp(log_median + log_sigma * standard_normal(random)); }
};

struct Exponential {
  double mean = 1;  // Requires: mean >= 0.
  double draw(Random& random) const { return mean * standard_exponential(random); }
};

// In [low, high).
struct Uniform {
  double low = 0;
  double high = 1;  // Requires: high >= low.
  double draw(Random& random) const { return low + (high - low) * random.uniform(); }
};

// What the inline halves below need: each layer is as wide as edge[layer], and edge[layer + 1] of it lies
// wholly under the density. Layer 0 holds the tail: edge[0] is the width of a rectangle of equal area,
// edge[1] where the tail begins.
struct Ziggurat {
  static constexpr int kLayers = 256;
  std::array<double, kLayers + 1> edge;
  std::array<double, kLayers + 1> height;  // The density at edge[i], not normalised; height[0] is not used.
};
extern const Ziggurat kNormalZiggurat;
extern const Ziggurat kExponentialZiggurat;

// The rare rest, under 1.5 % of draws: the ragged edge of a layer, or the tail.
double standard_normal_rest(Random& random, unsigned layer, double x);
double standard_exponential_rest(Random& random, unsigned layer, double x);

inline double standard_normal(Random& random) {
  const std::uint64_t bits = random.next();
  const unsigned layer = bits & 0xff;
  // 53 bits with their sign, in [-1, 1).
  const double x =
      static_cast<double>(static_cast<std::int64_t>(bits) >> 11) * 0x1p-52 * kNormalZiggurat.edge[layer];
  if (std::abs(x) < kNormalZiggurat.edge[layer + 1]) [[likely]]
    return x;
  return standard_normal_rest(random, layer, x);
}

inline double standard_exponential(Random& random) {
  const std::uint64_t bits = random.next();
  const unsigned layer = bits & 0xff;
  const double x =
      static_cast<double>(static_cast<std::int64_t>(bits >> 11)) * 0x1p-53 * kExponentialZiggurat.edge[layer];
  if (x < kExponentialZiggurat.edge[layer + 1]) [[likely]]
    return x;
  return standard_exponential_rest(random, layer, x);
}

}  // namespace overdue
