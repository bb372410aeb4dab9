// What is forgotten of writes while a run goes on changes nothing of its result.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "overdue/cli/scenario_loading.h"
#include "overdue/report/simulation_report.h"
#include "overdue/simulated/run.h"

namespace overdue {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

constexpr std::size_t kNothing = std::numeric_limits<std::size_t>::max();

std::string result_of(const Scenario& scenario, RunOptions options, std::size_t kept_min) {
  options.writes_kept_min = kept_min;
  return simulation_json(
      {.about = scenario.about, .run = run(scenario, options), .expectations = {}, .cut_short = false});
}

// With what is wrong by the policy alone: there the checker has something to find.
std::vector<std::pair<std::string, std::vector<std::string>>> worlds() {
  std::vector<std::pair<std::string, std::vector<std::string>>> worlds;
  for (const char* folder : {"scenarios/unknown", "tests/unknown"}) {
    for (const auto& entry : fs::directory_iterator(folder)) {
      if (entry.path().extension() == ".toml") worlds.push_back({entry.path().string(), {}});
    }
  }
  std::ranges::sort(worlds);
  worlds.push_back({"scenarios/two-orders.toml", {}});
  const std::string unknown = "scenarios/unknown/";
  worlds.push_back({unknown + "key-expires.toml",
                    {"service.orders.store.retention=400ms", "service.orders.store.expired=deleted"}});
  worlds.push_back(
      {unknown + "not-found-is-no-end.toml",
       {"dependency.orders.write.not_found=fenced", "dependency.orders.write.fence=\"POST /{key}/fence\""}});
  worlds.push_back({unknown + "late-failure.toml",
                    {"dependency.orders.errors.recorded_rejection=[\"402\",\"429\"]",
                     "dependency.orders.errors.nothing_happened=[]"}});
  return worlds;
}

TEST(ForgottenWrites, LeaveEveryResultAsItWere) {
  bool found = false;
  for (const auto& [path, sets] : worlds()) {
    const auto scenario = load_scenario({.path = path, .sets = sets, .policy = {}});
    ASSERT_TRUE(scenario) << scenario.error().message;
    for (std::uint64_t seed = 1; seed <= 8; ++seed) {
      SCOPED_TRACE(path + ", seed " + std::to_string(seed));
      RunOptions options{.seed = seed};
      const std::string whole = result_of(*scenario, options, kNothing);
      EXPECT_EQ(result_of(*scenario, options, 1), whole);
      EXPECT_EQ(result_of(*scenario, options, 50), whole);
      found = found || whole.find("\"first\": [\n") != std::string::npos;
      options.until = 1500ms;
      EXPECT_EQ(result_of(*scenario, options, 1), result_of(*scenario, options, kNothing));
    }
  }
  EXPECT_TRUE(found) << "some of these are wrong";
}

}  // namespace
}  // namespace overdue
