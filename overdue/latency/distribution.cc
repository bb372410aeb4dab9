#include "overdue/latency/distribution.h"

// A ziggurat covers the density with horizontal layers of equal area. A draw picks a layer and a place across
// it; all but the ragged end of a layer lies under the density and needs no further look. The tables follow
// from one number each, the place where the tail begins, published for 256 layers by Marsaglia and Tsang;
// they are computed by the compiler, with functions of our own because those of <cmath> are not constexpr
// everywhere.

namespace overdue {
namespace {

constexpr double kNormalTail = 3.6541528853610088;
constexpr double kExponentialTail = 7.69711747013104972;
constexpr double kLn2 = 0.693147180559945309417;

// Taylor's series after reduction by powers of two: the rest is within ln(2)/2, so 18 terms are past the last
// bit.
constexpr double constant_exp(double x) {
  const int power = static_cast<int>(x / kLn2 + (x < 0 ? -0.5 : 0.5));
  const double rest = x - power * kLn2;
  double sum = 1;
  for (int n = 18; n >= 1; --n) sum = 1 + sum * rest / n;
  for (int n = 0; n < power; ++n) sum *= 2;
  for (int n = 0; n > power; --n) sum /= 2;
  return sum;
}

// Newton's method for exp(y) = x, which doubles the right digits at each step. Requires: 0 < x <= 1.
constexpr double constant_log(double x) {
  double scaled = x;
  int power = 0;
  while (scaled < 0.75) {
    scaled *= 2;
    --power;
  }
  double y = scaled - 1;
  for (int step = 0; step < 6; ++step) y += scaled * constant_exp(-y) - 1;
  return power * kLn2 + y;
}

constexpr double constant_sqrt(double x) {
  double root = x > 1 ? x : 1;
  for (int step = 0; step < 60; ++step) root = 0.5 * (root + x / root);
  return root;
}

// The area of the normal density's tail, by the continued fraction of Mills' ratio.
constexpr double normal_tail_area(double from) {
  double fraction = from;
  for (int n = 200; n >= 1; --n) fraction = from + n / fraction;
  return constant_exp(-from * from / 2) / fraction;
}

// Layers are stacked from the tail up, each `area` large. `density` falls from 1 at 0, and `inverse` undoes
// it.
template <typename Density, typename Inverse>
constexpr Ziggurat stacked(double tail, double area, Density density, Inverse inverse) {
  Ziggurat table{};
  table.edge[0] = area / density(tail);
  table.edge[1] = tail;
  table.height[1] = density(tail);
  for (std::size_t i = 2; i < Ziggurat::kLayers; ++i) {
    table.height[i] = table.height[i - 1] + area / table.edge[i - 1];
    table.edge[i] = inverse(table.height[i]);
  }
  table.edge[Ziggurat::kLayers] = 0;
  table.height[Ziggurat::kLayers] = 1;
  return table;
}

constexpr Ziggurat normal_ziggurat() {
  const auto density = [](double x) { return constant_exp(-x * x / 2); };
  const auto inverse = [](double y) { return constant_sqrt(-2 * constant_log(y)); };
  return stacked(kNormalTail, kNormalTail * density(kNormalTail) + normal_tail_area(kNormalTail), density,
                 inverse);
}

constexpr Ziggurat exponential_ziggurat() {
  const auto density = [](double x) { return constant_exp(-x); };
  const auto inverse = [](double y) { return -constant_log(y); };
  return stacked(kExponentialTail, (kExponentialTail + 1) * density(kExponentialTail), density, inverse);
}

// Uniform in (0, 1], whose logarithm is finite.
double positive_uniform(Random& random) { return 1.0 - random.uniform(); }

// A height within the layer, for a look at the density itself.
double height_within(const Ziggurat& table, unsigned layer, Random& random) {
  return table.height[layer] + random.uniform() * (table.height[layer + 1] - table.height[layer]);
}

// Marsaglia's tail (1964): the density beyond the tail's start, by rejection from an exponential.
double normal_tail(Random& random) {
  double beyond = 0;
  double height = 0;
  do {
    beyond = -std::log(positive_uniform(random)) / kNormalTail;
    height = -std::log(positive_uniform(random));
  } while (2 * height <= beyond * beyond);
  return kNormalTail + beyond;
}

}  // namespace

constinit const Ziggurat kNormalZiggurat = normal_ziggurat();
constinit const Ziggurat kExponentialZiggurat = exponential_ziggurat();

double standard_normal_rest(Random& random, unsigned layer, double x) {
  if (layer == 0) return std::copysign(normal_tail(random), x);
  if (height_within(kNormalZiggurat, layer, random) < std::exp(-x * x / 2)) return x;
  return standard_normal(random);
}

double standard_exponential_rest(Random& random, unsigned layer, double x) {
  // The exponential has no memory: beyond its tail's start it is itself again.
  if (layer == 0) return kExponentialTail + standard_exponential(random);
  if (height_within(kExponentialZiggurat, layer, random) < std::exp(-x)) return x;
  return standard_exponential(random);
}

}  // namespace overdue
