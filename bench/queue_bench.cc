// The engine beside the least that does the same: an M/M/1 queue (0.9/1.0) written out as one loop over the
// same event queue, as handlers and as coroutines. Two events a customer; "event" below is nanoseconds for
// each.

#include <benchmark/benchmark.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "overdue/latency/distribution.h"
#include "overdue/simulated/engine.h"
#include "overdue/simulated/event_queue.h"
#include "overdue/simulated/process.h"

namespace overdue {
namespace {

constexpr std::uint64_t kCustomers = 1'000'000;
constexpr double kMeanGapNs = 1e9 / 0.9;
constexpr double kMeanServiceNs = 1e9;

Duration draw(Random& random, double mean_ns) {
  return Duration(static_cast<std::int64_t>(mean_ns * standard_exponential(random)));
}

// Who waits, oldest first: when each came.
class Line {
 public:
  bool empty() const { return head_ == tail_; }
  void push(Instant at) {
    if (tail_ - head_ == at_.size()) widen();
    at_[tail_++ & (at_.size() - 1)] = at;
  }
  Instant pop() { return at_[head_++ & (at_.size() - 1)]; }

 private:
  void widen() {
    std::vector<Instant> wider(2 * at_.size());
    for (std::size_t i = head_; i < tail_; ++i) wider[i & (wider.size() - 1)] = at_[i & (at_.size() - 1)];
    at_.swap(wider);
  }
  std::vector<Instant> at_ = std::vector<Instant>(64);
  std::size_t head_ = 0;
  std::size_t tail_ = 0;
};

struct Waits {
  double sum = 0;
  void add(Duration wait) { sum += static_cast<double>(wait.count()); }
};

void report(benchmark::State& state, double events_per_round) {
  state.counters["event"] = benchmark::Counter(events_per_round * static_cast<double>(state.iterations()),
                                               benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
}

void HandWritten(benchmark::State& state) {
  for (auto _ : state) {
    EventQueue queue;
    Random arrivals(1, 1);
    Random services(1, 2);
    Line line;
    Waits waits;
    bool busy = false;
    std::uint64_t served = 0;
    queue.push(Instant{} + draw(arrivals, kMeanGapNs), 0);
    while (served < kCustomers) {
      const EventQueue::Event event = queue.pop();
      if (event.slot() == 0) {
        queue.push(event.at + draw(arrivals, kMeanGapNs), 0);
        if (busy) {
          line.push(event.at);
        } else {
          busy = true;
          waits.add(Duration::zero());
          queue.push(event.at + draw(services, kMeanServiceNs), 1);
        }
      } else {
        ++served;
        if (line.empty()) {
          busy = false;
        } else {
          waits.add(event.at - line.pop());
          queue.push(event.at + draw(services, kMeanServiceNs), 1);
        }
      }
    }
    benchmark::DoNotOptimize(waits.sum);
  }
  report(state, 2 * kCustomers);
}
BENCHMARK(HandWritten)->Unit(benchmark::kMillisecond);

struct Handlers {
  Engine engine;
  Random arrivals{1, 1};
  Random services{1, 2};
  Line line;
  Waits waits;
  bool busy = false;
  std::uint64_t served = 0;
  Engine::Slot arrival = engine.add([](void* self) { static_cast<Handlers*>(self)->arrive(); }, this);
  Engine::Slot service = engine.add([](void* self) { static_cast<Handlers*>(self)->finish(); }, this);

  void arrive() {
    engine.schedule(arrival, engine.now() + draw(arrivals, kMeanGapNs));
    if (busy) {
      line.push(engine.now());
    } else {
      busy = true;
      begin(Duration::zero());
    }
  }
  void finish() {
    ++served;
    if (line.empty()) {
      busy = false;
    } else {
      begin(engine.now() - line.pop());
    }
  }
  void begin(Duration waited) {
    waits.add(waited);
    engine.schedule(service, engine.now() + draw(services, kMeanServiceNs));
  }
};

constexpr Duration kUntil = std::chrono::nanoseconds(static_cast<std::int64_t>(kCustomers * kMeanGapNs));

void AsHandlers(benchmark::State& state) {
  double events = 0;
  for (auto _ : state) {
    Handlers world;
    world.engine.schedule(world.arrival, Instant{} + draw(world.arrivals, kMeanGapNs));
    world.engine.run_until(Instant{} + kUntil);
    benchmark::DoNotOptimize(world.waits.sum);
    events = static_cast<double>(world.engine.events());
  }
  report(state, events);
}
BENCHMARK(AsHandlers)->Unit(benchmark::kMillisecond);

struct Coroutines {
  Engine engine;
  Random arrivals{1, 1};
  Random services{1, 2};
  Line line;
  Waits waits;
  Signal came;

  Process arrive() {
    for (;;) {
      co_await hold(draw(arrivals, kMeanGapNs));
      line.push(engine.now());
      came.wake_one();
    }
  }
  Process serve() {
    for (;;) {
      while (line.empty()) co_await came.wait();
      waits.add(engine.now() - line.pop());
      co_await hold(draw(services, kMeanServiceNs));
    }
  }
};

void AsCoroutines(benchmark::State& state) {
  for (auto _ : state) {
    Coroutines world;
    const ProcessId source = start(world.engine, world.arrive());
    const ProcessId server = start(world.engine, world.serve());
    world.engine.run_until(Instant{} + kUntil);
    benchmark::DoNotOptimize(world.waits.sum);
    cancel(world.engine, source);
    cancel(world.engine, server);
  }
  report(state, 2 * kCustomers);  // Of the model; waking an idle server is one more.
}
BENCHMARK(AsCoroutines)->Unit(benchmark::kMillisecond);

Process hold_forever(Random& random) {
  for (;;) co_await hold(draw(random, 1e9));
}

void HeldProcesses(benchmark::State& state) {
  Engine engine;
  Random random(3);
  std::vector<ProcessId> ids;
  for (std::int64_t i = 0; i < state.range(0); ++i) ids.push_back(start(engine, hold_forever(random)));
  Instant until = Instant{} + std::chrono::seconds(1);
  engine.run_until(until);
  std::uint64_t before = engine.events();
  for (auto _ : state) {
    until += std::chrono::nanoseconds(1'000'000'000'000 / state.range(0));  // A thousand events.
    engine.run_until(until);
  }
  report(state, static_cast<double>(engine.events() - before) / static_cast<double>(state.iterations()));
  for (const ProcessId id : ids) cancel(engine, id);
}
BENCHMARK(HeldProcesses)->Arg(1'000)->Arg(100'000);

void PopAndPush(benchmark::State& state) {
  EventQueue queue;
  Random random(4);
  for (std::int64_t i = 0; i < state.range(0); ++i) {
    queue.push(Instant{} + draw(random, 1e9), static_cast<std::uint32_t>(i));
  }
  for (auto _ : state) {
    const EventQueue::Event event = queue.pop();
    queue.push(event.at + draw(random, 1e9), event.slot());
  }
  report(state, 1);
}
BENCHMARK(PopAndPush)->Arg(1'000)->Arg(100'000);

}  // namespace
}  // namespace overdue
