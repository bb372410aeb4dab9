#include "overdue/latency/doubt.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "overdue/latency/compare.h"
#include "overdue/latency/generated_log.h"

namespace overdue {
namespace {

using namespace std::chrono_literals;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

constexpr WallTime kStart{1'700'000'000s};

std::vector<std::string> codes(const std::vector<Doubt>& doubts) {
  std::vector<std::string> found;
  for (const Doubt& doubt : doubts) found.push_back(doubt.code);
  return found;
}
std::vector<std::string> codes(const Measurement& measurement, const DoubtContext& context = {}) {
  return codes(find_doubts(measurement, context));
}

std::string text_of(const Measurement& measurement, const DoubtContext& context, std::string_view code) {
  for (const Doubt& doubt : find_doubts(measurement, context)) {
    if (doubt.code == code) return doubt.text;
  }
  return "not raised";
}

// Rows of one backend and route, with start times if told.
struct Rows {
  std::vector<Attempt> rows;
  NameTable backends;
  NameTable routes;

  Attempt& add(Duration elapsed, Ending ending = Ending::replied) {
    Attempt& row = rows.emplace_back();
    row.elapsed = elapsed;
    row.ending = ending;
    row.begins_call = true;
    return row;
  }
  void add(int times, Duration elapsed, Ending ending = Ending::replied) {
    for (int i = 0; i < times; ++i) add(elapsed, ending);
  }
  Attempt& add_at(Duration since_start, Duration elapsed, Ending ending = Ending::replied) {
    Attempt& row = add(elapsed, ending);
    row.start = kStart + since_start;
    row.has_start = true;
    return row;
  }
  Measurement measure() const {
    Measurement measurement;
    measurement.add(rows, backends, routes);
    return measurement;
  }
};

TEST(FindDoubts, SaysNothingOfAnEmptyMeasurement) { EXPECT_THAT(codes(Measurement()), IsEmpty()); }

TEST(FindDoubts, SurvivesEveryPoorMeasurement) {
  std::vector<Rows> poor(9);
  poor[0].add(10ms);
  poor[1].add_at(0s, 10ms);
  poor[2].add(1000, 0ms);
  for (int i = 0; i < 1000; ++i) poor[3].add_at(i * 10ms, 0ms);
  poor[4].add(1000, 1s, Ending::timed_out);
  for (int i = 0; i < 1000; ++i) poor[5].add_at(0s, 1s, Ending::timed_out);
  poor[6].add(1000, 0ms, Ending::refused);
  for (int i = 0; i < 100; ++i) poor[7].add_at(0s, 1s, Ending::rejected);
  for (int i = 0; i < 100; ++i) poor[8].add_at(i * 10ms, i % 2 == 0 ? 1ns : 100h);
  for (const Rows& rows : poor) {
    const Measurement measurement = rows.measure();
    const Comparison comparison = compare_replicas(measurement);
    DoubtContext context;
    context.comparison = &comparison;
    context.point = Duration{};
    context.recommended = Duration{};
    context.outcome_unknown = true;
    for (const Doubt& doubt : find_doubts(measurement, context)) {
      EXPECT_THAT(kDoubtCodes, Contains(doubt.code));
      EXPECT_THAT(doubt.text, Not(HasSubstr("nan")));
      EXPECT_THAT(doubt.text, Not(HasSubstr("inf ")));
    }
  }
}

TEST(FindDoubts, ListsTheGravestFirst) {
  DoubtContext context;
  context.server_side = true;
  context.unit_doubt = "likely ms recorded as s (455 ms)";
  EXPECT_EQ(codes(Measurement(), context), (std::vector<std::string>{"unit_mismatch", "server_side_log"}));
  EXPECT_EQ(find_doubts(Measurement(), context)[0].text, context.unit_doubt);
}

TEST(FindDoubts, MindsRowsSetAsideWhereTheyAreMoreThanTheAcceptedShare) {
  Rows rows;
  rows.add(100, 20ms);
  const Measurement measurement = rows.measure();
  DoubtContext context;
  context.accept_false = Probability(0.001);
  context.set_aside = {.count = 10, .all = 10'000, .reason = "unknown status"};
  EXPECT_THAT(codes(measurement, context), Not(Contains("set_aside")));
  context.set_aside.count = 11;
  EXPECT_THAT(text_of(measurement, context, "set_aside"),
              HasSubstr("11 of 10,000 rows (0.11 %) were set aside, most for: unknown status"));
  context.set_aside = {.count = 4, .all = 100, .reason = "unknown status"};
  EXPECT_THAT(codes(measurement, context), Not(Contains("set_aside")));
  context.set_aside.count = 5;
  EXPECT_THAT(codes(measurement, context), Contains("set_aside"));
}

TEST(FindDoubts, CountsTheRowsThatAClockStepMadeNegative) {
  Rows rows;
  for (int i = 0; i < 995; ++i) rows.add(20ms + i * 10us);
  rows.add(431ms);
  rows.add(428ms);
  Measurement measurement = rows.measure();
  EXPECT_THAT(codes(measurement), Not(Contains("clock_step")));
  measurement.negative_elapsed = 3;
  EXPECT_THAT(text_of(measurement, {}, "clock_step"), HasSubstr("3 rows ended before they began (0.30 %)"));
}

TEST(FindDoubts, AsksAboutZerosOnlyWhereNothingSaysHowRowsEnded) {
  Rows rows;
  rows.add(2, 0ms);
  rows.add(3, 12ms);
  DoubtContext context;
  EXPECT_THAT(codes(rows.measure(), context), Not(Contains("zero_latency")));
  context.outcome_unknown = true;
  EXPECT_THAT(text_of(rows.measure(), context, "zero_latency"), HasSubstr("2 rows took exactly 0"));
  Rows without;
  without.add(5, 12ms);
  EXPECT_THAT(codes(without.measure(), context), Not(Contains("zero_latency")));
  context.without_latency = 3;
  EXPECT_THAT(text_of(without.measure(), context, "zero_latency"), HasSubstr("3 rows have no latency and"));
  EXPECT_THAT(text_of(rows.measure(), context, "zero_latency"),
              HasSubstr("2 rows took exactly 0, 3 have no latency and"));
  context.outcome_unknown = false;
  EXPECT_THAT(codes(without.measure(), context), Not(Contains("zero_latency")));
}

TEST(FindDoubts, SaysSlowOrLostUnlessTheOpenCallsDoNotMatter) {
  using OpenCalls = DoubtContext::OpenCalls;
  DoubtContext context;
  context.open_share = 0.004;
  context.longest_wait = 1s;
  for (const OpenCalls quiet : {OpenCalls::not_judged, OpenCalls::enough}) {
    context.open_calls = quiet;
    EXPECT_THAT(codes(Measurement(), context), IsEmpty());
  }
  for (const OpenCalls loud : {OpenCalls::lost, OpenCalls::slow, OpenCalls::cannot_tell}) {
    context.open_calls = loud;
    EXPECT_THAT(text_of(Measurement(), context, "slow_or_lost"),
                HasSubstr("0.40 % of the calls were still open at 1 s"));
  }
}

TEST(FindDoubts, SaysThatAbandonmentMattersAboveTheAcceptedShareOnly) {
  for (const int abandoned : {10, 11}) {
    Rows rows;
    rows.add(10'000 - abandoned, 10ms);
    rows.add(abandoned, 50ms, Ending::abandoned);
    DoubtContext context;
    EXPECT_THAT(codes(rows.measure(), context), Not(Contains("abandonment_matters")))
        << "no timeout to compare with";
    context.recommended = 100ms;
    context.timeout_if_abandoned_lost = 90ms;
    EXPECT_EQ(testing::Value(codes(rows.measure(), context), Contains("abandonment_matters")),
              abandoned == 11);
    context.recommended = 50ms;  // Abandoned at the timeout is not before it.
    EXPECT_THAT(codes(rows.measure(), context), Not(Contains("abandonment_matters")));
  }
}

std::vector<std::string> left_out_names(const Measurement& measurement, const Comparison& comparison) {
  std::vector<std::string> names;
  for (const std::uint16_t id : comparison.left_out) names.push_back(measurement.backends().name_of(id));
  return names;
}

DoubtContext compared(const Comparison& comparison) {
  DoubtContext context;
  context.comparison = &comparison;
  return context;
}

TEST(FindDoubts, NamesTheSlowReplicaAndWhatItCosts) {
  for (const double factor : {1.15, 8.0}) {
    GeneratedLog log(1);
    for (Attempt& row : log.rows) {
      if (row.backend == 4) row.elapsed = log.latency(factor);
    }
    const Measurement measurement = log.measure();
    const Comparison comparison = compare_replicas(measurement);
    DoubtContext context = compared(comparison);
    context.pooled = 2700ms;
    if (factor == 8.0) {
      const std::string text = text_of(measurement, context, "slow_replica");
      EXPECT_THAT(text, HasSubstr("10.0.0.4: slow, median 6"));
      EXPECT_THAT(text, HasSubstr("counted in, the timeout would be 2.7 s"));
      EXPECT_THAT(left_out_names(measurement, comparison), ElementsAre("10.0.0.4"));
    } else {
      EXPECT_THAT(codes(measurement, context), Not(Contains("slow_replica")));
    }
  }
}

TEST(FindDoubts, NamesTheFailingReplica) {
  for (const double rate : {0.005, 0.05}) {
    GeneratedLog log(2);
    for (Attempt& row : log.rows) {
      if (row.backend != 2 || log.random().uniform() >= rate) continue;
      row.elapsed = 1ms;
      row.ending = Ending::rejected;
    }
    const Measurement measurement = log.measure();
    const Comparison comparison = compare_replicas(measurement);
    EXPECT_EQ(testing::Value(codes(measurement, compared(comparison)), Contains("failing_replica")),
              rate > 0.01);
    EXPECT_EQ(comparison.left_out.empty(), rate < 0.01);
  }
}

TEST(FindDoubts, SaysOfTwoReplicasThatTheyDifferAndNotWhichIsSlow) {
  GeneratedLog log(3, {.replicas = 2});
  for (Attempt& row : log.rows) {
    if (row.backend == 2) row.elapsed = log.latency(8);
  }
  const Measurement measurement = log.measure();
  const Comparison comparison = compare_replicas(measurement);
  EXPECT_EQ(comparison.fleet, FleetJudgement::differ);
  EXPECT_THAT(text_of(measurement, compared(comparison), "slow_replica"),
              HasSubstr("10.0.0.1 and 10.0.0.2 differ"));
}

TEST(FindDoubts, FindsTheCallsAFrozenClosedLoopDidNotSend) {
  // One worker, a call due each 100 ms for 40 s, frozen from 12 s to 24 s: the log as it was written.
  Rows rows;
  for (int i = 0; i < 120; ++i) rows.add_at(i * 100ms, 40ms);
  rows.add_at(12s, 12'040ms);
  for (int i = 0; i < 159; ++i) rows.add_at(24'100ms + i * 100ms, 40ms);
  ASSERT_EQ(rows.rows.size(), 280U);
  DoubtContext context;
  EXPECT_THAT(text_of(rows.measure(), context, "coordinated_omission"),
              HasSubstr("During 1 long call, 12 s in all, 0 calls started where 121 were due"));
  context.filled_in = true;
  EXPECT_THAT(codes(rows.measure(), context), Not(Contains("coordinated_omission")));

  // An open loop that keeps sending through the same freeze.
  Rows open;
  for (int i = 0; i < 400; ++i) open.add_at(i * 100ms, i == 120 ? 12'040ms : 40ms);
  EXPECT_THAT(codes(open.measure()), Not(Contains("coordinated_omission")));
}

TEST(FindDoubts, DoesNotTakeTheEndOfTheLogForAStandstill) {
  Rows rows;
  for (int i = 0; i < 400; ++i) rows.add_at(i * 100ms, i == 399 ? 20s : 40ms);
  EXPECT_THAT(codes(rows.measure()), Not(Contains("coordinated_omission")));
}

TEST(FindDoubts, ReportsWhereCallersGiveUp) {
  Rows rows;
  rows.add(95, 100ms);
  rows.add(5, 2s, Ending::abandoned);
  rows.add(1, 3ms, Ending::abandoned);
  DoubtContext context;
  EXPECT_THAT(text_of(rows.measure(), context, "caller_limit"),
              HasSubstr("Callers give up at 2 s: 5 of 6 that left did so then"));
  context.limit = 2s;  // Then it is no news.
  EXPECT_THAT(codes(rows.measure(), context), Not(Contains("caller_limit")));

  Rows four;
  four.add(95, 100ms);
  four.add(4, 2s, Ending::abandoned);
  EXPECT_THAT(codes(four.measure()), Not(Contains("caller_limit")));
  Rows scattered;
  scattered.add(95, 100ms);
  for (int i = 1; i <= 20; ++i) scattered.add(i * 100ms, Ending::abandoned);
  EXPECT_THAT(codes(scattered.measure()), Not(Contains("caller_limit")));
}

TEST(FindDoubts, ReportsACallersLimitBelowTheOthers) {
  Rows rows;
  rows.add(1000, 20ms);
  rows.add(20, 1s, Ending::timed_out);
  EXPECT_THAT(codes(rows.measure()), Not(Contains("caller_limit"))) << "the limit in force is no news";
  rows.add(5, 200ms, Ending::timed_out);
  EXPECT_THAT(text_of(rows.measure(), {}, "caller_limit"),
              HasSubstr("5 of 25 timed-out calls were cut then"));
  rows.add(1, 1s, Ending::timed_out);
  EXPECT_THAT(codes(rows.measure()), Not(Contains("caller_limit"))) << "5 of 26 are under a fifth";
}

TEST(FindDoubts, WarnsOfFewEpisodesOnlyWhereLateCallsDepend) {
  struct Case {
    double vif, effective;
    bool raised;
  };
  for (const Case& c :
       {Case{3, 9.9, true}, {3, 10, false}, {2.4, 9.9, false}, {2.5, 0.5, true}, {3, 0, false}}) {
    DoubtContext context;
    context.vif = c.vif;
    context.effective_late_calls = c.effective;
    EXPECT_EQ(testing::Value(codes(Measurement(), context), Contains("few_episodes")), c.raised) << c.vif;
  }
}

TEST(FindDoubts, CallsALogUnderFiveMinutesShort) {
  for (const Duration length : {Duration(5min) - 1ns, Duration(5min)}) {
    Rows rows;
    for (int i = 0; i < 1000; ++i) rows.add_at(i * (length / 1000), 10ms);
    rows.add_at(length, 10ms);
    EXPECT_EQ(testing::Value(codes(rows.measure()), Contains("short_log")), length < 5min);
  }
}

TEST(FindDoubts, SaysHowShortALogIsThatIsNearlyLongEnough) {
  const auto text = [](Duration length) {
    Rows rows;
    for (int i = 0; i <= 1000; ++i) rows.add_at(i * (length / 1000), 10ms);
    return text_of(rows.measure(), {}, "short_log");
  };
  EXPECT_THAT(text(299'820ms), HasSubstr("covers 299.8 s, less than 5 min"));
  EXPECT_THAT(text(299'999ms), HasSubstr("covers 299.9 s, less than 5 min"));
  EXPECT_THAT(text(240s), HasSubstr("covers 4 min, less than 5 min"));
}

TEST(FindDoubts, CallsALogOfAFewMomentsShort) {
  for (const int moments : {31, 32}) {
    Rows rows;
    for (int i = 0; i < moments; ++i) rows.add_at(i * 2min, 10ms);
    EXPECT_EQ(testing::Value(codes(rows.measure()), Contains("short_log")), moments < 32);
  }
}

TEST(FindDoubts, CallsNoHistogramsOfIntervalsShortThatCoverFiveMinutes) {
  for (const int minutes : {4, 5}) {
    Measurement measurement;
    for (int minute = 0; minute <= minutes; ++minute) {
      measurement.add_counts(Ending::replied, 10ms, 1000,
                             WallTime(Duration(1'700'000'000'000'000'000) + minute * 1min));
    }
    EXPECT_EQ(testing::Value(codes(measurement), Contains("short_log")), minutes < 5);
  }
}

TEST(FindDoubts, SaysThatNothingSlowerIsSeenOnlyWhereNothingIs) {
  for (const bool some_wait_on : {false, true}) {
    Rows rows;
    for (int i = 0; i < 1000; ++i) rows.add(Duration(1ms) * (1 + i % 100));
    rows.add(50, 200ms, Ending::abandoned);
    if (some_wait_on) rows.add(5, 2s);
    EXPECT_THAT(text_of(rows.measure(), {}, "caller_limit"),
                HasSubstr(some_wait_on ? "slower replies are seen only of calls without it"
                                       : "nothing slower than it can be seen here"));
  }
}

TEST(FindDoubts, FindsRoutesThatOneTimeoutDoesNotFit) {
  for (const int factor : {2, 10}) {
    GeneratedLog log(4);
    for (Attempt& row : log.rows) {
      if (row.route == 3 && row.elapsed < 1h) row.elapsed *= factor;
    }
    EXPECT_EQ(testing::Value(codes(log.measure(1h)), Contains("mixed_routes")), factor == 10);
    if (factor == 10) {
      EXPECT_THAT(text_of(log.measure(1h), {}, "mixed_routes"), HasSubstr("on /route/3"));
    }
  }
}

// Both routes have a tail that the limit cuts off: at the 999th call of 1,000 they are alike.
TEST(FindDoubts, FindsRoutesByTheirMediansWhereNothingCanBeAdvised) {
  for (const int factor : {2, 12}) {
    GeneratedLog log(4);
    for (Attempt& row : log.rows) {
      if (row.route == 3 && row.elapsed < 35ms) row.elapsed *= factor;
    }
    DoubtContext context;
    EXPECT_EQ(testing::Value(codes(log.measure(), context), Contains("mixed_routes")), factor == 12);
    if (factor == 12) {
      EXPECT_THAT(text_of(log.measure(), context, "mixed_routes"), HasSubstr("one timeout: p50 is"));
    }
    context.recommended = 400ms;
    EXPECT_THAT(codes(log.measure(), context), Not(Contains("mixed_routes")));
  }
}

TEST(FindDoubts, SaysWhatAServersOwnLogLeavesOut) {
  DoubtContext context;
  EXPECT_THAT(codes(Measurement(), context), IsEmpty());
  context.server_side = true;
  EXPECT_THAT(text_of(Measurement(), context, "server_side_log"), HasSubstr("DNS, TLS, network"));
}

TEST(CompareReplicas, ChargesAnAttemptToTheBackendThatHadIt) {
  // "10.0.0.1:80, 10.0.0.2:80" with "504, 200" and "5.001, 0.020" among other lines of an nginx log.
  Rows rows;
  const std::uint16_t one = rows.backends.id_of("10.0.0.1:80");
  const std::uint16_t two = rows.backends.id_of("10.0.0.2:80");
  const std::uint16_t other_group = rows.backends.id_of("10.0.1.9:80");
  rows.add(12ms).backend = one;
  rows.add(5001ms, Ending::timed_out).backend = one;
  rows.add(20ms).backend = two;
  rows.add(3ms).backend = one;
  rows.add(31ms).backend = other_group;
  rows.add(0ms, Ending::refused).backend = one;
  rows.add(873ms).backend = two;
  const Comparison comparison = compare_replicas(rows.measure());
  ASSERT_EQ(comparison.rows.size(), 3U);
  EXPECT_EQ(comparison.rows[0].name, "10.0.0.1:80");
  EXPECT_EQ(comparison.rows[0].attempts, 4U);
  EXPECT_EQ(comparison.rows[0].timeout_rate, 0.25);
  EXPECT_EQ(comparison.rows[0].failure_rate, 0.25);
  EXPECT_EQ(comparison.rows[0].median, 12ms);
  EXPECT_EQ(comparison.rows[1].timeout_rate, 0);
  for (const ReplicaRow& row : comparison.rows) EXPECT_EQ(row.judgement, ReplicaJudgement::too_few_calls);
  EXPECT_EQ(comparison.limit, 5001ms);
}

TEST(CompareReplicas, NamesHostBSlowThoughOnePercentOfCallsWentThere) {
  for (const int calls_of_b : {100, 101}) {
    for (const bool timed : {false, true}) {
      Rows rows;
      const std::uint16_t a = rows.backends.id_of("A");
      const std::uint16_t b = rows.backends.id_of("B");
      for (int i = 0; i < 9900; ++i) (timed ? rows.add_at(i * 10ms, 10ms) : rows.add(10ms)).backend = a;
      for (int i = 0; i < calls_of_b; ++i) (timed ? rows.add_at(i * 980ms, 2s) : rows.add(2s)).backend = b;
      const Comparison comparison = compare_replicas(rows.measure());
      ASSERT_EQ(comparison.rows.size(), 2U);
      EXPECT_EQ(comparison.rows[0].judgement, ReplicaJudgement::usual);
      EXPECT_EQ(comparison.rows[1].judgement, ReplicaJudgement::slow);
      EXPECT_EQ(comparison.rows[1].times_fleet_median, 200);
    }
  }
}

TEST(CompareReplicas, SeesNoReplicasWhereNoneIsNamed) {
  Rows rows;
  rows.add(1000, 10ms);
  EXPECT_TRUE(compare_replicas(rows.measure()).rows.empty());
}

TEST(CompareReplicas, CutsAllAtTheLeastCommonLimit) {
  // Same service, but calls to the second time out at 50 ms: above that nothing can be compared.
  Rows rows;
  const std::uint16_t patient = rows.backends.id_of("patient");
  const std::uint16_t hasty = rows.backends.id_of("hasty");
  Random random(5);
  for (int i = 0; i < 4000; ++i) {
    const Duration latency = std::chrono::microseconds(1000 + random.below(99'000));
    if (i % 2 == 0) {
      rows.add_at(i * 10ms, latency).backend = patient;
    } else {
      rows.add_at(i * 10ms, std::min<Duration>(latency, 50ms),
                  latency > 50ms ? Ending::timed_out : Ending::replied)
          .backend = hasty;
    }
  }
  const Comparison comparison = compare_replicas(rows.measure());
  EXPECT_EQ(comparison.limit, 50ms);
  EXPECT_EQ(comparison.fleet, FleetJudgement::alike);
  EXPECT_NEAR(comparison.rows[1].timeout_rate, 0.5, 0.03);
}

TEST(CompareReplicas, IgnoresOneOddGiveUpWhenItFindsTheCommonLimit) {
  GeneratedLog log(6);
  log.rows.front().elapsed = 3ms;
  log.rows.front().ending = Ending::timed_out;
  EXPECT_EQ(compare_replicas(log.measure()).limit, 1s);
}

TEST(CompareReplicas, ComparesThousandsOfBackends) {
  GeneratedLog log(7, {.calls = 300'000, .calls_per_second = 2000, .replicas = 4095});
  for (Attempt& row : log.rows) {
    if (row.backend == 99 && row.elapsed < 1h) row.elapsed *= 8;
  }
  const Measurement measurement = log.measure();
  const Comparison comparison = compare_replicas(measurement);
  EXPECT_EQ(comparison.rows.size(), 4095U);
  EXPECT_THAT(left_out_names(measurement, comparison), ElementsAre("10.0.0.99"));
}

}  // namespace
}  // namespace overdue
