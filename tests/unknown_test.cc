// Every scenario of scenarios/unknown/: ours ends clean on seeds nobody chose, and each wrong client or
// server that a file's comment names does the damage it is said to do.
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <ostream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "overdue/cli/scenario_loading.h"
#include "overdue/simulated/expectation.h"
#include "overdue/simulated/result_fields.h"
#include "overdue/simulated/run.h"

namespace overdue {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kSeeds = 20;

// "# Wrong client: --set KEY=VALUE --set KEY=VALUE => FIELD"
struct Wrong {
  std::string path;
  std::vector<std::string> sets;
  std::string field;
};

void PrintTo(const Wrong& wrong, std::ostream* out) { *out << wrong.path << " => " << wrong.field; }

std::vector<std::string> unknown_paths() {
  std::vector<std::string> paths;
  for (const auto& entry : fs::directory_iterator("scenarios/unknown")) {
    if (entry.path().extension() == ".toml") paths.push_back(entry.path().string());
  }
  std::ranges::sort(paths);
  return paths;
}

std::vector<Wrong> wrongs_of(const std::string& path) {
  constexpr std::string_view kSet = "--set ", kColon = ": ", kArrow = " => ";
  std::vector<Wrong> wrongs;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    const std::size_t arrow = line.find(kArrow);
    if (!line.starts_with("# Wrong") || arrow == std::string::npos) continue;
    Wrong wrong{.path = path, .sets = {}, .field = line.substr(arrow + kArrow.size())};
    std::size_t at = line.find(kColon) + kColon.size();
    while (line.compare(at, kSet.size(), kSet) == 0) {
      at += kSet.size();
      const std::size_t end = std::min(line.find(" " + std::string(kSet), at), arrow);
      wrong.sets.push_back(line.substr(at, end - at));
      at = end + 1;
    }
    wrongs.push_back(std::move(wrong));
  }
  return wrongs;
}

std::vector<Wrong> all_wrongs() {
  std::vector<Wrong> all;
  for (const std::string& path : unknown_paths()) {
    for (Wrong& wrong : wrongs_of(path)) all.push_back(std::move(wrong));
  }
  return all;
}

std::string letters_of(const std::string& text) {
  std::string name;
  for (const char letter : text) {
    if (std::isalnum(static_cast<unsigned char>(letter)) != 0) name += letter;
  }
  return name;
}

double sum_over_seeds(const std::string& path, const std::vector<std::string>& sets,
                      const std::string& name) {
  const auto scenario = load_scenario({.path = path, .sets = sets, .policy = {}});
  EXPECT_TRUE(scenario) << scenario.error().message;
  if (!scenario) return 0;
  double sum = 0;
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    const std::vector<ResultField> fields = fields_of(run(*scenario, {.seed = seed}));
    const auto found = std::ranges::find(fields, name, &ResultField::name);
    if (found == fields.end()) {
      ADD_FAILURE() << name << " is no field";
      return 0;
    }
    sum += found->value.value_or(0);
  }
  return sum;
}

class UnknownOutcome : public testing::TestWithParam<std::string> {};

TEST_P(UnknownOutcome, EndsCleanOnSeedsNobodyChoseAndRunsAlikeTwice) {
  const auto scenario = load_scenario({.path = GetParam(), .sets = {}, .policy = {}});
  ASSERT_TRUE(scenario) << scenario.error().message;
  EXPECT_FALSE(scenario->about.empty());
  for (std::uint64_t seed = 20'261'130; seed < 20'261'130 + kSeeds; ++seed) {
    const RunResult result = run(*scenario, {.seed = seed});
    for (const ExpectationResult& one : judge(*scenario, result))
      EXPECT_TRUE(one.held) << "seed " << seed << ": " << one.text << ", it is " << one.shown;
  }
  EXPECT_EQ(run(*scenario, {.seed = 1}).hash, run(*scenario, {.seed = 1}).hash);
  EXPECT_NE(run(*scenario, {.seed = 1}).hash, run(*scenario, {.seed = 2}).hash);
}

INSTANTIATE_TEST_SUITE_P(Scenarios, UnknownOutcome, testing::ValuesIn(unknown_paths()),
                         [](const auto& one) { return letters_of(fs::path(one.param).stem().string()); });

class WrongOne : public testing::TestWithParam<Wrong> {};

TEST_P(WrongOne, DoesTheDamageThatItsFileNames) {
  const Wrong& wrong = GetParam();
  ASSERT_FALSE(wrong.sets.empty());
  const double damage = sum_over_seeds(wrong.path, wrong.sets, wrong.field);
  EXPECT_GT(damage, sum_over_seeds(wrong.path, {}, wrong.field));
}

INSTANTIATE_TEST_SUITE_P(Scenarios, WrongOne, testing::ValuesIn(all_wrongs()), [](const auto& one) {
  return letters_of(fs::path(one.param.path).stem().string()) + std::to_string(one.index) +
         letters_of(one.param.field);
});

// Worlds that once broke, or accused a right client and server; each file says how. They stay.
TEST(UnknownOutcomes, WorldsThatOnceFailedEndClean) {
  std::size_t files = 0;
  for (const auto& entry : fs::directory_iterator("tests/unknown")) {
    SCOPED_TRACE(entry.path().string());
    const auto scenario = load_scenario({.path = entry.path().string(), .sets = {}, .policy = {}});
    ASSERT_TRUE(scenario) << scenario.error().message;
    ++files;
    for (std::uint64_t seed = 1; seed <= kSeeds; ++seed)
      EXPECT_EQ(run(*scenario, {.seed = seed}).checker.all(), 0U) << "seed " << seed;
  }
  EXPECT_GE(files, 5U);
}

TEST(UnknownOutcomes, EveryFileButThePlainOneNamesItsRowAndSomebodyWrong) {
  EXPECT_GE(unknown_paths().size(), 21U);
  for (const std::string& path : unknown_paths()) {
    std::ifstream file(path);
    std::string first;
    std::getline(file, first);
    EXPECT_TRUE(fs::path(path).stem() == "plain" || first.starts_with("# Row")) << path;
    EXPECT_FALSE(wrongs_of(path).empty()) << path;
  }
}

}  // namespace
}  // namespace overdue
