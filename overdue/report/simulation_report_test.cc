#include "overdue/report/simulation_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <initializer_list>
#include <nlohmann/json.hpp>
#include <sstream>

namespace overdue {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;
using testing::Not;

SimulationReport hand_made() {
  SimulationReport report{.about = "Shows a thing.", .run = {}, .expectations = {}, .cut_short = false};
  RunResult& run = report.run;
  run.scenario = "load";
  run.seed = 7;
  run.hash = 0xabc;
  run.events = 1'234'567;
  run.ended_at = 31s;
  run.calls = {.total = 1000, .answered = 900, .rejected = 40, .not_sent = 10, .unknown = 50, .open = 0};
  run.ledger = {.intents = 1000,
                .applied_once = 880,
                .duplicates = 45,
                .lost = 75,
                .timed_out_applied = 30,
                .timed_out_not_applied = 20,
                .executions = 1020};
  run.offered_per_second = 33.3;
  run.attempts_per_call = 1.25;
  run.goodput = 0.9;
  run.wasted_work = 0.125;
  run.latency = {{Quantile{0.5}, 12ms, 11ms}, {Quantile{0.999}, std::nullopt, 300ms}};
  run.clients.push_back({.name = "web", .calls = run.calls, .ledger = run.ledger, .latency = run.latency});
  run.links.push_back({.name = "orders",
                       .calls = 1000,
                       .attempts = 1250,
                       .retries = 250,
                       .connect_failures = 3,
                       .connect_failure_median = 200ms});
  run.services.push_back({.name = "orders", .arrivals = 1240, .executions = 1020, .queue_max = 17});
  run.replicas.push_back({.service = "orders", .name = "c", .probe_ok = std::nullopt, .traffic_share = 0.5});
  run.replicas.push_back({.service = "orders",
                          .name = "d",
                          .probe_ok = true,
                          .median = 62ms,
                          .timeout_rate = 0.024,
                          .traffic_share = 0.5});
  for (std::uint32_t second = 0; second < 3; ++second)
    run.timeline.push_back(
        {.second = second, .offered = 100, .goodput = second == 1 ? 25U : 100U, .queue = second});
  report.expectations = {{"load.goodput >= 95%", false, 0.9, "90.0 %", "Because."},
                         {"latency.p999_ms > 1s", true, std::nullopt, "never", ""}};
  return report;
}

TEST(SimulationJson, HasTheFieldsItPromises) {
  const auto json = nlohmann::json::parse(simulation_json(hand_made()));
  EXPECT_EQ(json["schema"], "overdue.simulation/1");
  EXPECT_EQ(json["scenario"], "load");
  EXPECT_EQ(json["seed"], 7);
  EXPECT_EQ(json["hash"], "0000000000000abc");
  EXPECT_EQ(json["events"], 1'234'567);
  EXPECT_EQ(json["calls"]["not_sent"], 10);
  EXPECT_EQ(json["ledger"]["timed_out_applied"], 30);
  EXPECT_DOUBLE_EQ(json["ledger"]["executions_per_intent"], 1.02);
  EXPECT_DOUBLE_EQ(json["load"]["wasted_work"], 0.125);
  EXPECT_EQ(json["latency"][0]["ms"], 12.0);
  EXPECT_TRUE(json["latency"][1]["ms"].is_null()) << "past all answers is no number";
  EXPECT_EQ(json["latency"][1]["answered_ms"], 300.0);
  EXPECT_EQ(json["replicas"][1]["name"], "d");
  EXPECT_EQ(json["replicas"][1]["probe_ok"], true);
  EXPECT_TRUE(json["replicas"][0]["probe_ok"].is_null());
  EXPECT_TRUE(json["replicas"][0]["ejected_at_s"].is_null());
  EXPECT_EQ(json["timeline"][1]["s"], 1);
  EXPECT_EQ(json["timeline"][1]["goodput"], 25);
  EXPECT_EQ(json["expectations"][0]["held"], false);
  EXPECT_EQ(json["expectations"][0]["value"], 0.9);
  EXPECT_TRUE(json["expectations"][1]["value"].is_null());
}

TEST(SimulationJson, NamesAReplicaWithItsServiceWhereThereAreSeveral) {
  SimulationReport report = hand_made();
  report.run.services.push_back({.name = "stock"});
  const auto json = nlohmann::json::parse(simulation_json(report));
  EXPECT_EQ(json["replicas"][1]["name"], "orders.d");
}

TEST(SimulationText, SaysWhatCallersSawAndWhatReallyHappened) {
  const std::string text = simulation_text(hand_made(), {});
  EXPECT_THAT(text, HasSubstr("load, seed 7: 1,000 calls in 31 s, 1,234,567 events, hash 0000000000000abc"));
  EXPECT_THAT(text, HasSubstr("Shows a thing."));
  EXPECT_THAT(text, HasSubstr("none: that share of the calls never got an answer"));
  EXPECT_THAT(text, HasSubstr("caller told unknown, applied"));
  EXPECT_THAT(text, HasSubstr("goodput 90.0 %, wasted work 12.5 %"));
  EXPECT_THAT(text, HasSubstr("orders: 3 connects failed, the median after 200 ms"));
  EXPECT_THAT(text, HasSubstr("FAILED  load.goodput >= 95%: 90.0 %"));
  EXPECT_THAT(text, HasSubstr("held    latency.p999_ms > 1s: never"));
  EXPECT_THAT(text, Not(HasSubstr("\x1b")));
}

TEST(SimulationText, OneCallIsACall) {
  SimulationReport report = hand_made();
  report.run.calls.total = 1;
  EXPECT_THAT(simulation_text(report, {}), HasSubstr("load, seed 7: 1 call in 31 s"));
}

TEST(SimulationText, DrawsASecondARowInTheScaleOfTheBusiest) {
  const std::string text = simulation_text(hand_made(), {});
  EXPECT_THAT(text, HasSubstr("  0  ########################  "));
  EXPECT_THAT(text, HasSubstr("  1  ######..................  "));
}

TEST(SimulationText, JoinsSecondsWhereThereAreManyAndLosesNone) {
  SimulationReport report = hand_made();
  report.run.timeline.clear();
  for (std::uint32_t second = 0; second < 100; ++second)
    report.run.timeline.push_back(
        {.second = second, .offered = 1000 + second, .goodput = 1000, .queue = second});
  const std::string text = simulation_text(report, {});
  EXPECT_THAT(text, HasSubstr("every 3 seconds"));
  EXPECT_THAT(text, HasSubstr("3,003"));  // 1000 + 1001 + 1002.
  EXPECT_THAT(text, HasSubstr(" 99  "));
}

TEST(SimulationText, ShowsEachSecondOfThoseItJoinsInTenthsOfTheMost) {
  SimulationReport report = hand_made();
  report.run.timeline.clear();
  for (std::uint32_t second = 0; second < 62; ++second)
    report.run.timeline.push_back({.second = second, .offered = second == 61 ? 1000U : 99 + second % 2});
  const std::string text = simulation_text(report, {});
  EXPECT_THAT(text, HasSubstr("\n  s         most  0         10        20        30        40        50\n"));
  std::string dots;
  for (int i = 0; i < 30; ++i) dots += ".1";  // 99 of 1000 are less than a tenth, 100 are one.
  EXPECT_THAT(text, HasSubstr("\n  offered  1,000  " + dots + "\n"));
  EXPECT_THAT(text, HasSubstr("\n  s         most  60\n  offered  1,000  .9\n"))
      << "and no timeouts, so no line";
  report.run.timeline.resize(30);
  EXPECT_THAT(simulation_text(report, {}), Not(HasSubstr("in tenths"))) << "each has a row of its own";
  report.run.timeline.assign(241, {.offered = 3});
  EXPECT_THAT(simulation_text(report, {}), Not(HasSubstr("in tenths")));
}

std::vector<TimelineRow> seconds_with_calls(std::initializer_list<std::uint32_t> busy) {
  std::vector<TimelineRow> timeline(busy.end()[-1] + 1);
  for (std::uint32_t second = 0; second < timeline.size(); ++second) timeline[second].second = second;
  for (const std::uint32_t second : busy) timeline[second].retries = 7;
  return timeline;
}

std::string timeline_of(const SimulationReport& report) {
  const std::string text = simulation_text(report, {});
  const std::size_t begins = text.find("# answered, . offered");
  return text.substr(begins, text.find("\n\n", begins) - begins);
}

TEST(SimulationText, FoldsAStretchInWhichNothingHappens) {
  SimulationReport report = hand_made();
  report.run.timeline = seconds_with_calls({0, 1, 2, 7, 2184});
  const std::string text = timeline_of(report);
  EXPECT_THAT(simulation_text(report, {}), HasSubstr("second by second"));
  EXPECT_EQ(std::ranges::count(text, '\n'), 1 + 8 + 2) << "0 to 7, nothing, 2184\n" << text;
  EXPECT_THAT(text, HasSubstr("\n     8  nothing until 2,184 s\n"));
  EXPECT_THAT(text, HasSubstr("\n  2184  "));
  EXPECT_THAT(text, HasSubstr("\n     6 ")) << "four seconds are shown as they are";
}

TEST(SimulationText, EndsTheTimelineWithTheLastThingThatItShows) {
  SimulationReport report = hand_made();
  report.run.timeline = seconds_with_calls({0, 1, 90});
  report.run.timeline[90] = {.second = 90, .attempts = 1};
  const std::string text = timeline_of(report);
  EXPECT_THAT(text, Not(HasSubstr("nothing")));
  EXPECT_THAT(text, Not(HasSubstr("90")));
}

TEST(SimulationText, KeepsTheTimelineShortHoweverItIsSpread) {
  SimulationReport report = hand_made();
  for (const std::uint32_t gap : {1U, 2U, 6U, 7U, 50U}) {
    report.run.timeline.assign(9000, {});
    for (std::uint32_t second = 0; second < 9000; ++second)
      report.run.timeline[second] = {.second = second, .retries = second % gap == 0 ? 1U : 0U};
    EXPECT_LE(std::ranges::count(timeline_of(report), '\n'), 42) << gap;
  }
}

TEST(SimulationText, SaysOfHowManyCallsTheSharesAreWhereSomeAreOpen) {
  SimulationReport report = hand_made();
  EXPECT_THAT(simulation_text(report, {}), Not(HasSubstr("open")));
  report.run.calls.open = 40;
  EXPECT_THAT(simulation_text(report, {}),
              HasSubstr("  open: had not ended when the run did; shares, quantiles and goodput are of the "
                        "other 960\n"));
}

TEST(SimulationText, HasAColumnForEachWayInWhichAnAttemptEnded) {
  SimulationReport report = hand_made();
  LinkResult& link = report.run.links[0];
  EXPECT_THAT(simulation_text(report, {}), Not(HasSubstr("abandoned")));
  link.endings[static_cast<std::size_t>(Ending::abandoned)] = 731;
  EXPECT_THAT(simulation_text(report, {}), HasSubstr("timed out  abandoned  false\n"));
  EXPECT_THAT(simulation_text(report, {}), HasSubstr(" 731 "));
  link.open = 19;
  EXPECT_THAT(simulation_text(report, {}), HasSubstr("timed out  abandoned  open  false\n"));
  const auto json = nlohmann::json::parse(simulation_json(report));
  EXPECT_EQ(json["links"][0]["endings"]["abandoned"], 731);
  EXPECT_EQ(json["links"][0]["open"], 19);
}

TEST(SimulationText, SaysWhichCallsAndRequestsOfWritesAreNoCallersOwn) {
  SimulationReport report = hand_made();
  EXPECT_THAT(simulation_text(report, {}), Not(HasSubstr("taken over")));
  report.run.links[0].taken_over = 3;
  report.run.links[0].ordered_again = 13;
  report.run.links[0].questions = 1039;
  EXPECT_THAT(
      simulation_text(report, {}),
      HasSubstr("  orders: calls taken over 3, ordered again 13; questions beside the attempts 1,039\n"));
  const auto json = nlohmann::json::parse(simulation_json(report));
  EXPECT_EQ(json["links"][0]["taken_over"], 3);
  EXPECT_EQ(json["links"][0]["ordered_again"], 13);
  EXPECT_EQ(json["links"][0]["questions"], 1039);
}

TEST(SimulationText, ACutRunIsNotJudged) {
  SimulationReport report = hand_made();
  report.expectations.clear();
  report.cut_short = true;
  EXPECT_THAT(simulation_text(report, {}), HasSubstr("expectations were not judged"));
}

TEST(SimulationText, ANameFromAFileReachesNoTerminalRaw) {
  SimulationReport report = hand_made();
  report.run.scenario = "a\x1b[31m";
  report.run.clients[0].name = "b\x07";
  const std::string text = simulation_text(report, {});
  EXPECT_THAT(text, Not(HasSubstr("\x1b")));
  EXPECT_THAT(text, Not(HasSubstr("\x07")));
}

SimulationReport with_writes() {
  SimulationReport report = hand_made();
  WriteCounts writes{.intents = 1000,
                     .applied = 950,
                     .not_applied = 30,
                     .needs_person = 15,
                     .open = 5,
                     .unknown_at_deadline = 60,
                     .resolved_later = 45};
  writes.by_proof[static_cast<std::size_t>(Proof::reply)] = 940;
  writes.by_proof[static_cast<std::size_t>(Proof::status_applied)] = 40;
  report.run.writes = writes;
  report.run.clients[0].writes = writes;
  return report;
}

void find(CheckCounts& checker, FindingKind kind, std::uint64_t count) {
  checker.found[static_cast<std::size_t>(kind)] = count;
}

TEST(SimulationJson, SaysWhatBecameOfWritesAndWhatTheCheckerFound) {
  SimulationReport report = with_writes();
  find(report.run.checker, FindingKind::loss, 2);
  find(report.run.checker, FindingKind::unresolved, 5);
  report.run.checker.first = {"intent 7 is lost"};
  const auto json = nlohmann::json::parse(simulation_json(report));
  EXPECT_EQ(json["writes"]["intents"], 1000);
  EXPECT_EQ(json["writes"]["applied"], 950);
  EXPECT_EQ(json["writes"]["not_applied"], 30);
  EXPECT_EQ(json["writes"]["needs_person"], 15);
  EXPECT_EQ(json["writes"]["open"], 5);
  EXPECT_EQ(json["writes"]["unknown_at_deadline"], 60);
  EXPECT_EQ(json["writes"]["resolved_later"], 45);
  EXPECT_EQ(json["writes"]["by_proof"]["reply"], 940);
  EXPECT_EQ(json["writes"]["by_proof"]["status_applied"], 40);
  EXPECT_EQ(json["writes"]["by_proof"].size(), kProofNames.size() - 1) << "all but none";
  EXPECT_EQ(json["checker"]["duplicates"], 0);
  EXPECT_EQ(json["checker"]["lost"], 2);
  EXPECT_EQ(json["checker"]["unresolved"], 5);
  EXPECT_EQ(json["checker"]["first"][0], "intent 7 is lost");
  EXPECT_EQ(json["clients"][0]["writes"]["applied"], 950);
  EXPECT_EQ(json["clients"][0]["checker"]["lost"], 0);
}

TEST(SimulationText, SaysHowManyWritesWereOrderedAgain) {
  SimulationReport report = with_writes();
  EXPECT_THAT(simulation_text(report, {}), Not(HasSubstr("ordered again")));
  report.run.writes->ordered_again = 11;
  EXPECT_THAT(simulation_text(report, {}), HasSubstr("  ordered again                11\n"));
  EXPECT_EQ(nlohmann::json::parse(simulation_json(report))["writes"]["ordered_again"], 11);
}

TEST(SimulationJson, HasNullWhereNoClientHasAJournal) {
  const auto json = nlohmann::json::parse(simulation_json(hand_made()));
  EXPECT_TRUE(json.at("writes").is_null());
  EXPECT_TRUE(json.at("checker").is_null());
  EXPECT_TRUE(json["clients"][0].at("writes").is_null());
  EXPECT_TRUE(json["clients"][0].at("checker").is_null());
}

TEST(SimulationText, SaysWhatBecameOfWrites) {
  const std::string text = simulation_text(with_writes(), {});
  EXPECT_THAT(text, HasSubstr("a person must look           15  1.50 %"));
  EXPECT_THAT(text, HasSubstr("of those resolved later      45  75.0 %"));
  EXPECT_THAT(text, HasSubstr("  by proof: reply 940, status applied 40\n"));
  EXPECT_THAT(text, HasSubstr("  checker: no duplicate, no loss, no guess\n"));
  EXPECT_THAT(text, Not(HasSubstr("\x1b")));
  EXPECT_THAT(simulation_text(hand_made(), {}), Not(HasSubstr("checker")));
}

TEST(SimulationText, SaysWhatTheCheckerFoundInRedOnATerminalAndNoNameRaw) {
  SimulationReport report = with_writes();
  find(report.run.checker, FindingKind::duplicate, 1);
  find(report.run.checker, FindingKind::guess, 3);
  report.run.checker.first = {"a\x1b[2J twice"};
  EXPECT_THAT(simulation_text(report, {}),
              testing::AllOf(HasSubstr("  checker: 1 duplicate, 3 guesses\n    a"), Not(HasSubstr("\x1b"))));
  EXPECT_THAT(simulation_text(report, {.colours = true, .width = 80}),
              HasSubstr("\x1b[31m1 duplicate, 3 guesses\x1b[0m"));
}

SeedsReport twenty_seeds() {
  SeedsReport report{
      .scenario = "load", .about = "", .seed_first = 1, .seed_last = 20, .runs = 20, .held = 18};
  report.wilson_low = 0.699;
  report.wilson_high = 0.972;
  report.failed_seeds = {3, 11};
  report.reproduce = "overdue simulate load.toml --seed 3";
  SeedsReport::Row row;
  row.text = "load.goodput >= 95%";
  row.held = 18;
  row.low_shown = "90.0 %";
  row.median_shown = "96.0 %";
  row.high_shown = "99.0 %";
  row.low = 0.9;
  row.median = 0.96;
  row.high = 0.99;
  report.expectations = {row};
  return report;
}

TEST(SimulationsReport, NamesTheFailedSeedsAndHowToSeeThem) {
  const std::string text = simulations_text({twenty_seeds()}, {});
  EXPECT_THAT(text, HasSubstr("FAILED  load: on 18 of 20 seeds (1 to 20), 95 % interval 69.9 % to 97.2 %"));
  EXPECT_THAT(text, HasSubstr("fails on 2"));
  EXPECT_THAT(text,
              HasSubstr("failed seeds: 3, 11\n  to see the first: overdue simulate load.toml --seed 3"));
  EXPECT_THAT(text, Not(HasSubstr("stopped")));
}

TEST(SimulationsReport, OneSeedHasNoInterval) {
  SeedsReport report = twenty_seeds();
  report.seed_last = report.seed_first;
  report.runs = 1;
  report.held = 1;
  report.failed_seeds.clear();
  EXPECT_THAT(simulations_text({report}, {}), testing::StartsWith("held    load: on seed 1\n"));
}

TEST(SimulationsReport, OfSeveralScenariosOnlyWhatFailedIsToldInFull) {
  SeedsReport fine = twenty_seeds();
  fine.held = 20;
  fine.expectations[0].held = 20;
  fine.failed_seeds.clear();
  const std::string text = simulations_text({fine, twenty_seeds()}, {});
  EXPECT_EQ(text.find("load.goodput"), text.rfind("load.goodput"));
  EXPECT_THAT(text, HasSubstr("fails on 2"));
}

TEST(SimulationsReport, SaysWhenItWasStopped) {
  SeedsReport report = twenty_seeds();
  report.runs = 12;
  EXPECT_THAT(simulations_text({report}, {}), HasSubstr("stopped: the seeds that were finished by then"));
}

TEST(SimulationsReport, IsOneRowAScenarioInJson) {
  const auto json = nlohmann::json::parse(simulations_json({twenty_seeds(), twenty_seeds()}, false));
  EXPECT_EQ(json["schema"], "overdue.simulations/1");
  EXPECT_EQ(json["interrupted"], false);
  EXPECT_EQ(nlohmann::json::parse(simulations_json({}, true))["interrupted"], true);
  ASSERT_EQ(json["runs"].size(), 2U);
  EXPECT_EQ(json["runs"][0]["scenario"], "load");
  EXPECT_EQ(json["runs"][0]["seeds"], 20);
  EXPECT_EQ(json["runs"][0]["held"], 18);
  EXPECT_EQ(json["runs"][0]["wilson"][1], 0.972);
  EXPECT_EQ(json["runs"][0]["failed_seeds"], nlohmann::json({3, 11}));
  EXPECT_EQ(json["runs"][0]["failed"], 2);
  EXPECT_EQ(json["seeds"], 40);
  EXPECT_EQ(json["held"], 36);
  EXPECT_TRUE(json["writes"].is_null());
  EXPECT_TRUE(json["runs"][0]["checker"].is_null());
}

SeedsReport twenty_seeds_of_writes() {
  SeedsReport report = twenty_seeds();
  report.writes = *with_writes().run.writes;
  find(report.checker, FindingKind::duplicate, 2);
  report.checker.first = {"seed 3: one", "seed 3: two", "seed 11: three"};
  return report;
}

TEST(SimulationsReport, SumsWritesAndFindings) {
  const std::vector<SeedsReport> reports = {twenty_seeds_of_writes(), twenty_seeds(),
                                            twenty_seeds_of_writes()};
  const auto json = nlohmann::json::parse(simulations_json(reports, false));
  EXPECT_EQ(json["writes"]["intents"], 2000);
  EXPECT_EQ(json["writes"]["by_proof"]["reply"], 1880);
  EXPECT_EQ(json["checker"]["duplicates"], 4);
  EXPECT_EQ(json["checker"]["first"],
            nlohmann::json({"load, seed 3: one", "load, seed 3: two", "load, seed 11: three",
                            "load, seed 3: one", "load, seed 3: two"}));
  EXPECT_EQ(json["runs"][0]["checker"]["duplicates"], 2);
  EXPECT_TRUE(json["runs"][1]["writes"].is_null());
  const std::string text = simulations_text(reports, {});
  EXPECT_THAT(text,
              HasSubstr("  writes: 1,000 intents, 950 applied, 30 not applied, 15 at a person, 5 open"));
  EXPECT_THAT(text,
              HasSubstr("\nall 3 scenarios: everything held in 54 of 60 runs\n  writes: 2,000 intents"));
  EXPECT_THAT(text, HasSubstr("  checker: 4 duplicates\n    load, seed 3: one\n"));
}

TEST(SimulationsReport, OfOneScenarioTheSumIsItsOwn) {
  const std::string text = simulations_text({twenty_seeds_of_writes()}, {});
  EXPECT_THAT(text, HasSubstr("  checker: 2 duplicates\n    seed 3: one\n"));
  EXPECT_THAT(text, Not(HasSubstr("all 1")));
}

TEST(SimulationsReport, ASummaryIsALineAScenarioAndTheSums) {
  const std::string text = simulations_text({twenty_seeds_of_writes(), twenty_seeds()}, {}, Detail::summary);
  EXPECT_THAT(text, Not(HasSubstr("over the seeds")));
  EXPECT_THAT(text, HasSubstr("failed seeds: 3, 11\n"));
  EXPECT_EQ(text.find("writes: 1,000"), text.rfind("writes: 1,000")) << "of the sum alone";
  EXPECT_THAT(text,
              HasSubstr("\nall 2 scenarios: everything held in 36 of 40 runs\n  writes: 1,000 intents"));
}

TEST(SimulationsReport, OfManyFailedSeedsSaysHowMany) {
  SeedsReport report = twenty_seeds();
  report.seed_last = report.runs = 10'000;
  report.held = 8'000;
  report.failed_seeds.clear();
  for (std::uint64_t seed = 1; seed <= 1000; ++seed) report.failed_seeds.push_back(seed);
  EXPECT_THAT(simulations_text({report}, {}), HasSubstr("19, 20, ... (2,000 in all)\n"));
}

}  // namespace
}  // namespace overdue
