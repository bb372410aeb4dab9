// What holds of every run: it repeats, it loses no call, and it agrees with theory.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <set>
#include <thread>

#include "overdue/simulated/small_world.h"

namespace overdue {
namespace {

using namespace std::chrono_literals;

// Everything at once: two clients, three services, bad networks, pools, pauses, locks, faults of every kind.
Scenario busy() {
  SmallWorld world;
  Scenario& made = world.scenario;
  made.duration = 20s;
  made.until = 40s;
  world.client().arrivals = OpenArrivals{.per_second = 200, .changes = {{5s, 1s, 600}, {8s, 0s, 200}}};
  world.client().instances = 2;
  made.clients.push_back({.name = "users",
                          .calls = "orders",
                          .kind = CallKind::read,
                          .arrivals = ClosedArrivals{.users = 20, .think = {ExponentialTime{200ms}}},
                          .ledger_at = "stock"});
  world.add_service("stock", 3ms);
  world.add_service("prices", 2ms);
  world.service(0).calls = {{"stock", "prices"}, {"prices"}};
  world.service(0).replicas = {"a", "b", "c"};
  world.service(0).workers = 8;
  world.service(0).queue_max = 40;
  world.service(0).cancel_checks = 2ms;
  world.service(0).passes_deadline_on = true;
  world.service(0).refuses_expired = true;
  world.service(0).remembers_keys = true;
  world.service(0).service_time = {
      MixtureTime{{0.98, 0.02}, {{LognormalTime{7ms, 0.5}}, {UniformTime{40ms, 400ms}}}}};
  world.service(0).commit_to_reply = TimeDistribution{ExponentialTime{1ms}};
  world.service(1).pauses = Pauses{.every = 2s, .lasts = always(80ms), .whole_service = true};
  world.service(1).service_time = {ParetoTime{2ms, 1.5, 1s}};
  world.service(2).lock = SharedLock{.share = Probability(0.1), .hold = {ExponentialTime{4ms}}};
  world.service(2).workers = 4;
  world.service(2).queue_order = QueueOrder::lifo;
  world.service(2).probe = ServiceProbe{.kind = ProbeKind::deep, .every = 1s, .timeout = 50ms};
  world.link(0).cancellation = true;
  world.link(0).balance = Balance::least_loaded_of_two;
  world.link(0).pool = Pool{.connections_max = 20, .waiting_max = 30, .idle_max = 500ms};
  world.link(1).balance = Balance::random;
  Network& net = world.network();
  net.request = {.delay = {LognormalTime{1ms, 0.4}},
                 .loss = Probability(0.002),
                 .duplication = Probability(0.01),
                 .burst_every = 3s,
                 .burst_lasts = 50ms,
                 .burst_loss = Probability(0.5)};
  net.reply = {
      .delay = {LognormalTime{1ms, 0.4}}, .loss = Probability(0.002), .duplication = Probability(0.01)};
  net.connect = Connect{.refused = Probability(0.01), .swallowed = Probability(0.01)};
  for (std::size_t i = 0; i < 3; ++i) {
    DependencyPolicy& policy = world.policy(i);
    policy.promise = 800ms;
    policy.timeout.request = 120ms;
    policy.timeout.connect = 30ms;
    policy.retry.attempts = 3;
  }
  const auto fault = [](FaultKind kind, const char* service, Duration at) {
    return Fault{.kind = kind, .service = service, .at = at, .lasts = 1s, .factor = 3};
  };
  made.faults = {fault(FaultKind::slow, "orders", 2s), fault(FaultKind::pause, "stock", 3s),
                 fault(FaultKind::crash, "orders", 4s), fault(FaultKind::dead, "stock", 6s),
                 fault(FaultKind::half_broken, "prices", 7s)};
  made.faults[2].replica = "b";
  made.faults.push_back(
      {.kind = FaultKind::partition, .link = "stock", .way = Way::reply, .at = 9s, .lasts = 1s});
  made.faults.push_back(
      {.kind = FaultKind::loss, .link = "prices", .at = 10s, .lasts = 2s, .probability = Probability(0.3)});
  for (const CrashPoint point :
       {CrashPoint::before_effect, CrashPoint::after_effect, CrashPoint::after_reply}) {
    Fault crash = fault(FaultKind::crash, "orders", 12s);
    crash.probability = Probability(0.01);
    crash.crash_point = point;
    crash.restart_after = 100ms;
    made.faults.push_back(crash);
  }
  return made;
}

TEST(World, RepeatsItselfAndDiffersBySeed) {
  const Scenario scenario = busy();
  std::set<std::uint64_t> hashes;
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    const RunResult first = run(scenario, {.seed = seed});
    const RunResult second = run(scenario, {.seed = seed});
    EXPECT_EQ(first.hash, second.hash);
    EXPECT_EQ(first.events, second.events);
    EXPECT_EQ(first.calls.answered, second.calls.answered);
    EXPECT_EQ(first.latency_mean, second.latency_mean);
    hashes.insert(first.hash);
  }
  EXPECT_EQ(hashes.size(), 5U);
}

TEST(World, IsTheSameBesideOtherRunsAndUnderATrace) {
  const Scenario scenario = busy();
  const std::uint64_t alone = run(scenario, {.seed = 3}).hash;
  std::uint64_t lines = 0;
  EXPECT_EQ(run(scenario, {.seed = 3, .trace = [&](std::string_view) { ++lines; }}).hash, alone);
  EXPECT_GT(lines, 50'000U);
  std::vector<std::uint64_t> hashes(2);
  {
    std::vector<std::jthread> threads;
    for (std::uint64_t& hash : hashes) threads.emplace_back([&] { hash = run(scenario, {.seed = 3}).hash; });
  }
  EXPECT_THAT(hashes, testing::Each(alone));
}

TEST(World, EveryCallAttemptAndIntentIsCountedOnce) {
  for (std::uint64_t seed = 1; seed <= 4; ++seed) {
    for (const Duration until : {40s, 7s}) {
      const RunResult result = run(busy(), {.seed = seed, .until = until});
      const CallCounts& calls = result.calls;
      EXPECT_EQ(calls.total, calls.answered + calls.rejected + calls.not_sent + calls.unknown + calls.open);
      EXPECT_EQ(calls.open == 0, until == 40s);
      const LedgerCounts& ledger = result.ledger;
      EXPECT_EQ(ledger.intents, calls.total);
      EXPECT_EQ(ledger.intents, ledger.applied_once + ledger.duplicates + ledger.lost);
      EXPECT_EQ(calls.unknown, ledger.timed_out_applied + ledger.timed_out_not_applied);
      TimelineRow sum;
      for (const TimelineRow& row : result.timeline) {
        sum.offered += row.offered;
        sum.goodput += row.goodput;
        sum.rejected += row.rejected;
        sum.unknown += row.unknown;
        sum.attempts += row.attempts;
        sum.retries += row.retries;
        sum.executions += row.executions;
      }
      EXPECT_EQ(sum.offered, calls.total);
      EXPECT_EQ(sum.goodput, calls.answered);
      EXPECT_EQ(sum.rejected, calls.rejected + calls.not_sent);
      EXPECT_EQ(sum.unknown, calls.unknown);
      std::uint64_t attempts = 0;
      std::uint64_t retries = 0;
      for (const LinkResult& link : result.links) {
        attempts += link.attempts;
        retries += link.retries;
        const std::uint64_t ended =
            std::accumulate(link.endings.begin(), link.endings.end(), std::uint64_t{0});
        EXPECT_LE(ended, link.attempts);
        EXPECT_EQ(ended == link.attempts, until == 40s) << link.name;
      }
      EXPECT_EQ(sum.attempts, attempts);
      EXPECT_EQ(sum.retries, retries);
      std::uint64_t executions = 0;
      for (const ServiceResult& service : result.services) executions += service.executions;
      EXPECT_EQ(sum.executions, executions);
    }
  }
}

TEST(World, OneMoreClientChangesNothingOfWhatTheOthersDraw) {
  SmallWorld world;
  world.client().arrivals = OpenArrivals{.per_second = 100};
  const RunResult before = world.run();
  Client second = world.client();
  second.name = "second";
  world.scenario.clients.insert(world.scenario.clients.begin(), second);
  const RunResult after = world.run();
  EXPECT_EQ(after.clients[1].calls.total, before.clients[0].calls.total);
  EXPECT_NE(after.clients[0].calls.total, before.clients[0].calls.total);
}

TEST(World, StopsWhenAskedTo) {
  const std::atomic<bool> stop = true;
  const RunResult result = run(busy(), {.seed = 1, .stop = &stop});
  EXPECT_TRUE(result.interrupted);
  EXPECT_EQ(result.events, 4096U);
}

struct Theory {
  const char* name;
  int seconds;
  double per_second;
  std::uint32_t workers;
  TimeDistribution service;  // Of mean 1 s.
  double mean_wait;
  double wait_probability;  // 0: not given.
  double wait_p99;          // 0: not given.
};

class WorldTheory : public testing::TestWithParam<Theory> {};

double standard_error(const std::vector<double>& values, double mean) {
  double variance = 0;
  for (const double value : values) variance += (value - mean) * (value - mean);
  const auto n = static_cast<double>(values.size());
  return std::sqrt(variance / (n - 1) / n);
}

void expect_mean(const std::vector<double>& values, double expected, const char* what) {
  const double mean = std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
  EXPECT_NEAR(mean, expected, 3 * standard_error(values, mean)) << what;
}

// Closed forms are in units of the service time: here 10 ms, so that a run of 100 s is 10,000 of them.
TEST_P(WorldTheory, AgreesWithTheClosedFormOverTwentyFourSeeds) {
  const Theory& theory = GetParam();
  SmallWorld world;
  world.network() = Network{.name = "lan"};
  world.client().arrivals = OpenArrivals{.per_second = theory.per_second * 100};
  world.policy().timeout.request = 1h;
  world.service().workers = theory.workers;
  world.service().service_time = theory.service;
  world.scenario.duration = world.scenario.until = std::chrono::seconds(theory.seconds);
  std::vector<double> waits;
  std::vector<double> waiting;
  std::vector<double> p99;
  for (std::uint64_t seed = 1; seed <= 24; ++seed) {
    const RunResult result = world.run(seed);
    const ServiceResult& service = result.services[0];
    waits.push_back(static_cast<double>(service.wait_mean->count()) / 1e7);
    waiting.push_back(service.wait_probability);
    p99.push_back(static_cast<double>(service.wait_p99->count()) / 1e7);
  }
  expect_mean(waits, theory.mean_wait, "mean wait");
  if (theory.wait_probability > 0) expect_mean(waiting, theory.wait_probability, "share that waits");
  // The histogram's buckets are within 0.8 % of what they hold.
  if (theory.wait_p99 > 0) {
    const double mean = std::accumulate(p99.begin(), p99.end(), 0.0) / 24;
    EXPECT_NEAR(mean, theory.wait_p99, 3 * standard_error(p99, mean) + 0.008 * theory.wait_p99);
  }
}

const TimeDistribution kExponential = {ExponentialTime{10ms}};

INSTANTIATE_TEST_SUITE_P(
    ClosedForms, WorldTheory,
    testing::Values(
        Theory{"mm1_half", 50, 0.5, 1, kExponential, 1.0, 0.5, 7.824046010856292},
        Theory{"mm1_busy", 100, 0.9, 1, kExponential, 9.0, 0.9, 0},
        Theory{"mm10", 10, 8, 10, kExponential, 0.20459007539822174, 0.4091801507964435, 1.8557852162834185},
        Theory{"mm2", 20, 1.6, 2, kExponential, 1.7777777777777783, 0.7111111111111111, 10.660608997543749},
        Theory{"md1", 40, 0.8, 1, always(10ms), 2.0, 0, 0},
        // Two exponentials of balanced means: p = (1 + sqrt(3/5))/2, means 1/(2p) and 1/(2(1-p)).
        Theory{
            "mg1",
            60,
            0.7,
            1,
            {MixtureTime{{0.8872983346207417, 0.1127016653792583},
                         {{ExponentialTime{Duration(5'635'083)}}, {ExponentialTime{Duration(44'364'917)}}}}},
            5.833333333333332,
            0,
            0}),
    [](const auto& given) { return given.param.name; });

TEST(World, ARunThatComesToTooMuchAtOnceEndsAndSaysSo) {
  SmallWorld world(every(10us, 20'000));
  world.service().service_time = always(50s);
  EXPECT_FALSE(run(world.scenario, {.seed = 1}).too_many);
  const RunResult result = run(world.scenario, {.seed = 1, .in_use_max = 5'000});
  EXPECT_TRUE(result.too_many);
  EXPECT_FALSE(result.interrupted);
  EXPECT_LT(result.calls.total, 15'000U);
}

TEST(World, ALongRunsTimelineHasRowsOfSeveralSecondsAndLosesNothing) {
  // A call every 10 s for two days.
  SmallWorld world(every(10s, 17'280));
  world.scenario.duration = world.scenario.until = 200'000s;
  const RunResult result = world.run();
  EXPECT_EQ(result.timeline_row_seconds, 16U);
  EXPECT_LE(result.timeline.size(), kTimelineMax);
  TimelineRow sum;
  for (std::size_t i = 0; i < result.timeline.size(); ++i) {
    EXPECT_EQ(result.timeline[i].second, 16 * i);
    sum.join(result.timeline[i]);
  }
  EXPECT_EQ(sum.offered, 17'280U);
  EXPECT_EQ(sum.goodput, 17'280U);
  EXPECT_EQ(sum.executions, 17'280U);
  EXPECT_EQ(result.timeline[0].offered, 2U);  // At 0 and 10 s.
  EXPECT_EQ(result.timeline[5].offered, 2U);  // From 80 to 96 s: at 80 and 90.
  EXPECT_EQ(result.timeline[5].goodput, 2U);
}

TEST(World, ARunOfAsManySecondsAsThereAreRowsHasOneForEach) {
  SmallWorld world({0s, std::chrono::seconds(kTimelineMax) - 1s});
  world.scenario.duration = world.scenario.until = std::chrono::seconds(2 * kTimelineMax);
  const RunResult exact = world.run();
  EXPECT_EQ(exact.timeline_row_seconds, 1U);
  ASSERT_EQ(exact.timeline.size(), kTimelineMax);
  EXPECT_EQ(exact.timeline.back().offered, 1U);
  world.client().arrivals = RecordedArrivals{.at = {0s, std::chrono::seconds(kTimelineMax)}};
  const RunResult longer = world.run();
  EXPECT_EQ(longer.timeline_row_seconds, 2U);
  ASSERT_EQ(longer.timeline.size(), kTimelineMax / 2 + 1);
  EXPECT_EQ(longer.timeline.front().goodput, 1U);
  EXPECT_EQ(longer.timeline.back().second, kTimelineMax);
  EXPECT_EQ(longer.timeline.back().goodput, 1U);
}

// Callers without a pause that are refused at once: without an end, and not one nanosecond passes.
TEST(World, EndsWhereTimeStandsStill) {
  SmallWorld world;
  world.client().arrivals = ClosedArrivals{.users = 2, .think = always(0ms)};
  world.link().pool = Pool{.connections_max = 1, .waiting_max = 0};
  const RunOptions options{.seed = 1, .events_at_one_moment_max = 100'000};
  EXPECT_TRUE(run(world.scenario, options).stands_still);
  world.client().arrivals = ClosedArrivals{.users = 2, .think = always(1ms)};
  const RunResult passing = run(world.scenario, options);
  EXPECT_FALSE(passing.stands_still);
  EXPECT_GT(passing.events, 100'000U);
}

}  // namespace
}  // namespace overdue
