// What callers see: limits, retries, connections, networks. Most by the nanosecond, on constant times.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "overdue/simulated/small_world.h"

namespace overdue {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;

std::uint64_t ended(const RunResult& result, Ending ending) {
  return result.links[0].endings[static_cast<std::size_t>(ending)];
}

TEST(World, AnswersACallAfterTheWayTheWorkAndTheWayBack) {
  const SmallWorld world;
  const RunResult result = world.run();
  EXPECT_EQ(result.calls.total, 1U);
  EXPECT_EQ(result.calls.answered, 1U);
  EXPECT_EQ(result.latency_mean, 12ms);
  EXPECT_EQ(result.ledger.applied_once, 1U);
  EXPECT_EQ(result.ended_at, 12ms);  // Nobody is left.
  EXPECT_THAT(world.times_of("sent"), ElementsAre("0.000000000"));
  EXPECT_THAT(world.times_of("arrived"), ElementsAre("0.001000000"));
  EXPECT_THAT(world.times_of("executed"), ElementsAre("0.011000000"));
  EXPECT_THAT(world.times_of("answered"), ElementsAre("0.012000000", "0.012000000"));  // Attempt and call.
}

// Field case C31: the service always takes 6 s.
TEST(World, WithoutALimitOfItsOwnAnAttemptTakesTheWholeDeadlineAndNoRetryIsSeen) {
  SmallWorld world;
  world.network() = Network{.name = "lan"};
  world.service().service_time = always(6s);
  world.retry(3);
  world.policy().timeout.request.reset();
  world.policy().promise = 1500ms;
  const RunResult result = world.run();
  EXPECT_EQ(result.calls.unknown, 1U);
  EXPECT_EQ(result.links[0].attempts, 1U);
  EXPECT_THAT(world.times_of("timed out"), ElementsAre("1.500000000"));
}

TEST(World, WithoutADeadlineThreeAttemptsOfTwoSecondsTakeSix) {
  SmallWorld world;
  world.network() = Network{.name = "lan"};
  world.client().kind = CallKind::read;
  world.service().service_time = always(6s);
  world.retry(3);
  world.policy().timeout.request = 2s;
  world.policy().timeout.watch = Probability(0.0);
  EXPECT_THAT(world.times_of("timed out"), ElementsAre("2.000000000", "4.000000000", "6.000000000"));
  EXPECT_EQ(world.run().links[0].attempts, 3U);
}

TEST(World, TheDeadlineCutsTheAttemptThatWouldPassIt) {
  SmallWorld world;
  world.network() = Network{.name = "lan"};
  world.client().kind = CallKind::read;
  world.service().service_time = always(6s);
  world.service().workers = 1;
  world.retry(4, 25ms);
  world.policy().timeout.request = 4s;
  world.policy().promise = 10s;
  world.policy().timeout.watch = Probability(0.0);
  EXPECT_THAT(world.times_of("timed out"), ElementsAre("4.000000000", "8.025000000", "10.000000000"));
}

TEST(World, AReplyAtTheVeryMomentOfTheLimitComesTooLate) {
  SmallWorld world;
  world.policy().timeout.request = 12ms;
  RunResult result = world.run();
  EXPECT_EQ(result.calls.answered + ended(result, Ending::replied), 0U);
  EXPECT_EQ(result.links[0].false_timeouts, 1U);
  world.policy().timeout.request = 12ms + 1ns;
  result = world.run();
  EXPECT_EQ(result.calls.answered, 1U);
}

// The idea of it all: the caller's limit ends the wait and not the work.
TEST(World, TheServerGoesOnAfterItsCallerHasLeft) {
  SmallWorld world;
  world.client().kind = CallKind::unkeyed_write;
  world.policy().timeout.request = 5ms;
  world.retry(2);
  world.policy().retry.unsafe_retry_without_key = true;
  const RunResult result = world.run();
  EXPECT_EQ(result.ledger.duplicates, 1U);
  EXPECT_EQ(result.ledger.executions, 2U);
  EXPECT_EQ(result.ledger.timed_out_applied, result.calls.unknown);
  EXPECT_DOUBLE_EQ(result.wasted_work, 1.0);
}

TEST(World, WorkWhoseLateReplyAnsweredTheCallIsNotWasted) {
  SmallWorld world;
  world.client().kind = CallKind::read;
  world.policy().timeout.request = 8ms;
  world.policy().promise = 1s;
  world.retry(2, 100ms);
  const RunResult once = world.run();  // The answer comes while the call waits to try again.
  EXPECT_EQ(once.calls.answered, 1U);
  EXPECT_EQ(once.links[0].attempts, 1U);
  EXPECT_EQ(once.wasted_work, 0.0);
  world.retry(2);
  const RunResult twice = world.run();  // The first one's answers it, and the second one works on.
  EXPECT_EQ(twice.links[0].attempts, 2U);
  EXPECT_EQ(twice.latency_mean, 12ms);
  EXPECT_DOUBLE_EQ(twice.wasted_work, 0.5);
  world.policy().timeout.watch = Probability(0.0);
  world.retry(2, 100ms);
  EXPECT_DOUBLE_EQ(world.run().wasted_work, 1.0);  // Nobody listens any more.
}

TEST(World, AWriteWithoutAKeyIsNotRepeatedUnlessThePolicySaysSo) {
  SmallWorld world;
  world.client().kind = CallKind::unkeyed_write;
  world.policy().timeout.request = 5ms;
  world.retry(2);
  const RunResult result = world.run();
  EXPECT_EQ(result.links[0].attempts, 1U);
  EXPECT_EQ(result.ledger.applied_once, 1U);
}

TEST(World, AServiceThatRemembersKeysExecutesARepeatOnce) {
  SmallWorld world;
  world.policy().timeout.request = 5ms;
  world.retry(4);
  world.service().remembers_keys = true;
  const RunResult result = world.run();
  EXPECT_EQ(result.ledger.applied_once, 1U);
  // At 0, 5 and 10 ms; the first one's answer comes at 12 ms, late, and ends the call all the same.
  EXPECT_EQ(result.links[0].attempts, 3U);
  EXPECT_EQ(result.latency_mean, 12ms);
  EXPECT_EQ(result.services[0].executions, 1U);
  EXPECT_EQ(result.services[0].stored_replies, 2U);
}

TEST(World, TheRetryBudgetHoldsAFailingServicesLoad) {
  SmallWorld world(every(1ms, 10'000));
  world.client().kind = CallKind::read;
  world.network().request.loss = Probability(1.0);
  world.retry(4);
  world.policy().retry.no_budget = false;
  world.policy().timeout.request = 20ms;
  const RunResult result = world.run();
  // 10 saved up, a tenth of 10,000 calls and one a second for ten seconds.
  EXPECT_NEAR(static_cast<double>(result.links[0].retries), 1'020, 4);
  EXPECT_GT(result.links[0].retries_denied, 8'000U);
}

TEST(World, LostRequestsHaveNoEffectAndLostRepliesDo) {
  SmallWorld world;
  world.network().request.loss = Probability(1.0);
  RunResult result = world.run();
  EXPECT_EQ(result.calls.unknown, 1U);
  EXPECT_EQ(result.ledger.timed_out_not_applied, 1U);
  world.network().request.loss = Probability(0.0);
  world.network().reply.loss = Probability(1.0);
  result = world.run();
  EXPECT_EQ(result.calls.unknown, 1U);
  EXPECT_EQ(result.ledger.timed_out_applied, 1U);
  EXPECT_EQ(result.links[0].false_timeouts, 0U);
}

TEST(World, ADoubledRequestIsExecutedTwiceUnlessItsKeyIsRemembered) {
  SmallWorld world(every(100ms, 50));
  world.network().request.duplication = Probability(1.0);
  world.network().reply.duplication = Probability(1.0);
  EXPECT_EQ(world.run().ledger.duplicates, 50U);
  world.service().remembers_keys = true;
  const RunResult result = world.run();
  EXPECT_EQ(result.ledger.applied_once, 50U);
  EXPECT_EQ(result.calls.answered, 50U);
}

TEST(World, BurstsLoseTogetherWhatAnEvenLossSpreads) {
  SmallWorld world(every(1ms, 50'000));
  world.network().request = {
      .delay = always(1ms), .burst_every = 900ms, .burst_lasts = 100ms, .burst_loss = Probability(1.0)};
  const RunResult result = world.run();
  EXPECT_NEAR(static_cast<double>(result.calls.unknown) / 50'000, 0.1, 0.04);
  std::uint64_t most = 0;
  for (const TimelineRow& row : result.timeline) most = std::max(most, row.unknown);
  EXPECT_GT(most, 250U);  // Of 1,000 in a second; spread evenly it would be 100 and a few.
}

TEST(World, AConnectThatIsSwallowedTakesTheConnectLimitAndOneThatIsRefusedARoundTrip) {
  SmallWorld world;
  world.network().connect = Connect{.swallowed = Probability(1.0)};
  world.policy().timeout.connect = 250ms;
  RunResult result = world.run();
  EXPECT_EQ(result.calls.not_sent, 1U);
  EXPECT_EQ(result.links[0].connect_failures, 1U);
  EXPECT_EQ(result.links[0].connect_failure_median, 250ms);
  world.network().connect = Connect{.refused = Probability(1.0)};
  result = world.run();
  EXPECT_EQ(result.calls.not_sent, 1U);
  EXPECT_EQ(result.links[0].connect_failure_median, 2ms);
  EXPECT_EQ(ended(result, Ending::refused), 1U);
  EXPECT_EQ(result.ledger.lost, 1U);
}

TEST(World, AConnectComesBeforeTheRequestAndAKeptConnectionSavesIt) {
  SmallWorld world({0ms, 100ms, 300ms});
  world.network().connect = Connect{};
  EXPECT_THAT(world.times_of("arrived"), ElementsAre("0.003000000", "0.103000000", "0.303000000"));
  world.link().pool = Pool{.connections_max = 5, .idle_max = 150ms};
  // The second finds the first one's connection, the third finds it too old.
  EXPECT_THAT(world.times_of("arrived"), ElementsAre("0.003000000", "0.101000000", "0.303000000"));
}

// Field case C37. A request takes 1 ms to get there, and the news of a close 1 ms back.
TEST(World, ARequestThatMeetsTheServersCloseEndsInAResetAndIsNotExecuted) {
  const auto resets = [](Duration idle) {
    SmallWorld world({0ms, 12ms + idle});
    world.network().connect = Connect{};
    world.link().pool = Pool{.connections_max = 5};
    world.service().keep_alive = 30ms;
    world.policy().timeout.watch = Probability(0.0);
    const RunResult result = world.run();
    EXPECT_EQ(result.services[0].executions, 2U - ended(result, Ending::reset));
    EXPECT_EQ(result.calls.unknown, ended(result, Ending::reset));  // Of a write that is not tried again.
    return ended(result, Ending::reset);
  };
  const Duration connects = 2ms;
  EXPECT_EQ(resets(connects + 29ms - 1ns), 0U);
  EXPECT_EQ(resets(connects + 29ms), 1U);        // Arrives at the very moment.
  EXPECT_EQ(resets(connects + 31ms - 1ns), 1U);  // Sent before the news of it.
  EXPECT_EQ(resets(connects + 31ms), 0U);        // Connects anew.
}

TEST(World, AClientWhoseIdleConnectionsEndBeforeTheServersMeetsNoClose) {
  SmallWorld world(every(42ms, 100));  // Idle for 30 ms.
  world.service().keep_alive = 30ms;
  world.link().pool = Pool{.connections_max = 5};
  EXPECT_EQ(ended(world.run(), Ending::reset),
            50U);  // Every other one: the next has a connection of its own.
  world.retry(2);
  EXPECT_EQ(world.run().calls.answered, 100U);
  EXPECT_EQ(world.run().ledger.duplicates, 0U);
  world.link().pool->idle_max = 28ms;
  EXPECT_EQ(ended(world.run(), Ending::reset), 0U);
}

// Field case C34 (b): the wait for a connection is within the limit.
TEST(World, ACallThatWaitsForAConnectionFailsAtItsLimitAndWasNeverSent) {
  SmallWorld world({0s, 1s});
  world.service().service_time = always(45s);
  world.link().pool = Pool{.connections_max = 1};
  world.policy().timeout.request = 60s;
  world.policy().promise = 60s;
  RunResult result = world.run();
  EXPECT_EQ(result.calls.unknown, 1U);  // The second has its connection at 45 s, and 15 s are too few.
  world.policy().promise.reset();
  world.policy().timeout.request = 4s;
  world.policy().timeout.watch = Probability(0.0);
  world.client().kind = CallKind::read;
  EXPECT_THAT(world.times_of("timed out"), ElementsAre("4.000000000", "5.000000000"));
  result = world.run();
  EXPECT_EQ(result.services[0].arrivals, 2U);  // The first gave its connection up at 4 s.
  EXPECT_EQ(result.links[0].pool_wait_mean, 1500ms);
}

TEST(World, WhoFindsTheLineForAConnectionFullIsTurnedAwayUnsent) {
  SmallWorld world({0ms, 1ms, 2ms});
  world.link().pool = Pool{.connections_max = 1, .waiting_max = 1};
  const RunResult result = world.run();
  EXPECT_EQ(result.calls.answered, 2U);
  EXPECT_EQ(result.calls.not_sent, 1U);
}

// The work's own deadline ends its wait for a connection to the next service before the one ahead is done.
TEST(World, WhoHasLeftTheLineForAConnectionIsNotCountedInIt) {
  SmallWorld world({0s});
  world.network() = Network{.name = "lan"};
  world.service().passes_deadline_on = true;
  world.policy().timeout.request = 60s;
  world.add_service("below", 45s);
  world.policy(1).timeout.request = 60s;
  world.link(1).pool = Pool{.connections_max = 1, .waiting_max = 1};
  world.service().calls = {{"below"}};
  world.scenario.links.push_back(Link{.name = "quick", .service = "orders", .network = "lan"});
  world.scenario.policy.dependencies.push_back(one_attempt("quick", 4s));
  Client quick = world.client();
  quick.name = "quick";
  quick.calls = "quick";
  quick.arrivals = RecordedArrivals{.at = {1s, 10s, 11s}};
  world.scenario.clients.push_back(quick);
  const RunResult result = world.run();
  // Of the quick ones the first and the second wait and leave; the third finds the second in the line.
  EXPECT_EQ(result.links[1].endings[static_cast<std::size_t>(Ending::refused)], 1U);
  EXPECT_EQ(result.links[1].endings[static_cast<std::size_t>(Ending::timed_out)], 2U);
  EXPECT_EQ(result.clients[0].calls.answered, 1U);
}

TEST(World, RecordedCallsBeginWithinTheTimesThatTheClientHas) {
  SmallWorld world(every(100ms, 100));
  world.client().from = 2s;
  world.client().to = 5s;
  const RunResult result = world.run();
  EXPECT_EQ(result.calls.total, 30U);
  EXPECT_EQ(result.timeline[1].offered, 0U);
  EXPECT_EQ(result.timeline[2].offered, 10U);
}

TEST(World, BalancersShareTheLoadAsTheySay) {
  SmallWorld world(every(1ms, 4'000));
  world.service().replicas = {"a", "b", "c", "d"};
  for (const ReplicaResult& replica : world.run().replicas) EXPECT_EQ(replica.attempts, 1'000U);
  world.link().balance = Balance::random;
  for (const ReplicaResult& replica : world.run().replicas) EXPECT_NEAR(replica.traffic_share, 0.25, 0.035);
  // One is slow: who looks at two sends it less.
  world.scenario.faults = {
      Fault{.kind = FaultKind::slow, .service = "orders", .replica = "d", .lasts = 200s, .factor = 20}};
  world.link().balance = Balance::least_loaded_of_two;
  const RunResult result = world.run();
  EXPECT_LT(result.replicas[3].traffic_share, 0.08);
  EXPECT_NEAR(result.replicas[0].traffic_share, 0.31, 0.03);
}

TEST(World, AClosedLoopCallsAgainAfterTheVerdictAndTheThought) {
  SmallWorld world;
  world.client().arrivals = ClosedArrivals{.users = 7, .think = always(88ms)};
  world.scenario.duration = 10s;
  const RunResult result = world.run();
  EXPECT_EQ(result.calls.total, 7U * 100);  // 12 ms and 88 ms.
  EXPECT_EQ(result.calls.answered, result.calls.total);
}

TEST(World, ProcessesOfAClientShareItsArrivalsAndNotTheirBudgets) {
  SmallWorld world;
  world.client().kind = CallKind::read;
  world.client().instances = 4;
  world.client().arrivals = OpenArrivals{.per_second = 1'000};
  world.network().request.loss = Probability(1.0);
  world.scenario.duration = 10s;
  world.policy().timeout.request = 20ms;
  world.retry(2);
  world.policy().retry.no_budget = false;
  const RunResult result = world.run();
  EXPECT_NEAR(static_cast<double>(result.calls.total), 10'000, 500);
  EXPECT_NEAR(static_cast<double>(result.links[0].retries),
              static_cast<double>(result.calls.total) / 10 + 4 * (10 + 10), 8);
}

}  // namespace
}  // namespace overdue
