#include <benchmark/benchmark.h>

#include <bit>
#include <cmath>
#include <numbers>
#include <vector>

#include "overdue/base/random.h"
#include "overdue/latency/histogram.h"

// The bar: LatencyHistogram::add, least and greatest latency included, in at most 1.3 times a bare increment
// of the same mapping. And the mapping two ways: by the width of the integer, and by the exponent bits of a
// double.

namespace overdue {
namespace {

constexpr std::size_t kValues = 1U << 16;

// Lognormal around 10 ms, sigma 0.8: two orders of magnitude, as services have.
std::vector<Duration> lognormal_values() {
  Random random(1);
  std::vector<Duration> values;
  for (std::size_t value = 0; value < kValues; ++value) {
    const double normal = std::sqrt(-2.0 * std::log(1.0 - random.uniform())) *
                          std::cos(2.0 * std::numbers::pi * random.uniform());
    values.push_back(Duration(static_cast<std::int64_t>(std::exp(0.8 * normal) * 1e7)));
  }
  return values;
}

// The same mapping from the bits of the value as a double: exponent and the first six bits of the fraction.
std::uint32_t bucket_by_double(Duration value) {
  constexpr auto kCap = static_cast<std::int64_t>(LatencyHistogram::kValueMax);
  const std::int64_t ns = std::min(value.count(), kCap);
  if (ns < 64) return static_cast<std::uint32_t>(ns);
  const std::uint64_t bits = std::bit_cast<std::uint64_t>(static_cast<double>(ns)) >> (52 - 6);
  return static_cast<std::uint32_t>(bits - ((1023 + 6) * 64) + 64);
}

void per_value(benchmark::State& state) {
  state.SetItemsProcessed(static_cast<std::int64_t>(state.iterations()) * static_cast<std::int64_t>(kValues));
}

void BM_BareIncrement(benchmark::State& state) {
  const std::vector<Duration> values = lognormal_values();
  std::vector<std::uint64_t> counts(LatencyHistogram::kBucketCount);
  for (auto _ : state) {
    for (const Duration value : values) ++counts[LatencyHistogram::bucket_of(value)];
    benchmark::ClobberMemory();
  }
  per_value(state);
}
BENCHMARK(BM_BareIncrement);

void BM_Add(benchmark::State& state) {
  const std::vector<Duration> values = lognormal_values();
  LatencyHistogram histogram;
  for (auto _ : state) {
    for (const Duration value : values) histogram.add(value);
    benchmark::ClobberMemory();
  }
  per_value(state);
}
BENCHMARK(BM_Add);

void BM_BareIncrementByDouble(benchmark::State& state) {
  const std::vector<Duration> values = lognormal_values();
  for (const Duration value : values) {
    if (bucket_by_double(value) != LatencyHistogram::bucket_of(value)) state.SkipWithError("mappings differ");
  }
  std::vector<std::uint64_t> counts(LatencyHistogram::kBucketCount);
  for (auto _ : state) {
    for (const Duration value : values) ++counts[bucket_by_double(value)];
    benchmark::ClobberMemory();
  }
  per_value(state);
}
BENCHMARK(BM_BareIncrementByDouble);

void BM_Quantile(benchmark::State& state) {
  LatencyHistogram histogram;
  for (const Duration value : lognormal_values()) histogram.add(value);
  for (auto _ : state) benchmark::DoNotOptimize(histogram.value_at(Quantile{0.999}));
}
BENCHMARK(BM_Quantile);

void BM_Merge(benchmark::State& state) {
  LatencyHistogram histogram;
  for (const Duration value : lognormal_values()) histogram.add(value);
  LatencyHistogram sum;
  for (auto _ : state) sum.merge(histogram);
}
BENCHMARK(BM_Merge);

void BM_SerialiseAndParse(benchmark::State& state) {
  LatencyHistogram histogram;
  for (const Duration value : lognormal_values()) histogram.add(value);
  for (auto _ : state) benchmark::DoNotOptimize(LatencyHistogram::parse(histogram.serialise()));
}
BENCHMARK(BM_SerialiseAndParse);

}  // namespace
}  // namespace overdue
