#include "overdue/simulated/expectation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

namespace overdue {
namespace {

using namespace std::chrono_literals;

// Six seconds of ten calls each; in seconds 2 and 3 only `answered_in_trouble` of them are answered.
RunResult hand_made(std::uint64_t answered_in_trouble) {
  RunResult result;
  result.calls = {.total = 60, .answered = 50, .rejected = 4, .not_sent = 0, .unknown = 6, .open = 0};
  result.ledger = {.intents = 60, .applied_once = 50, .duplicates = 6, .lost = 4, .executions = 66};
  result.goodput = 50.0 / 60;
  result.latency = {{Quantile{0.5}, 12ms, 11ms}, {Quantile{0.99}, std::nullopt, 300ms}};
  result.services.push_back({.name = "orders"});
  result.replicas.push_back({.service = "orders", .name = "d", .probe_ok = true, .timeout_rate = 0.25});
  for (std::uint32_t second = 0; second < 6; ++second) {
    const bool trouble = second == 2 || second == 3;
    result.timeline.push_back({.second = second,
                               .offered = 10,
                               .goodput = trouble ? answered_in_trouble : 10,
                               .attempts = trouble ? 30U : 10U,
                               .timeouts = trouble ? 20U : 0U,
                               .queue = trouble ? 100U + second : 1U});
  }
  result.faults_end = 3s;
  return result;
}

std::optional<double> value_of(const std::vector<ResultField>& fields, std::string_view name) {
  const auto field = std::ranges::find(fields, name, &ResultField::name);
  EXPECT_NE(field, fields.end()) << name;
  return field == fields.end() ? std::nullopt : field->value;
}

Expectation expecting(std::string field, Relation comparison, double value) {
  Expectation expectation;
  expectation.field = std::move(field);
  expectation.comparison = comparison;
  expectation.value = value;
  expectation.value_high = value;
  expectation.is = "as said";
  return expectation;
}

bool holds(const Expectation& expectation, const RunResult& result) {
  Scenario scenario;
  scenario.expectations = {expectation};
  return judge(scenario, result).at(0).held;
}

TEST(ResultFields, ShareIsOfTheCallsThatEnded) {
  RunResult result = hand_made(0);
  result.calls.total += 40;
  result.calls.open = 40;
  EXPECT_NEAR(value_of(fields_of(result), "calls.answered_share").value_or(-1), 50.0 / 60, 1e-12);
  EXPECT_NEAR(value_of(fields_of(result), "ledger.executions_per_intent").value_or(-1), 1.1, 1e-12);
}

TEST(ResultFields, TimelineSumsItsWindowAndTakesTheLongestQueue) {
  const auto fields = timeline_fields(hand_made(5), 2, 5);
  EXPECT_EQ(value_of(fields, "timeline.offered"), 30);
  EXPECT_EQ(value_of(fields, "timeline.goodput"), 20);
  EXPECT_EQ(value_of(fields, "timeline.queue"), 103);
  EXPECT_NEAR(value_of(fields, "timeline.attempts_per_call").value_or(-1), 70.0 / 30, 1e-12);
  EXPECT_FALSE(value_of(timeline_fields(hand_made(5), 6, 9), "timeline.goodput_share"));
}

TEST(ResultFields, DispersionIsOneForEqualSpreadAndLargeForBursts) {
  // Counts 0 0 20 20 0 0: mean 40 / 6, variance (2 * 13.33^2 + 4 * 6.67^2) / 5 = 106.67.
  EXPECT_NEAR(value_of(timeline_fields(hand_made(5), {}, {}), "timeline.timeouts_dispersion").value_or(-1),
              106.6666667 / 6.6666667, 1e-6);
}

TEST(ResultFields, WritesAndFindingsAreFieldsWhereAClientHasAJournal) {
  RunResult result = hand_made(5);
  WriteCounts writes{.intents = 40,
                     .applied = 20,
                     .not_applied = 10,
                     .needs_person = 8,
                     .open = 2,
                     .unknown_at_deadline = 16,
                     .resolved_later = 12};
  writes.by_proof[static_cast<std::size_t>(Proof::fenced)] = 7;
  result.writes = writes;
  result.checker.found = {1, 2, 3, 4, 5, 6, 7, 8, 9};
  result.clients.push_back({.name = "shop"});
  result.clients[0].writes = writes;
  result.clients[0].checker.found[0] = 11;
  result.clients.push_back({.name = "reader"});
  const auto fields = fields_of(result);
  const std::pair<std::string_view, double> expected[] = {{"writes.intents", 40},
                                                          {"writes.applied", 20},
                                                          {"writes.not_applied", 10},
                                                          {"writes.needs_person", 8},
                                                          {"writes.open", 2},
                                                          {"writes.unknown_at_deadline", 16},
                                                          {"writes.resolved_later", 12},
                                                          {"writes.needs_person_share", 0.2},
                                                          {"writes.open_share", 0.05},
                                                          {"writes.resolved_later_share", 0.75},
                                                          {"writes.by_proof.fenced", 7},
                                                          {"writes.by_proof.reply", 0},
                                                          {"checker.duplicates", 1},
                                                          {"checker.lost", 2},
                                                          {"checker.guesses", 3},
                                                          {"checker.reversals", 4},
                                                          {"checker.unfaithful", 5},
                                                          {"checker.leaks", 6},
                                                          {"checker.changed", 7},
                                                          {"checker.unpersisted", 8},
                                                          {"checker.unresolved", 9},
                                                          {"checker.findings", 45},
                                                          {"clients.shop.writes.applied", 20},
                                                          {"clients.shop.checker.findings", 11}};
  for (const auto& [name, value] : expected) EXPECT_EQ(value_of(fields, name), value) << name;
  const auto none = [](const std::vector<ResultField>& list, std::string_view part) {
    return std::ranges::none_of(
        list, [&](const ResultField& field) { return field.name.find(part) != std::string::npos; });
  };
  EXPECT_TRUE(none(fields, "by_proof.none"));
  EXPECT_TRUE(none(fields, "clients.reader.writes"));
  EXPECT_TRUE(none(fields_of(hand_made(5)), "writes.") && none(fields_of(hand_made(5)), "checker."));
}

// Ten calls a second, this many of them answered; the fault ended at 2 s.
RunResult answered_by_second(const std::vector<std::uint64_t>& answered) {
  RunResult result;
  for (std::uint32_t second = 0; second < answered.size(); ++second)
    result.timeline.push_back({.second = second, .offered = 10, .goodput = answered[second]});
  result.faults_end = 2s;
  return result;
}

TEST(ResultFields, RecoveryIsTheFirstSecondFromWhichOnAllIsWell) {
  EXPECT_EQ(recovery_seconds(answered_by_second({10, 0, 0, 0, 10, 10, 10, 10, 10, 10})), 2.0);
  EXPECT_EQ(recovery_seconds(answered_by_second({10, 0, 10, 10, 10, 10, 10, 10, 10, 10})), 0.0);
  EXPECT_EQ(recovery_seconds(answered_by_second({10, 0, 10, 10, 10, 10, 8, 10, 10, 10})), 0.0)
      << "a bad second by chance is no relapse";
  EXPECT_EQ(recovery_seconds(answered_by_second({10, 0, 10, 10, 10, 0, 0, 10, 10, 10, 10, 10})), 5.0);
  EXPECT_FALSE(recovery_seconds(answered_by_second({10, 0, 10, 10, 10, 10, 10, 10, 10, 0, 0})));
  RunResult drained = answered_by_second({10, 0, 10, 10, 10, 10, 10, 10});
  drained.timeline.push_back({.second = 8});
  EXPECT_EQ(recovery_seconds(drained), 0.0) << "seconds in which no call begins are none of its";
  drained.faults_end.reset();
  EXPECT_FALSE(recovery_seconds(drained));
}

TEST(ResultFields, AreShownForPeople) {
  EXPECT_EQ(shown_value({"a", FieldUnit::share, 0.992, false}), "99.2 %");
  EXPECT_EQ(shown_value({"a", FieldUnit::milliseconds, 12.0, false}), "12 ms");
  EXPECT_EQ(shown_value({"a", FieldUnit::count, 1204.0, false}), "1,204");
  EXPECT_EQ(shown_value({"a", FieldUnit::flag, 1.0, false}), "yes");
  EXPECT_EQ(shown_value({"a", FieldUnit::seconds, std::nullopt, true}), "never");
  EXPECT_EQ(shown_value({"a", FieldUnit::seconds, std::nullopt, false}), "none");
}

TEST(Expectations, CompareAsTheySay) {
  const RunResult result = hand_made(0);
  const double answered = 50;
  const struct {
    Relation comparison;
    bool below, at, above;  // Whether 50 meets a limit below it, at it, above it.
  } rules[] = {{Relation::less, false, false, true},    {Relation::at_most, false, true, true},
               {Relation::equal, false, true, false},   {Relation::not_equal, true, false, true},
               {Relation::at_least, true, true, false}, {Relation::greater, true, false, false},
               {Relation::within, false, true, false}};
  for (const auto& rule : rules) {
    EXPECT_EQ(holds(expecting("calls.answered", rule.comparison, answered - 1), result), rule.below);
    EXPECT_EQ(holds(expecting("calls.answered", rule.comparison, answered), result), rule.at);
    EXPECT_EQ(holds(expecting("calls.answered", rule.comparison, answered + 1), result), rule.above);
  }
}

TEST(Expectations, AQuantilePastAllAnswersIsLongerThanAnyTime) {
  EXPECT_TRUE(holds(expecting("latency.p99_ms", Relation::greater, 1e12), hand_made(0)));
  EXPECT_FALSE(holds(expecting("latency.p99_ms", Relation::at_most, 1e12), hand_made(0)));
  EXPECT_TRUE(holds(expecting("latency.p50_ms", Relation::at_most, 12), hand_made(0)));
}

TEST(Expectations, AValueThatIsNotThereMeetsNoExpectation) {
  RunResult result = hand_made(0);
  result.replicas[0].timeout_rate.reset();
  EXPECT_FALSE(holds(expecting("replicas.d.timeout_rate", Relation::at_most, 1), result));
  EXPECT_FALSE(holds(expecting("replicas.d.timeout_rate", Relation::at_least, 0), result));
  EXPECT_TRUE(holds(expecting("replicas.d.probe_ok", Relation::equal, 1), result));
}

TEST(Expectations, WhereNoFaultCameThereIsNothingToRecoverFrom) {
  RunResult calm = answered_by_second({10, 10, 10, 10, 10, 10});
  calm.faults_end.reset();
  EXPECT_TRUE(holds(expecting("recovery_s", Relation::at_most, 1), calm));
  EXPECT_FALSE(value_of(fields_of(calm), "recovery_s"));
  RunResult never = answered_by_second({10, 10, 0, 0, 0, 0});
  never.fault_came = true;
  EXPECT_FALSE(holds(expecting("recovery_s", Relation::at_most, 1), never));
}

TEST(Expectations, AWindowLooksAtItsSecondsAlone) {
  Expectation expectation = expecting("timeline.goodput_share", Relation::at_least, 0.95);
  EXPECT_FALSE(holds(expectation, hand_made(0)));
  expectation.from_s = 4;
  EXPECT_TRUE(holds(expectation, hand_made(0)));
  expectation.to_s = 6;
  EXPECT_EQ(text_of(expectation), "timeline.goodput_share as said from 4 s to 6 s");
}

TEST(Expectations, TheNamesOfAScenarioAreThoseOfItsRuns) {
  Scenario scenario;
  scenario.clients.push_back({.name = "web"});
  scenario.services.push_back({.name = "orders", .replicas = {"a", "b"}});
  scenario.services.push_back({.name = "stock", .replicas = {"a"}});
  const auto fields = fields_of(empty_result_of(scenario));
  EXPECT_FALSE(value_of(fields, "clients.web.latency.p99_ms"));
  EXPECT_EQ(value_of(fields, "services.stock.executions"), 0);
  EXPECT_EQ(value_of(fields, "replicas.orders.b.queue_max"), 0);
}

}  // namespace
}  // namespace overdue
