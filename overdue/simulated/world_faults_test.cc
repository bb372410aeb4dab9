// What goes wrong on purpose, and what the ledger says afterwards.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "overdue/simulated/small_world.h"

namespace overdue {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;

Fault crash_of_each(CrashPoint point, Probability probability) {
  return {.kind = FaultKind::crash,
          .service = "orders",
          .lasts = 100s,
          .probability = probability,
          .crash_point = point,
          .restart_after = 50ms};
}

std::uint64_t ended(const RunResult& result, Ending ending) {
  return result.links[0].endings[static_cast<std::size_t>(ending)];
}

TEST(WorldFaults, ACrashBeforeTheEffectLosesItAfterItOnlyTheReply) {
  SmallWorld world;
  world.scenario.faults = {crash_of_each(CrashPoint::before_effect, Probability(1.0))};
  RunResult result = world.run();
  EXPECT_EQ(ended(result, Ending::reset), 1U);
  EXPECT_EQ(result.calls.unknown, 1U);
  EXPECT_EQ(result.ledger.timed_out_not_applied, 1U);
  world.scenario.faults = {crash_of_each(CrashPoint::after_effect, Probability(1.0))};
  result = world.run();
  EXPECT_EQ(ended(result, Ending::reset), 1U);
  EXPECT_EQ(result.ledger.timed_out_applied, 1U);
  world.scenario.faults = {crash_of_each(CrashPoint::after_reply, Probability(1.0))};
  result = world.run();
  EXPECT_EQ(result.calls.answered, 1U);
  EXPECT_EQ(result.ledger.applied_once, 1U);
}

TEST(WorldFaults, ACrashTakesAllThatTheProcessHolds) {
  SmallWorld world(every(1ms, 5));
  world.service().workers = 2;
  world.scenario.faults = {Fault{.kind = FaultKind::crash, .service = "orders", .at = 8ms, .lasts = 1s}};
  const RunResult result = world.run();
  EXPECT_EQ(ended(result, Ending::reset), 5U);
  EXPECT_EQ(result.services[0].started, 2U);
  EXPECT_EQ(result.ledger.lost, 5U);
  EXPECT_EQ(result.faults_end, 1008ms);
}

TEST(WorldFaults, WhileItIsDownCallsAreRefusedAndAfterwardsAnswered) {
  SmallWorld world(every(100ms, 10));
  world.scenario.faults = {Fault{.kind = FaultKind::crash, .service = "orders", .at = 250ms, .lasts = 500ms}};
  const RunResult result = world.run();
  EXPECT_EQ(result.calls.answered, 5U);
  EXPECT_EQ(result.calls.not_sent, 5U);
  EXPECT_EQ(ended(result, Ending::refused), 5U);
}

TEST(WorldFaults, ADeadHostIsSilent) {
  SmallWorld world(every(100ms, 10));
  world.policy().timeout.watch = Probability(0.0);
  world.scenario.faults = {Fault{.kind = FaultKind::dead, .service = "orders", .at = 250ms, .lasts = 500ms}};
  RunResult result = world.run();
  EXPECT_EQ(result.calls.answered, 5U);
  EXPECT_EQ(ended(result, Ending::timed_out), 5U);
  world.network().connect = Connect{};
  world.policy().timeout.connect = 20ms;
  result = world.run();
  EXPECT_EQ(result.calls.not_sent, 5U);
  EXPECT_EQ(result.links[0].connect_failure_median, 20ms);
}

TEST(WorldFaults, SlownessIsOfWorkThatBeginsInItsTime) {
  SmallWorld world({0ms, 100ms, 200ms});
  world.scenario.faults = {
      Fault{.kind = FaultKind::slow, .service = "orders", .at = 100ms, .lasts = 50ms, .factor = 5}};
  EXPECT_THAT(world.times_of("executed"), ElementsAre("0.011000000", "0.151000000", "0.211000000"));
}

TEST(WorldFaults, APauseStopsWorkWhereItIs) {
  SmallWorld world({0ms, 5ms, 60ms});
  world.scenario.faults = {Fault{.kind = FaultKind::pause, .service = "orders", .at = 4ms, .lasts = 20ms},
                           // One on top of the other is one longer pause.
                           Fault{.kind = FaultKind::pause, .service = "orders", .at = 10ms, .lasts = 30ms}};
  // Begun at 1 ms, still from 4 to 40 ms, 7 ms to go; the second begins at 40 ms.
  EXPECT_THAT(world.times_of("executed"), ElementsAre("0.047000000", "0.050000000", "0.071000000"));
}

// One-way: requests arrive and are executed, and no reply comes back.
TEST(WorldFaults, APartitionOfRepliesLooksLikeOneOfRequestsAndIsNot) {
  SmallWorld world(every(10ms, 20));
  world.scenario.faults = {
      Fault{.kind = FaultKind::partition, .link = "orders", .way = Way::reply, .lasts = 10s}};
  RunResult result = world.run();
  EXPECT_EQ(result.calls.unknown, 20U);
  EXPECT_EQ(result.ledger.timed_out_applied, 20U);
  world.scenario.faults[0].way = Way::request;
  result = world.run();
  EXPECT_EQ(result.calls.unknown, 20U);
  EXPECT_EQ(result.ledger.timed_out_not_applied, 20U);
}

TEST(WorldFaults, LossesComeOnTopOfEachOtherAndEnd) {
  SmallWorld world(every(1ms, 20'000));
  world.policy().timeout.request = 20ms;
  const auto loss = [](double share) {
    return Fault{.kind = FaultKind::loss, .link = "orders", .lasts = 10s, .probability = Probability(share)};
  };
  world.scenario.faults = {loss(0.2), loss(0.5)};
  const RunResult result = world.run();
  EXPECT_NEAR(static_cast<double>(result.calls.unknown), 6'000, 245);  // Of the first 10,000.
  EXPECT_EQ(result.timeline[15].unknown, 0U);
}

TEST(WorldFaults, AFaultOfALinkThatNobodyCallsStrikesNothing) {
  SmallWorld world(every(100ms, 10));
  for (const FaultKind kind : {FaultKind::partition, FaultKind::loss})
    world.scenario.faults.push_back(
        {.kind = kind, .link = "stock", .at = 100ms, .lasts = 1s, .probability = Probability(1.0)});
  EXPECT_EQ(world.run().calls.answered, 10U);
}

TEST(WorldFaults, WhatWouldComeAfterTheEndOfTimeComesAfterTheRun) {
  constexpr Duration kAges = Duration::max() - 1s;
  SmallWorld slow(every(100ms, 10));
  slow.service().service_time = always(kAges);
  slow.scenario.faults.assign(3, Fault{.kind = FaultKind::slow, .service = "orders", .factor = 1e6});
  EXPECT_EQ(slow.run().calls.unknown, 10U);
  slow.service().service_time = always(1ms);
  slow.scenario.faults.assign(4, Fault{.kind = FaultKind::half_broken, .service = "orders", .factor = 1e6});
  EXPECT_EQ(slow.run().calls.unknown, 10U);

  SmallWorld far(every(100ms, 10));
  far.network().request.delay = far.network().reply.delay = always(kAges);
  far.network().connect.emplace();
  far.link().repeats = Repeats{.share = Probability(1.0), .after = always(kAges)};
  EXPECT_EQ(far.run().calls.not_sent, 10U);
  far.network().connect.reset();
  EXPECT_EQ(far.run().calls.unknown, 10U);
  far.network().request.delay = {ParetoTime{.scale = kAges / 2, .shape = 0.1, .max = kAges}};
  EXPECT_EQ(far.run().calls.unknown, 10U);

  SmallWorld rare(every(100ms, 10));
  for (Direction* way : {&rare.network().request, &rare.network().reply})
    way->burst_every = way->burst_lasts = kAges;
  rare.service().pauses = Pauses{.every = kAges, .lasts = always(kAges)};
  Fault crash = crash_of_each(CrashPoint::before_effect, Probability(1.0));
  crash.at = 1s;
  crash.lasts = crash.restart_after = kAges;
  Fault late = crash;
  late.at_latest = kAges;
  late.drawn = Probability(1.0);
  rare.scenario.faults = {crash, late};
  EXPECT_EQ(rare.run().calls.answered, 10U);
}

TEST(WorldFaults, DrawnFaultsComeInTheirShareOfSeedsAtTheirOwnTimes) {
  SmallWorld world(every(100ms, 100));
  world.scenario.faults = {Fault{.kind = FaultKind::crash,
                                 .service = "orders",
                                 .at = 1s,
                                 .lasts = 1s,
                                 .drawn = Probability(0.5),
                                 .at_latest = 5s}};
  int struck = 0;
  Duration earliest = 100s;
  Duration latest{};
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    const RunResult result = world.run(seed);
    if (!result.faults_end) continue;
    ++struck;
    EXPECT_GT(result.calls.not_sent, 0U);
    earliest = std::min(earliest, *result.faults_end - 1s);
    latest = std::max(latest, *result.faults_end - 1s);
  }
  EXPECT_NEAR(struck, 100, 25);
  EXPECT_GE(earliest, 1s);
  EXPECT_LT(earliest, 1300ms);
  EXPECT_LE(latest, 5s);
  EXPECT_GT(latest, 4700ms);
}

// What a caller of a crashed service had asked of others goes on there.
TEST(WorldFaults, ACrashedCallerLeavesItsCallsBehind) {
  SmallWorld world;
  world.add_service("below", 100ms);
  world.service().calls = {{"below"}};
  world.client().ledger_at = "below";
  world.scenario.faults = {Fault{.kind = FaultKind::crash, .service = "orders", .at = 50ms, .lasts = 1s}};
  const RunResult result = world.run();
  EXPECT_EQ(ended(result, Ending::reset), 1U);
  EXPECT_EQ(result.services[1].executions, 1U);
  EXPECT_EQ(result.ledger.timed_out_applied, 1U);
  EXPECT_DOUBLE_EQ(result.services[1].wasted_work, 1.0);
}

// Four failures, one observation: unknown.
TEST(WorldFaults, FourTruthsLieBehindOneTimeout) {
  SmallWorld world;
  world.policy().timeout.request = 100ms;
  const auto truth = [&](const Fault& fault) {
    SmallWorld other = world;
    other.scenario.faults = {fault};
    const RunResult result = other.run();
    EXPECT_EQ(result.calls.unknown, 1U);
    return result.ledger.timed_out_applied;
  };
  EXPECT_EQ(truth({.kind = FaultKind::partition, .link = "orders", .way = Way::request}), 0U);
  EXPECT_EQ(truth({.kind = FaultKind::slow, .service = "orders", .factor = 20}), 1U);
  EXPECT_EQ(truth({.kind = FaultKind::partition, .link = "orders", .way = Way::reply}), 1U);
  EXPECT_EQ(truth({.kind = FaultKind::dead, .service = "orders", .at = 5ms}), 0U);
}

}  // namespace
}  // namespace overdue
