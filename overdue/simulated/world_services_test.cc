// What servers do: queues, workers, calls of their own, keys, deadlines, cancellations, locks and pauses.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "overdue/simulated/small_world.h"

namespace overdue {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;

// Three calls at once for one worker.
SmallWorld crowded(int calls) {
  SmallWorld world(every(0ms, calls));
  world.network() = Network{.name = "lan"};
  world.service().workers = 1;
  return world;
}

TEST(WorldServices, AQueueIsServedInItsOrder) {
  SmallWorld world = crowded(3);
  world.policy().timeout.request = 25ms;
  RunResult result = world.run();
  EXPECT_EQ(result.calls.answered, 2U);
  EXPECT_EQ(result.latency[0].answered.value() / 1ms, 10);
  EXPECT_EQ(result.services[0].queue_max, 2U);
  EXPECT_EQ(result.services[0].wait_mean, 10ms);
  EXPECT_EQ(result.services[0].response_mean, 20ms);
  EXPECT_DOUBLE_EQ(result.wasted_work, 1.0 / 3);
  std::vector<std::string> lines;
  world.service().queue_order = QueueOrder::lifo;
  run(world.scenario, {.seed = 1, .trace = [&](std::string_view line) {
                         if (line.ends_with("executed")) lines.emplace_back(line.substr(12, 8));
                       }});
  EXPECT_THAT(lines, ElementsAre("intent 1", "intent 3", "intent 2"));
}

TEST(WorldServices, AFullQueueTurnsAwayOrDropsInSilence) {
  SmallWorld world = crowded(5);
  world.client().kind = CallKind::read;
  world.service().queue_max = 1;
  RunResult result = world.run();
  EXPECT_EQ(result.calls.answered, 2U);
  EXPECT_EQ(result.calls.rejected, 3U);
  EXPECT_EQ(result.services[0].refused_full, 3U);
  EXPECT_EQ(result.services[0].queue_max, 1U);
  world.service().when_full = WhenFull::drop;
  result = world.run();
  EXPECT_EQ(result.calls.unknown, 3U);
  EXPECT_EQ(result.ledger.lost, 3U);
}

// Of a write, only a contract makes a rejection a proof.
TEST(WorldServices, ARejectionProvesNothingHappenedWhereTheContractSaysSo) {
  SmallWorld world = crowded(5);
  world.service().queue_max = 1;
  world.policy().timeout.watch = Probability(0.0);
  EXPECT_EQ(world.run().calls.unknown, 3U);
  world.policy().errors.nothing_happened = {"503"};
  const RunResult result = world.run();
  EXPECT_EQ(result.calls.rejected, 3U);
  EXPECT_EQ(result.ledger.failed_applied, 0U);
}

TEST(WorldServices, CallsOfOneGroupRunTogetherAndGroupsOneAfterTheOther) {
  SmallWorld world;
  world.network() = Network{.name = "lan"};
  world.add_service("a", 30ms);
  world.add_service("b", 50ms);
  world.add_service("c", 20ms);
  world.service().calls = {{"a", "b"}, {"c"}};
  RunResult result = world.run();
  EXPECT_EQ(result.latency_mean, 10ms + 50ms + 20ms);
  EXPECT_EQ(result.calls.answered, 1U);
  world.service().calls = {{"a"}, {"b"}, {"c"}};
  EXPECT_EQ(world.run().latency_mean, 110ms);
  world.client().ledger_at = "c";
  world.policy().timeout.request = 100ms;
  world.policy().timeout.watch = Probability(0.0);
  result = world.run();
  EXPECT_EQ(result.calls.unknown, 1U);
  EXPECT_EQ(result.ledger.timed_out_applied, 1U);
}

TEST(WorldServices, WorkFailsWithItsCallsUnlessTheyAreIgnored) {
  SmallWorld world;
  world.client().kind = CallKind::read;
  world.add_service("a", 30ms);
  world.service().calls = {{"a"}};
  world.policy(1).timeout.request = 20ms;
  RunResult result = world.run();
  EXPECT_EQ(result.calls.rejected, 1U);
  EXPECT_EQ(result.services[0].failed, 1U);
  EXPECT_EQ(result.services[0].executions, 0U);
  EXPECT_EQ(result.services[1].executions, 1U);
  world.service().ignores_failed_calls = true;
  EXPECT_EQ(world.run().calls.answered, 1U);
}

// Field case C40 (c): layers of 3, 4 and 3 attempts multiply to 36 calls of the backend.
TEST(WorldServices, RetriesOfLayersMultiply) {
  SmallWorld world;
  world.client().kind = CallKind::read;
  world.add_service("middle", 1ms);
  world.add_service("backend", 1ms);
  world.service(0).calls = {{"middle"}};
  world.service(1).calls = {{"backend"}};
  world.scenario.faults = {Fault{.kind = FaultKind::half_broken, .service = "backend", .factor = 1}};
  world.retry(3, 0ms, 0);
  world.retry(4, 0ms, 1);
  world.retry(3, 0ms, 2);
  EXPECT_EQ(world.run().links[2].attempts, 36U);
}

// Field case C36: 25 calls in a row, each cut at its own p99, fail together in 22.2 % of cases.
TEST(WorldServices, ATailThatIsSmallForOneCallIsLargeForTwentyFive) {
  SmallWorld world(every(20ms, 4'900));
  world.network() = Network{.name = "lan"};
  world.client().kind = CallKind::read;
  world.policy().timeout.request = 60s;
  world.add_service("step", 0ms).service_time = {ExponentialTime{100ms}};
  world.policy(1).timeout.request = Duration(460'517'019);
  world.service(0).calls.assign(25, {"step"});
  const RunResult result = world.run();
  EXPECT_EQ(result.calls.total, 4'900U);
  const double failed = static_cast<double>(result.calls.rejected) / 4'900;
  EXPECT_NEAR(failed, 0.222, 0.0179);  // Three standard errors.
}

TEST(WorldServices, WorkWhoseDeadlineHasPassedIsNotStartedAndNotCommitted) {
  SmallWorld world = crowded(3);
  world.service().refuses_expired = true;
  world.policy().timeout.request = 15ms;
  RunResult result = world.run();
  // The first is done; the second starts at 10 ms and would commit at 20 ms; the third would start there.
  EXPECT_EQ(result.services[0].executions, 1U);
  EXPECT_EQ(result.services[0].refused_expired, 2U);
  EXPECT_EQ(result.services[0].started, 2U);
  EXPECT_EQ(result.ledger.timed_out_applied, 0U);
}

// Field case C34 (c): one worker, two jobs of 40 s arrive together, the second with a limit of 50 s.
TEST(WorldServices, WorkThatCannotBeDoneInTimeIsShedOnArrival) {
  SmallWorld world({0ms, 0ms});
  world.network() = Network{.name = "lan"};
  world.service().workers = 1;
  world.service().service_time = always(40s);
  world.service().sheds_late = 40s;
  world.policy().timeout.request = 50s;
  EXPECT_THAT(world.times_of("rejected"), ElementsAre("0.000000000"));
  const RunResult result = world.run();
  EXPECT_EQ(result.services[0].refused_late, 1U);
  EXPECT_EQ(result.services[0].executions, 1U);
  EXPECT_EQ(result.ledger.timed_out_applied, 0U);
}

TEST(WorldServices, WhatHasBeenDoneOfTheWorkAheadIsNotWaitedFor) {
  SmallWorld world({0ms, 30s, 30s});
  world.network() = Network{.name = "lan"};
  world.service().workers = 1;
  world.service().service_time = always(40s);
  world.service().sheds_late = 40s;
  world.policy().timeout.request = 50s + 1ns;  // The second ends at 80 s, its limit is at 80 s and 1 ns.
  RunResult result = world.run();
  EXPECT_EQ(result.services[0].refused_late, 1U) << "the third, behind the second";
  EXPECT_EQ(result.calls.answered, 2U);
  world.policy().timeout.request = 50s;
  result = world.run();
  EXPECT_EQ(result.services[0].refused_late, 2U) << "at its very limit it is too late";
}

// Field case C33, the server's part: it asks to wait, and there is no time for that.
TEST(WorldServices, ARefusalThatAsksToWaitIsWaitedForOrEndsTheCall) {
  SmallWorld world({0ms, 0ms, 0ms});
  world.network() = Network{.name = "lan"};
  world.service().workers = 1;
  world.service().service_time = always(1s);
  world.service().queue_max = 1;
  world.service().retry_after = 3s;
  world.policy().timeout.request = 8s;
  world.policy().promise = 8s;
  world.retry(3, 10ms);
  EXPECT_THAT(world.times_of("arrived"),
              ElementsAre("0.000000000", "0.000000000", "0.000000000", "3.000000000"));
  EXPECT_EQ(world.run().calls.answered, 3U);
  world.service().retry_after = 30s;
  EXPECT_THAT(world.times_of("arrived"), ElementsAre("0.000000000", "0.000000000", "0.000000000"));
  EXPECT_EQ(world.run().calls.unknown, 1U) << "a 503 proves nothing of a write";
}

// The wait for a connection is over when the request is sent, and is not taken off a second time as a part of
// the way.
TEST(WorldServices, ACallThatWaitedForAConnectionIsNotRefusedWhileItIsInTime) {
  SmallWorld world(every(0ms, 10));
  world.link().pool = Pool{.connections_max = 1};
  world.service().refuses_expired = true;
  world.policy().timeout.request = 121ms;  // The last is sent at 108 ms and answered at 120 ms.
  const RunResult result = world.run();
  EXPECT_EQ(result.services[0].refused_expired, 0U);
  EXPECT_EQ(result.calls.answered, 10U);
}

TEST(WorldServices, ACallThatHadToConnectIsNotRefusedWhileItIsInTime) {
  SmallWorld world(every(100ms, 20));
  world.network().connect = Connect{};
  world.service().refuses_expired = true;
  world.policy().timeout.request = 15ms;  // Connected at 2 ms, answered at 14 ms.
  const RunResult result = world.run();
  EXPECT_EQ(result.services[0].refused_expired, 0U);
  EXPECT_EQ(result.calls.answered, 20U);
}

TEST(WorldServices, WhatIsLeftOfADeadlineIsPassedOn) {
  SmallWorld world;
  world.network() = Network{.name = "lan"};
  world.add_service("a", 100ms);
  world.service().calls = {{"a"}};
  world.policy(0).timeout.request = 50ms;
  world.policy(0).timeout.watch = Probability(0.0);
  world.policy(1).timeout.watch = Probability(0.0);
  EXPECT_THAT(world.times_of("timed out"), ElementsAre("0.050000000"));
  world.service().passes_deadline_on = true;
  // The work begins its call at 10 ms, and it ends no later than the caller's.
  EXPECT_THAT(world.times_of("timed out"), ElementsAre("0.050000000", "0.050000000"));
}

TEST(WorldServices, OnlyAServerThatChecksStopsForACancellation) {
  SmallWorld world;
  world.service().service_time = always(100ms);
  world.policy().timeout.request = 20ms;
  world.link().cancellation = true;
  EXPECT_EQ(world.run().services[0].executions, 1U);
  world.service().cancel_checks = 8ms;
  const RunResult result = world.run();
  EXPECT_EQ(result.services[0].executions, 0U);
  EXPECT_EQ(result.services[0].stopped, 1U);
  // Begun at 1 ms, cancelled at 21 ms, seen at 1 + 3 * 8.
  EXPECT_THAT(world.times_of("stopped its work"), ElementsAre("0.025000000"));
  world.link().cancellation = false;
  EXPECT_EQ(world.run().services[0].executions, 1U);
}

TEST(WorldServices, WorkThatWaitsInLineIsNotStartedOnceCancelled) {
  SmallWorld world = crowded(2);
  world.link().cancellation = true;
  world.service().cancel_checks = 1s;
  world.policy().timeout.request = 9ms;
  const RunResult result = world.run();
  EXPECT_EQ(result.services[0].started, 1U);
  EXPECT_EQ(result.services[0].stopped, 1U);
}

TEST(WorldServices, ALockLetsOneThroughAtATime) {
  SmallWorld world(every(0ms, 4));
  world.network() = Network{.name = "lan"};
  world.service().replicas = {"a", "b"};
  world.service().lock = SharedLock{.share = Probability(1.0), .hold = always(5ms)};
  EXPECT_THAT(world.times_of("executed"),
              ElementsAre("0.015000000", "0.020000000", "0.025000000", "0.030000000"));
}

TEST(WorldServices, AReplyMayLeaveLaterThanItsEffect) {
  SmallWorld world;
  world.service().commit_to_reply = always(7ms);
  EXPECT_THAT(world.times_of("executed"), ElementsAre("0.011000000"));
  EXPECT_EQ(world.run().latency_mean, 19ms);
}

// A fifth of the time stands still, in spells of 100 ms.
TEST(WorldServices, PausesStopWorkersAndWorkGoesOnAfterwards) {
  SmallWorld world(every(1ms, 20'000));
  world.service().pauses = Pauses{.every = 400ms, .lasts = always(100ms)};
  const RunResult result = world.run();
  EXPECT_EQ(result.calls.answered, 20'000U);
  const auto late = static_cast<double>(std::ranges::count_if(
      result.latency, [](const LatencyQuantile& at) { return at.answered.value() > 50ms; }));
  EXPECT_GE(late, 2);                                        // p95 and beyond stood in a spell.
  EXPECT_GE(result.latency.back().answered.value(), 100ms);  // Nobody waits longer than it lasts, and
  EXPECT_LE(result.latency.back().answered.value(), 230ms);  // two may come close together.
  EXPECT_NEAR(static_cast<double>(result.latency_mean.value() / 1us) / 1'000, 12 + 0.2 * 50 + 0.2 * 10, 8);
}

TEST(WorldServices, SlowSpellsGiveWorkThatBeginsInThemAnotherTime) {
  SmallWorld world(every(1ms, 50'000));
  world.service().pauses =
      Pauses{.every = 900ms, .lasts = {ExponentialTime{100ms}}, .service_time = always(80ms)};
  world.policy().timeout.request = 50ms;
  world.policy().timeout.watch = Probability(0.0);
  const RunResult result = world.run();
  EXPECT_NEAR(result.replicas[0].timeout_rate.value(), 0.1, 0.05);
}

TEST(WorldServices, OfUnlimitedWorkersThereIsNoShareThatIsBusy) {
  SmallWorld world(every(100ms, 50));
  EXPECT_FALSE(world.run().services[0].utilisation);
  EXPECT_FALSE(world.run().replicas[0].utilisation);
  world.service().workers = 1'000'000'000;
  const RunResult many = world.run();
  EXPECT_GT(many.services[0].utilisation.value(), 0);
  EXPECT_LT(many.services[0].utilisation.value(), 1e-9);
}

TEST(WorldServices, WorkUnderWayForCenturiesInAllIsStillAShare) {
  SmallWorld world(every(1us, 60'000));
  world.scenario.until = 48h;
  world.service().service_time = always(24h * 1000);
  world.service().workers = 120'000;
  const RunResult result = world.run();
  EXPECT_NEAR(result.services[0].utilisation.value(), 0.5, 1e-6);
  EXPECT_DOUBLE_EQ(result.wasted_work, 1.0);
}

TEST(WorldServices, APingSeesAProcessAndADeepProbeItsWork) {
  SmallWorld world(every(100ms, 50));
  world.client().kind = CallKind::read;
  world.service().probe = ServiceProbe{.kind = ProbeKind::ping, .every = 1s, .timeout = 50ms};
  world.scenario.faults = {Fault{.kind = FaultKind::half_broken, .service = "orders", .at = 2500ms}};
  RunResult result = world.run();
  EXPECT_EQ(result.replicas[0].probe_ok, true);
  EXPECT_EQ(result.replicas[0].probe_pass_rate, 1.0);
  EXPECT_EQ(result.calls.answered + result.calls.rejected, 50U);
  EXPECT_EQ(result.calls.rejected, 25U);
  world.service().probe->kind = ProbeKind::deep;
  result = world.run();
  EXPECT_EQ(result.replicas[0].probe_ok, false);
  EXPECT_DOUBLE_EQ(result.replicas[0].probe_pass_rate.value(), 0.5);
}

}  // namespace
}  // namespace overdue
