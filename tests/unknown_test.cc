// Every scenario of scenarios/unknown/: ours ends clean on seeds nobody chose, and each wrong client or
// server that a file's comment names does the damage it is said to do.
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <ostream>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "overdue/cli/scenario_loading.h"
#include "overdue/simulated/expectation.h"
#include "overdue/simulated/result_fields.h"
#include "overdue/simulated/run.h"
#include "tests/command_line.h"
#include "tests/run_command.h"

namespace overdue {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

constexpr std::uint64_t kSeeds = 20;

// "# Wrong client, seen as FIELD:", and on the next line "#   overdue simulate PATH --seeds A..B --set ...".
struct Wrong {
  std::string path;
  std::string command;  // As it is pasted into a shell.
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
  constexpr std::string_view kSeenAs = ", seen as ", kIndent = "#   ";
  std::vector<Wrong> wrongs;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    const std::size_t seen = line.find(kSeenAs);
    if (!line.starts_with("# Wrong") || seen == std::string::npos || !line.ends_with(':')) continue;
    Wrong wrong{.path = path, .command = {}, .field = line.substr(seen + kSeenAs.size())};
    wrong.field.pop_back();
    if (std::getline(file, line) && line.starts_with(kIndent)) wrong.command = line.substr(kIndent.size());
    wrongs.push_back(std::move(wrong));
  }
  return wrongs;
}

// What the shell makes of it, word by word.
std::vector<std::string> words_of(const std::string& command) {
  return house::split_lines(
      house::run_command("for word in " + command + "; do printf '%s\\n' \"$word\"; done").output);
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

// "1, 27" is 1 and 27.
std::vector<std::string> numbers_of(const std::string& text) {
  std::vector<std::string> numbers;
  bool inside = false;
  for (const char letter : text) {
    const bool digit = std::isdigit(static_cast<unsigned char>(letter)) != 0;
    if (digit && !inside) numbers.emplace_back();
    if (digit) numbers.back() += letter;
    inside = digit;
  }
  return numbers;
}

// "# Rows 1 and 27. ...": up to the first full stop.
std::vector<std::string> rows_in(const std::string& path) {
  const std::string text = text_of_file(path);
  return numbers_of(text.substr(0, text.find('.')));
}

// Of those that do not begin so.
std::size_t longest_line(const std::string& path, std::string_view but) {
  std::size_t longest = 0;
  for (const std::string& line : house::split_lines(text_of_file(path))) {
    if (!line.starts_with(but)) longest = std::max(longest, line.size());
  }
  return longest;
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

// The very line is run as somebody would who pastes it.
TEST_P(WrongOne, DoesTheDamageThatItsFileNames) {
  const Wrong& wrong = GetParam();
  constexpr std::string_view kProgram = "overdue ";
  const std::vector<std::string> words = words_of(wrong.command);
  ASSERT_GE(words.size(), 5U) << wrong.command;
  EXPECT_EQ(words[0] + " " + words[1] + " " + words[2], "overdue simulate " + wrong.path);
  EXPECT_EQ(words[3] + " " + words[4], "--seeds 1..30");
  const CommandResult result = run_overdue(wrong.command.substr(kProgram.size()) + " --json");
  EXPECT_EQ(result.status, 1) << "what is expected of ours must fail with it\n" << result.err;
  ASSERT_FALSE(result.out.empty());
  const auto json = nlohmann::json::parse(result.out);
  EXPECT_EQ(json["seeds"], 30);
  const std::string part = wrong.field.substr(0, wrong.field.find('.'));
  // A bound on who ends at a person is near what ours does, and most runs of a wrong one are past it.
  const bool asks_people = wrong.field == "writes.needs_person";
  EXPECT_LT(json["held"], asks_people ? 10 : 30);
  if (json.contains(part)) {
    EXPECT_GT(json[part].at(wrong.field.substr(part.size() + 1)), 0);
    return;
  }
  std::vector<std::string> sets;
  for (std::size_t i = 5; i + 1 < words.size(); i += 2) {
    EXPECT_EQ(words[i], "--set");
    sets.push_back(words[i + 1]);
  }
  EXPECT_GT(sum_over_seeds(wrong.path, sets, wrong.field), sum_over_seeds(wrong.path, {}, wrong.field));
}

INSTANTIATE_TEST_SUITE_P(Scenarios, WrongOne, testing::ValuesIn(all_wrongs()), [](const auto& one) {
  return letters_of(fs::path(one.param.path).stem().string()) + std::to_string(one.index) +
         letters_of(one.param.field);
});

std::vector<std::string> with_two_orders() {
  std::vector<std::string> paths = unknown_paths();
  paths.emplace_back("scenarios/two-orders.toml");
  return paths;
}

// Whatever is sent after the deadline, or by a process that dies, included.
TEST(UnknownOutcomes, EveryAttemptHasOneEndOrIsStillWaitedFor) {
  std::uint64_t open = 0, questions = 0, taken_over = 0, ordered_again = 0;
  for (const std::string& path : with_two_orders()) {
    const auto scenario = load_scenario({.path = path, .sets = {}, .policy = {}});
    ASSERT_TRUE(scenario) << scenario.error().message;
    for (const Duration until : {Duration(3h), Duration(1500ms), Duration(2900ms)}) {
      for (std::uint64_t seed = 1; seed <= 3; ++seed) {
        const RunResult result = run(*scenario, {.seed = seed, .until = until});
        SCOPED_TRACE(path + ", seed " + std::to_string(seed) + ", until " + std::to_string(until.count()));
        std::uint64_t callers_own = 0;
        for (const LinkResult& link : result.links) {
          std::uint64_t ended = 0;
          for (const std::uint64_t count : link.endings) ended += count;
          EXPECT_EQ(ended + link.open, link.attempts);
          callers_own += link.calls - link.taken_over - link.ordered_again;
          open += link.open;
          questions += link.questions;
          taken_over += link.taken_over;
          ordered_again += link.ordered_again;
        }
        EXPECT_EQ(callers_own, result.calls.total);
      }
    }
  }
  EXPECT_GT(open, 0U);
  EXPECT_GT(questions, 0U);
  EXPECT_GT(taken_over, 0U);
  EXPECT_GT(ordered_again, 0U);
}

// A caller who is told no and orders again was told the truth, though the intent is applied in the end.
TEST(UnknownOutcomes, WhoIsToldNoIsNeverAppliedWithOursAndOrderingAgainIsNoLie) {
  std::uint64_t ordered_again = 0, told_no = 0;
  for (const std::string& path : unknown_paths()) {
    const auto ours = load_scenario({.path = path, .sets = {}, .policy = {}});
    ASSERT_TRUE(ours) << ours.error().message;
    for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
      const RunResult result = run(*ours, {.seed = seed});
      EXPECT_EQ(result.ledger.failed_applied, 0U) << path << ", seed " << seed;
      ordered_again += result.writes->ordered_again;
      told_no += result.calls.rejected + result.calls.not_sent;
    }
  }
  EXPECT_GT(told_no, 0U);
  EXPECT_GE(ordered_again, told_no);
}

TEST(UnknownOutcomes, WhoIsToldNoByALyingServerAndDoesNotOrderAgainIsCounted) {
  const auto lying = load_scenario(
      {.path = "scenarios/unknown/deadline-in-the-commit.toml",
       .sets = {"service.orders.store.wrong=not_executed_after_commit", "client.shop.journal.orders_again=0"},
       .policy = {}});
  ASSERT_TRUE(lying) << lying.error().message;
  std::uint64_t lies = 0;
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed)
    lies += run(*lying, {.seed = seed}).ledger.failed_applied;
  EXPECT_GT(lies, 0U);
}

TEST(UnknownOutcomes, ATraceSaysNotAppliedOfACallThatWasToldSo) {
  const auto scenario = load_scenario(
      {.path = "scenarios/unknown/plain.toml", .sets = {"service.orders.store.rejects=100%"}, .policy = {}});
  ASSERT_TRUE(scenario) << scenario.error().message;
  std::uint64_t not_applied = 0, without_answer = 0;
  const RunResult result = run(*scenario, {.seed = 1, .trace = [&](std::string_view line) {
                                             not_applied += line.ends_with(": not applied") ? 1U : 0U;
                                             without_answer +=
                                                 line.ends_with("ended without an answer") ? 1U : 0U;
                                           }});
  EXPECT_GE(not_applied, result.calls.rejected + result.calls.not_sent);
  EXPECT_GT(result.calls.rejected, 0U);
  EXPECT_LE(without_answer, result.writes->unknown_at_deadline);
}

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
    EXPECT_LE(longest_line(path, "#   "), 125U) << path;
  }
}

// The table of docs/unknown-outcomes.md: its first column names files, its second rows of the report, each in
// the way the file's own first line does.
TEST(UnknownOutcomes, TheTableOfTheDocumentNamesEveryFileOnceAndEachOfItsRows) {
  std::map<std::string, std::string> rows_of;
  std::set<std::string> seen;
  for (const std::string& line : house::split_lines(text_of_file("docs/unknown-outcomes.md"))) {
    constexpr std::string_view kBegins = "| [`";
    if (!line.starts_with(kBegins)) continue;
    const std::string name = line.substr(kBegins.size(), line.find('`', kBegins.size()) - kBegins.size());
    EXPECT_NE(line.find("(../scenarios/unknown/" + name + ".toml)"), std::string::npos) << line;
    const std::size_t begins = line.find(" | ") + 3;
    EXPECT_TRUE(rows_of.emplace(name, line.substr(begins, line.find(" |", begins - 1) - begins)).second)
        << name << " stands there twice";
  }
  for (const std::string& path : unknown_paths()) {
    const std::string name = fs::path(path).stem().string();
    ASSERT_TRUE(rows_of.contains(name)) << name << " is not in the table";
    EXPECT_EQ(numbers_of(rows_of[name]), name == "plain" ? std::vector<std::string>() : rows_in(path))
        << name;
    EXPECT_TRUE(name == "plain" || seen.insert(rows_of[name]).second)
        << rows_of[name] << " stands there twice";
    rows_of.erase(name);
  }
  for (const auto& [name, rows] : rows_of) ADD_FAILURE() << name << " is no file";
}

}  // namespace
}  // namespace overdue
