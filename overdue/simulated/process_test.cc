#include "overdue/simulated/process.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace overdue {
namespace {

using namespace std::chrono_literals;

struct Log {
  Engine engine;
  std::vector<std::string> lines;
  void say(const std::string& what) {
    lines.push_back(std::to_string(engine.now().time_since_epoch() / 1ms) + " " + what);
  }
};

Process holds(Log& log, std::string name, Duration length, int times) {
  for (int i = 0; i < times; ++i) {
    co_await hold(length);
    log.say(name);
  }
}

TEST(Process, RunsInTheOrderOfTimeAndThenOfScheduling) {
  Log log;
  start(log.engine, holds(log, "a", 10ms, 3));
  start(log.engine, holds(log, "b", 15ms, 2));
  log.engine.run_until(Instant{} + 1s);
  EXPECT_EQ(log.lines, (std::vector<std::string>{"10 a", "15 b", "20 a", "30 b", "30 a"}));
  EXPECT_EQ(log.engine.now(), Instant{} + 1s);
}

Process waits(Log& log, Signal& signal, std::string name, Duration limit) {
  const bool signalled = co_await signal.wait(limit);
  log.say(name + (signalled ? " woken" : " gave up"));
}

Process wakes(Signal& signal, Duration after) {
  co_await hold(after);
  signal.wake_one();
}

TEST(Signal, WakesTheLongestWaitingAndLimitsEndTheWait) {
  Log log;
  Signal signal;
  start(log.engine, waits(log, signal, "a", 5ms));
  start(log.engine, waits(log, signal, "b", 50ms));
  start(log.engine, waits(log, signal, "c", 50ms));
  start(log.engine, wakes(signal, 20ms));
  log.engine.run_until(Instant{} + 1s);
  EXPECT_EQ(log.lines, (std::vector<std::string>{"5 a gave up", "20 b woken", "50 c gave up"}));
  EXPECT_FALSE(signal.awaited());
}

struct Told {
  Log* log;
  ~Told() { log->say("gone"); }
};

Process waits_for_ever(Log& log, Signal& signal) {
  const Told told{&log};
  co_await signal.wait();
  log.say("woken");
}

TEST(Process, EndsWhereItWaitsWhenCancelled) {
  Log log;
  Signal signal;
  const ProcessId waiting = start(log.engine, waits_for_ever(log, signal));
  const ProcessId holding = start(log.engine, holds(log, "held", 10ms, 5));
  log.engine.run_until(Instant{} + 25ms);
  cancel(log.engine, waiting);
  cancel(log.engine, holding);
  cancel(log.engine, holding);  // Has ended: nothing.
  EXPECT_FALSE(signal.wake_one());
  // The slots are used again, and what the first users had scheduled does not run the second ones.
  start(log.engine, holds(log, "next", 100ms, 1));
  log.engine.run_until(Instant{} + 1s);
  EXPECT_EQ(log.lines, (std::vector<std::string>{"10 held", "20 held", "25 gone", "125 next"}));
}

TEST(Process, OneThatIsNeverStartedLeavesNothingBehind) {
  Log log;
  {
    const Process never = holds(log, "never", 1ms, 1);
  }
  log.engine.run_until(Instant{} + 1s);
  EXPECT_TRUE(log.lines.empty());
}

Process once(int& ended) {
  co_await hold(1ms);
  ++ended;
}

TEST(Process, FramesAndSlotsAreUsedAgain) {
  Engine engine;
  int ended = 0;
  ProcessId last{};
  for (int i = 0; i < 1'000; ++i) {
    last = start(engine, once(ended));
    engine.run_until(engine.now() + 2ms);
  }
  EXPECT_EQ(ended, 1'000);
  EXPECT_EQ(last.slot, 0U);
  EXPECT_FALSE(alive(engine, last));
}

}  // namespace
}  // namespace overdue
