#include <benchmark/benchmark.h>

#include <cmath>
#include <numbers>
#include <string>
#include <vector>

#include "overdue/base/random.h"
#include "overdue/latency/measurement.h"

// What a measured row costs once it is read: a log of 16 backends in time order, 200 calls a second,
// latencies in steps of a microsecond: two lognormal delays and a service with a slow path, as the lesson has
// them.

namespace overdue {
namespace {

constexpr std::size_t kRows = 1'000'000;
constexpr std::size_t kBatch = 2048;

double standard_normal(Random& random) {
  const double radius = std::sqrt(-2.0 * std::log(1.0 - random.uniform()));
  return radius * std::cos(2.0 * std::numbers::pi * random.uniform());
}

struct Log {
  std::vector<Attempt> rows;
  NameTable backends;
  NameTable routes;
};

Log make_log(std::size_t routes, bool fine_values) {
  Log log;
  Random random(1);
  for (int backend = 1; backend <= 16; ++backend)
    log.backends.id_of("10.0.0." + std::to_string(backend) + ":8080");
  for (std::size_t route = 1; route <= routes; ++route) log.routes.id_of("/route/" + std::to_string(route));
  WallTime now{std::chrono::seconds(1'790'000'000)};
  for (std::size_t row = 0; row < kRows; ++row) {
    now += Duration(static_cast<std::int64_t>(-std::log(1.0 - random.uniform()) * 5e6));
    const double network = std::exp(0.4 * standard_normal(random)) + std::exp(0.4 * standard_normal(random));
    const double service =
        random.uniform() < 0.02 ? 40 + 360 * random.uniform() : std::exp(2 + 0.5 * standard_normal(random));
    Attempt attempt;
    attempt.start = now;
    attempt.has_start = true;
    attempt.begins_call = true;
    attempt.elapsed = fine_values ? Duration(static_cast<std::int64_t>((network + service) * 1e6))
                                  : Duration(static_cast<std::int64_t>((network + service) * 1e3) * 1000);
    attempt.backend = static_cast<std::uint16_t>(1 + random.below(16));
    attempt.route = routes == 0 ? std::uint16_t{0} : static_cast<std::uint16_t>(1 + random.below(routes));
    if (random.uniform() < 0.004) {
      attempt.ending = Ending::timed_out;
      attempt.elapsed = std::chrono::seconds(1);
    } else if (random.uniform() < 0.005) {
      attempt.ending = Ending::rejected;
    }
    log.rows.push_back(attempt);
  }
  return log;
}

void add_rows(benchmark::State& state, const Log& log) {
  for (auto _ : state) {
    Measurement measurement;
    for (std::size_t done = 0; done < log.rows.size(); done += kBatch) {
      measurement.add(std::span(log.rows).subspan(done, std::min(kBatch, log.rows.size() - done)),
                      log.backends, log.routes);
    }
    benchmark::DoNotOptimize(measurement);
  }
  state.counters["per_row"] =
      benchmark::Counter(static_cast<double>(kRows),
                         benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
}

void BM_MeasurementMicrosecondSteps(benchmark::State& state) { add_rows(state, make_log(0, false)); }
BENCHMARK(BM_MeasurementMicrosecondSteps)->Unit(benchmark::kMillisecond)->MinTime(1);

void BM_MeasurementFiftyRoutes(benchmark::State& state) { add_rows(state, make_log(50, false)); }
BENCHMARK(BM_MeasurementFiftyRoutes)->Unit(benchmark::kMillisecond)->MinTime(1);

void BM_MeasurementNanosecondSteps(benchmark::State& state) { add_rows(state, make_log(50, true)); }
BENCHMARK(BM_MeasurementNanosecondSteps)->Unit(benchmark::kMillisecond)->MinTime(1);

void BM_TableOfAllBackends(benchmark::State& state) {
  const Log log = make_log(0, false);
  Measurement measurement;
  measurement.add(log.rows, log.backends, log.routes);
  for (auto _ : state) benchmark::DoNotOptimize(measurement.table());
}
BENCHMARK(BM_TableOfAllBackends)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace overdue
