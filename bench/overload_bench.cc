// The overload loop (10 workers, 60 % load, a queue of 20,000, limit 400 ms, 4 attempts with full jitter, 5 s
// of fivefold slowness, 60 s) in the simulated world, beside one loop written for this model and nothing
// else, with the same draws: over a heap, as anybody would write it, and over the queue the world has, with a
// calendar and a lane for limits. "call" below is nanoseconds for each of the clients' calls.

#include <benchmark/benchmark.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "overdue/latency/distribution.h"
#include "overdue/latency/histogram.h"
#include "overdue/simulated/event_queue.h"
#include "overdue/simulated/run.h"
#include "overdue/simulated/timer_queue.h"

namespace overdue {
namespace {

using namespace std::chrono_literals;

constexpr double kCallsPerSecond = 0.6 * 10 / 0.0133;
constexpr double kMedianNs = 7'800'000;
constexpr double kSigma = 0.5;
constexpr double kSlowLowNs = 42e6;
constexpr double kSlowHighNs = 422e6;
constexpr Duration kLimit = 400ms;
constexpr Duration kRun = 60s;
constexpr std::uint32_t kQueueMax = 20'000;
constexpr std::uint32_t kWorkers = 10;
constexpr std::uint32_t kAttempts = 4;

struct Second {
  std::uint64_t offered, goodput, rejected, unknown, attempts, timeouts, retries, executions, queue;
};

// Everything in one place: calls by number, the queue a ring of calls, workers and calls as slots of events.
template <typename Queue>
class OneLoop {
 public:
  std::uint64_t run() {
    push(Instant{} + gap(), kArrival);
    typename Queue::Event event{};
    while (events_.pop_until(Instant{} + kRun, event)) {
      now_ = event.at;
      second_ = &seconds_[static_cast<std::size_t>(now_.time_since_epoch() / 1s)];
      const std::uint32_t slot = event.slot() & kIndexMax;
      switch (event.slot() & ~kIndexMax) {
        case kArrival:
          arrive();
          break;
        case kLimitPassed:
          if (calls_[slot].awaited == event.ticket) {
            ++second_->timeouts;
            try_again(slot, false);
          }
          break;
        case kRetry:
          ++second_->retries;
          attempt(slot);
          break;
        case kServed:
          served(slot);
          break;
        default:
          break;
      }
    }
    return made_;
  }
  std::array<Second, 61> seconds_{};
  LatencyHistogram latencies_;
  std::uint64_t duplicates_ = 0;
  Duration wasted_{};

 private:
  static constexpr std::uint32_t kArrival = 0U << 24, kLimitPassed = 1U << 24, kRetry = 2U << 24,
                                 kServed = 3U << 24;
  static constexpr std::uint32_t kIndexMax = (1U << 24) - 1;
  struct Call {
    Instant started;
    typename Queue::Ticket awaited;  // The limit of the attempt that is waited for.
    std::uint32_t attempts;
    std::uint32_t second;
    std::uint32_t executions;
    std::uint32_t references;
  };
  struct Waiting {
    std::uint32_t call;
    std::uint32_t attempt;
  };

  typename Queue::Ticket push(Instant at, std::uint32_t slot) { return events_.push(at, slot); }
  typename Queue::Ticket push_limit(Instant at, std::uint32_t slot) {
    if constexpr (requires { events_.push_limit(at, slot); }) {
      return events_.push_limit(at, slot);
    } else {
      return push(at, slot);
    }
  }
  Duration gap() {
    return Duration(static_cast<std::int64_t>(standard_exponential(arrivals_) * (1e9 / kCallsPerSecond)));
  }
  void arrive() {
    push(now_ + gap(), kArrival);
    std::uint32_t call = static_cast<std::uint32_t>(calls_.size());
    if (free_.empty()) {
      calls_.emplace_back();
    } else {
      call = free_.back();
      free_.pop_back();
    }
    calls_[call] = {now_, 0, 0, static_cast<std::uint32_t>(now_.time_since_epoch() / 1s), 0, 1};
    ++made_;
    ++second_->offered;
    attempt(call);
  }
  void attempt(std::uint32_t index) {
    Call& call = calls_[index];
    ++call.attempts;
    ++second_->attempts;
    call.awaited = push_limit(now_ + kLimit, kLimitPassed | index);
    if (busy_ < kWorkers) {
      ++busy_;
      ++call.references;
      begin({index, call.attempts}, idle_[kWorkers - busy_]);
    } else if (tail_ - head_ < kQueueMax) {
      ++call.references;
      queue_[tail_++ % kRing] = {index, call.attempts};
      second_->queue = std::max(second_->queue, tail_ - head_);
    } else {
      try_again(index, true);
    }
  }
  void begin(Waiting next, std::uint32_t worker) {
    const double u = services_.uniform();
    double ns =
        u < 0.02 ? kSlowLowNs + (kSlowHighNs - kSlowLowNs) * services_.uniform() : service_.draw(services_);
    if (now_ >= Instant{} + 10s && now_ < Instant{} + 15s) ns *= 5;
    work_[worker] = next;
    begun_[worker] = now_;
    push(now_ + Duration(static_cast<std::int64_t>(ns)), kServed | worker);
  }
  void served(std::uint32_t worker) {
    const Waiting done = work_[worker];
    Call& call = calls_[done.call];
    ++second_->executions;
    ++call.executions;
    if (call.awaited != 0 && call.attempts == done.attempt) {
      call.awaited = 0;
      ++seconds_[call.second].goodput;
      latencies_.add(now_ - call.started);
      --call.references;
    } else {
      wasted_ += now_ - begun_[worker];
    }
    release(done.call);
    if (head_ < tail_) {
      begin(queue_[head_++ % kRing], worker);
    } else {
      idle_[kWorkers - busy_--] = worker;
    }
  }
  void try_again(std::uint32_t index, bool rejected) {
    Call& call = calls_[index];
    call.awaited = 0;
    if (call.attempts == kAttempts) {
      ++(rejected ? second_->rejected : second_->unknown);
      return release(index);
    }
    const auto most = static_cast<std::uint64_t>(Duration(50ms).count()) << (call.attempts - 1);
    push(now_ + Duration(static_cast<std::int64_t>(jitter_.below(most + 1))), kRetry | index);
  }
  void release(std::uint32_t index) {
    Call& call = calls_[index];
    if (--call.references > 0) return;
    if (call.executions > 1) ++duplicates_;
    free_.push_back(index);
  }

  static constexpr std::uint64_t kRing = 32'768;
  Queue events_;
  Random arrivals_{1, 1}, services_{1, 2}, jitter_{1, 3};
  Lognormal service_ = Lognormal::with_median(kMedianNs, kSigma);
  std::vector<Call> calls_;
  std::vector<std::uint32_t> free_;
  std::vector<Waiting> queue_ = std::vector<Waiting>(kRing);
  std::uint64_t head_ = 0, tail_ = 0, made_ = 0;
  std::array<Waiting, kWorkers> work_{};
  std::array<Instant, kWorkers> begun_{};
  std::array<std::uint32_t, kWorkers> idle_{0, 1, 2, 3, 4, 5, 6, 7, 8, 9};
  std::uint32_t busy_ = 0;
  Instant now_{};
  Second* second_ = nullptr;
};

void report(benchmark::State& state, std::uint64_t calls, double goodput) {
  state.counters["call"] =
      benchmark::Counter(static_cast<double>(calls) * static_cast<double>(state.iterations()),
                         benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
  state.counters["goodput"] = goodput;
}

template <typename Queue>
void OverloadOneLoop(benchmark::State& state) {
  std::uint64_t calls = 0;
  double goodput = 0;
  for (auto _ : state) {
    OneLoop<Queue> loop;
    calls = loop.run();
    std::uint64_t good = 0;
    for (const Second& second : loop.seconds_) good += second.goodput;
    goodput = static_cast<double>(good) / static_cast<double>(calls);
    benchmark::DoNotOptimize(loop.latencies_.count());
  }
  report(state, calls, goodput);
}
BENCHMARK(OverloadOneLoop<EventQueue>)->Unit(benchmark::kMillisecond);
BENCHMARK(OverloadOneLoop<TimerQueue>)->Unit(benchmark::kMillisecond);

Scenario overload() {
  Scenario made;
  made.name = "overload";
  made.duration = made.until = kRun;
  made.clients = {Client{.name = "shop",
                         .calls = "orders",
                         .arrivals = OpenArrivals{.per_second = kCallsPerSecond},
                         .ledger_at = "orders"}};
  made.links = {Link{.name = "orders", .service = "orders", .network = "instant"}};
  made.networks = {Network{.name = "instant"}};
  Service service{.name = "orders", .replicas = {"orders"}, .workers = kWorkers, .queue_max = kQueueMax};
  const auto ns = [](double value) { return Duration(static_cast<std::int64_t>(value)); };
  service.service_time = {
      MixtureTime{{0.98, 0.02},
                  {{LognormalTime{ns(kMedianNs), kSigma}}, {UniformTime{ns(kSlowLowNs), ns(kSlowHighNs)}}}}};
  made.services = {service};
  made.faults = {Fault{.kind = FaultKind::slow, .service = "orders", .at = 10s, .lasts = 5s, .factor = 5}};
  DependencyPolicy policy{.name = "orders"};
  policy.timeout.request = kLimit;
  policy.timeout.watch = Probability(0.0);  // It closes its connections, as the one loop does.
  policy.retry.attempts = kAttempts;
  policy.retry.backoff = Backoff{50ms, 1s, Jitter::full};
  policy.retry.no_budget = true;
  made.policy.dependencies = {policy};
  return made;
}

void OverloadWorld(benchmark::State& state) {
  const Scenario scenario = overload();
  RunResult result;
  for (auto _ : state) result = run(scenario, {.seed = 1});
  report(state, result.calls.total, result.goodput);
  state.counters["event"] =
      benchmark::Counter(static_cast<double>(result.events) * static_cast<double>(state.iterations()),
                         benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
}
BENCHMARK(OverloadWorld)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace overdue
