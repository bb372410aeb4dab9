// The hot path of a call: started, connected, answered, with its verdict, retry budget and histogram. The
// floor is the least that anybody keeps of a call: an entry in a hash map from its start to its answer, and
// one count in a histogram.
#include <benchmark/benchmark.h>

#include <array>
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "overdue/base/random.h"
#include "overdue/call/operation.h"

namespace overdue {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t kLatencies = 4096;
constexpr std::size_t kAtOnce = 64;

std::vector<Duration> some_latencies() {
  Random random(1);
  std::vector<Duration> latencies(kLatencies);
  for (Duration& one : latencies)
    one = Duration(1'000'000 + static_cast<std::int64_t>(random.below(60'000'000)));
  return latencies;
}

CallPolicy some_policy() {
  return CallPolicy::create({.promise = 2s,
                             .connect_timeout = 50ms,
                             .request_timeout = 100ms,
                             .attempts_max = 3,
                             .retry_budget = RetryBudget::Options{}})
      .value();
}

// As many calls at once as an event loop may have, so that neither works in one warm cache line.
void call(benchmark::State& state) {
  const std::vector<Duration> latencies = some_latencies();
  Dependency dependency(some_policy(), Instant{});
  std::vector<Operation> operations(kAtOnce, Operation(dependency, CallKind::read, 0));
  Instant now{};
  std::uint64_t number = 0;
  std::uint64_t applied = 0;
  for (auto _ : state) {
    Operation& operation = operations[number % kAtOnce];
    std::construct_at(&operation, dependency, CallKind::read, number);
    benchmark::DoNotOptimize(operation.handle(now, CallStarted{}).size());
    benchmark::DoNotOptimize(operation.next_wakeup());
    benchmark::DoNotOptimize(operation.handle(now, AttemptConnected{AttemptNumber{1}}).size());
    benchmark::DoNotOptimize(operation.next_wakeup());
    now += latencies[number++ % kLatencies];
    const ActionList end =
        operation.handle(now, AttemptEnded{.attempt = AttemptNumber{1}, .ending = Ending::replied});
    applied += std::get<FinishCall>(end[0]).verdict == Verdict::applied ? 1U : 0U;
  }
  if (applied != number) state.SkipWithError("a call was not applied");
}
BENCHMARK(call);

// One attempt given up and one retried, for comparison: no bar.
void call_with_a_retry(benchmark::State& state) {
  Dependency dependency(some_policy(), Instant{});
  Instant now{};
  std::uint64_t number = 0;
  for (auto _ : state) {
    now += 2s;
    // Of these seeds none draws a wait of nothing, after which the retry begins at once.
    Operation operation(dependency, CallKind::read, number++ % 1'000'000);
    benchmark::DoNotOptimize(operation.handle(now, CallStarted{}).size());
    benchmark::DoNotOptimize(operation.handle(now, AttemptConnected{AttemptNumber{1}}).size());
    benchmark::DoNotOptimize(operation.handle(now + 100ms, WakeupReached{}).size());
    const Instant again = operation.next_wakeup().value();
    benchmark::DoNotOptimize(operation.handle(again, WakeupReached{}).size());
    benchmark::DoNotOptimize(operation.handle(again, AttemptConnected{AttemptNumber{2}}).size());
    benchmark::DoNotOptimize(
        operation.handle(again + 5ms, AttemptEnded{.attempt = AttemptNumber{2}, .ending = Ending::replied})
            .size());
  }
}
BENCHMARK(call_with_a_retry);

void map_and_histogram_floor(benchmark::State& state) {
  const std::vector<Duration> latencies = some_latencies();
  std::unordered_map<std::uint64_t, Instant> started;
  LatencyHistogram histogram;
  for (const Duration one : latencies) histogram.add(one);
  Instant now{};
  std::uint64_t number = 0;
  for (; number < kAtOnce; ++number) started.emplace(number, now);
  for (auto _ : state) {
    started.emplace(number, now);
    now += latencies[number % kLatencies];
    const auto found = started.find(number - kAtOnce);
    // The latency of this call, not of the 64 behind it: the same buckets as above.
    benchmark::DoNotOptimize(found->second);
    histogram.add(latencies[number++ % kLatencies]);
    started.erase(found);
  }
}
BENCHMARK(map_and_histogram_floor);

}  // namespace
}  // namespace overdue
