// Every scenario of scenarios/: the same seed gives the same run, and what it expects holds on seeds it was
// not made on.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "overdue/cli/scenario_loading.h"
#include "overdue/simulated/expectation.h"
#include "overdue/simulated/run.h"
#include "tests/command_line.h"

namespace overdue {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> scenario_paths() {
  std::vector<std::string> paths;
  for (const auto& entry : fs::directory_iterator("scenarios")) {
    if (entry.path().extension() == ".toml") paths.push_back(entry.path().string());
  }
  std::ranges::sort(paths);
  return paths;
}

class EveryScenario : public testing::TestWithParam<std::string> {};

void expect_all_held(const Scenario& scenario, const RunResult& result) {
  for (const ExpectationResult& one : judge(scenario, result))
    EXPECT_TRUE(one.held) << "seed " << result.seed << ": " << one.text << ", it is " << one.shown;
}

TEST_P(EveryScenario, RunsAlikeTwiceAndHoldsOnAnotherSeed) {
  const auto scenario = load_scenario({.path = GetParam(), .sets = {}, .policy = {}});
  ASSERT_TRUE(scenario) << scenario.error().message;
  ASSERT_TRUE(scenario->seed) << "a scenario of ours names its seed";
  EXPECT_FALSE(scenario->about.empty());
  EXPECT_FALSE(scenario->expectations.empty());
  const RunResult first = run(*scenario, {.seed = *scenario->seed});
  const RunResult second = run(*scenario, {.seed = *scenario->seed});
  EXPECT_EQ(first.hash, second.hash);
  EXPECT_EQ(first.events, second.events);
  expect_all_held(*scenario, first);
  const RunResult other = run(*scenario, {.seed = 20'261'130});
  EXPECT_NE(other.hash, first.hash);
  expect_all_held(*scenario, other);
}

std::string name_of(const testing::TestParamInfo<std::string>& info) {
  std::string name;
  for (const char letter : fs::path(info.param).stem().string()) {
    if (std::isalnum(static_cast<unsigned char>(letter)) != 0) name += letter;
  }
  return name;
}

INSTANTIATE_TEST_SUITE_P(Scenarios, EveryScenario, testing::ValuesIn(scenario_paths()), name_of);

TEST(Scenarios, EverySubjectOfTheDocumentHasItsFile) {
  for (const char* name : {"lesson",
                           "queue-mm1",
                           "queue-mmc",
                           "queue-mg1",
                           "four-failures",
                           "two-orders",
                           "eager-timeout",
                           "dead-host",
                           "overload-loop",
                           "overload-loop-budget",
                           "overload-loop-queue",
                           "overload-loop-both",
                           "load-shift",
                           "budget-chain",
                           "cancellation",
                           "correlated-pauses",
                           "retry-layers",
                           "fail-slow-cascade",
                           "half-broken",
                           "one-way-partition"})
    EXPECT_TRUE(fs::exists(std::string("scenarios/") + name + ".toml")) << name;
}

// Seeds that once failed, each with what was wrong. They stay.
TEST(Scenarios, SeedsThatOnceFailedHold) {
  const struct {
    const char* path;
    std::uint64_t seed;
    const char* reason;
  } kept[] = {
      {"scenarios/overload-loop-both.toml", 2001,
       "a second in which the short queue overflowed by chance was taken for a relapse, 35 s after the "
       "fault"},
      {"scenarios/load-shift.toml", 1023,
       "at 96 % load the overload may come later than anyone looks: 98 % now"},
      {"scenarios/load-shift.toml", 1041, "the same"},
  };
  for (const auto& one : kept) {
    const auto scenario = load_scenario({.path = one.path, .sets = {}, .policy = {}});
    ASSERT_TRUE(scenario) << scenario.error().message;
    SCOPED_TRACE(one.reason);
    expect_all_held(*scenario, run(*scenario, {.seed = one.seed}));
  }
}

// Two independent programs of one model: the lesson's formula, call by call, and the world, event by event.
TEST(Scenarios, TheLessonEventByEventAgreesWithTheLessonsFormula) {
  const CommandResult fast = run_overdue("lesson --fast --seed 5 --calls 400000 --sample 400000 --json");
  ASSERT_EQ(fast.status, 0) << fast.err;
  const auto lesson = nlohmann::json::parse(fast.out);
  const auto scenario = load_scenario({.path = "scenarios/lesson.toml", .sets = {}, .policy = {}});
  ASSERT_TRUE(scenario) << scenario.error().message;
  const RunResult result = run(*scenario, {.seed = 5});
  const auto& callers = *std::ranges::find(result.clients, "callers", &ClientResult::name);
  const auto share = [&](std::uint64_t part) {
    return static_cast<double>(part) / static_cast<double>(callers.calls.total);
  };
  // Five standard errors of the difference. The lesson's timeout is its own sample's p99.9, within 3 ms of
  // ours, which moves 0.02 * 3 / 360 of the calls.
  const auto expect_near = [&](double simulated, double computed, double moved) {
    const double calls = static_cast<double>(callers.calls.total);
    EXPECT_NEAR(simulated, computed, moved + 5 * std::sqrt(computed * (1 / calls + 1 / 400'000.0)));
  };
  const auto& row = lesson["timeouts"][3];
  const double moved = 0.02 * 3 / 360;
  expect_near(share(callers.ledger.timed_out_applied), row["timed_out_applied"], moved);
  expect_near(share(callers.ledger.timed_out_not_applied), row["timed_out_not_applied"], 0);
  const auto& dashboard = *std::ranges::find(result.clients, "dashboard", &ClientResult::name);
  const double p50 = static_cast<double>(dashboard.latency[0].answered.value_or(Duration{}).count()) / 1e6;
  EXPECT_NEAR(p50, lesson["timeouts"][0]["timeout_ms"].get<double>(), 0.2);
}

}  // namespace
}  // namespace overdue
