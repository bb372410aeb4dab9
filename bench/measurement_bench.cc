#include <benchmark/benchmark.h>

#include <cmath>
#include <numbers>
#include <string>
#include <vector>

#include "overdue/base/random.h"
#include "overdue/latency/measurement.h"

// What a measured row costs once it is read: a log of 16 backends in time order, 200 calls a second, and two
// lognormal delays and a service with a slow path, as the lesson has them. The bar is that of five million
// rows in steps of a microsecond: some 100,000 different latencies.

namespace overdue {
namespace {

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

struct Shape {
  std::size_t rows = 1'000'000;
  std::size_t routes = 0;
  std::int64_t step_ns = 1000;
};

Log make_log(const Shape& shape) {
  Log log;
  Random random(1);
  for (int backend = 1; backend <= 16; ++backend)
    log.backends.id_of("10.0.0." + std::to_string(backend) + ":8080");
  for (std::size_t route = 1; route <= shape.routes; ++route)
    log.routes.id_of("/route/" + std::to_string(route));
  WallTime now{std::chrono::seconds(1'790'000'000)};
  for (std::size_t row = 0; row < shape.rows; ++row) {
    now += Duration(static_cast<std::int64_t>(-std::log(1.0 - random.uniform()) * 5e6));
    const double network = std::exp(0.4 * standard_normal(random)) + std::exp(0.4 * standard_normal(random));
    const double service =
        random.uniform() < 0.02 ? 40 + 360 * random.uniform() : std::exp(2 + 0.5 * standard_normal(random));
    Attempt attempt;
    attempt.start = now;
    attempt.has_start = true;
    attempt.begins_call = true;
    const auto elapsed_ns = static_cast<std::int64_t>((network + service) * 1e6);
    attempt.elapsed = Duration(elapsed_ns - elapsed_ns % shape.step_ns);
    attempt.backend = static_cast<std::uint16_t>(1 + random.below(16));
    if (shape.routes > 0) attempt.route = static_cast<std::uint16_t>(1 + random.below(shape.routes));
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
      benchmark::Counter(static_cast<double>(log.rows.size()),
                         benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
}

void BM_MeasurementMicrosecondSteps(benchmark::State& state) { add_rows(state, make_log({})); }
BENCHMARK(BM_MeasurementMicrosecondSteps)->Unit(benchmark::kMillisecond)->MinTime(1);

void BM_MeasurementFiveMillionRows(benchmark::State& state) {
  add_rows(state, make_log({.rows = 5'000'000, .step_ns = 1000}));
}
BENCHMARK(BM_MeasurementFiveMillionRows)->Unit(benchmark::kMillisecond)->MinTime(1);

void BM_MeasurementFiftyRoutes(benchmark::State& state) { add_rows(state, make_log({.routes = 50})); }
BENCHMARK(BM_MeasurementFiftyRoutes)->Unit(benchmark::kMillisecond)->MinTime(1);

void BM_MeasurementNanosecondSteps(benchmark::State& state) {
  add_rows(state, make_log({.routes = 50, .step_ns = 1}));
}
BENCHMARK(BM_MeasurementNanosecondSteps)->Unit(benchmark::kMillisecond)->MinTime(1);

void BM_TableOfAllBackends(benchmark::State& state) {
  const Log log = make_log({});
  Measurement measurement;
  measurement.add(log.rows, log.backends, log.routes);
  for (auto _ : state) benchmark::DoNotOptimize(measurement.table());
}
BENCHMARK(BM_TableOfAllBackends)->Unit(benchmark::kMillisecond);

// What one thread's part costs another at the end.
void BM_MergeOfFiveMillionRows(benchmark::State& state) {
  const Log log = make_log({.rows = 5'000'000, .step_ns = 1000});
  Measurement part;
  part.add(std::span(log.rows).first(log.rows.size() / 2), log.backends, log.routes);
  for (auto _ : state) {
    state.PauseTiming();
    Measurement whole;
    whole.add(std::span(log.rows).subspan(log.rows.size() / 2), log.backends, log.routes);
    state.ResumeTiming();
    whole.merge(part);
  }
}
BENCHMARK(BM_MergeOfFiveMillionRows)->Unit(benchmark::kMillisecond)->Iterations(3);

}  // namespace
}  // namespace overdue
