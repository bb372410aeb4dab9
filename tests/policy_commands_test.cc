// `overdue explain`, and what is said of a policy file by `overdue check` and `overdue simulate`, as a user
// meets it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "tests/command_line.h"

namespace overdue {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

constexpr std::string_view kHurts = R"([dependency.pay]
promise = "1s"
[dependency.pay.write]
on_unknown = ["query"]
status = "GET /operations/{key}"
key_header = "Idempotency-Key"
not_found = "fenced"
)";

constexpr std::string_view kScenario = R"(seed = 1
duration = "1s"
policy = "pay.toml"
[client.till]
calls = "pay"
rate = "10/s"
[service.pay]
time = "1ms"
)";

TEST(ExplainCommand, NamesTheDependenciesThereAre) {
  const ScratchFolder folder;
  const std::string two =
      folder.file("two.toml", "[dependency.a]\npromise = \"1s\"\n[dependency.b]\npromise = \"1s\"\n");
  const CommandResult none = run_overdue("explain 429 --policy " + two);
  EXPECT_EQ(none.status, 2);
  EXPECT_THAT(none.err, HasSubstr("say with --name which of its 2 dependencies is meant: a, b"));
  const CommandResult other = run_overdue("explain 429 --policy " + two + " --name foo");
  EXPECT_EQ(other.status, 2);
  EXPECT_THAT(other.err, HasSubstr("has no dependency foo; it has a, b"));
  EXPECT_EQ(run_overdue("explain 429 --policy " + two + " --name b").status, 0);
  EXPECT_EQ(run_overdue("explain 429 --policy " + folder.file("none.toml", "")).status, 2);
}

TEST(ExplainCommand, ANameNeedsAPolicy) {
  const CommandResult run = run_overdue("explain 429 --name a");
  EXPECT_EQ(run.status, 2);
  EXPECT_THAT(run.err, HasSubstr("say the file with --policy FILE"));
}

TEST(ExplainCommand, SaysWhatThatDependencyDoes) {
  const CommandResult run =
      run_overdue("explain 'connection refused' --policy scenarios/unknown/policies/nothing-offered.toml");
  EXPECT_EQ(run.status, 0);
  EXPECT_THAT(run.out, AllOf(HasSubstr("does not try again"), Not(HasSubstr("same key"))));
  EXPECT_THAT(run_overdue("explain 429").out, HasSubstr("No error contract was given"));
}

TEST(CheckCommand, ReadsAPolicyWithoutALog) {
  const ScratchFolder folder;
  const std::string path = folder.file("pay.toml", kHurts);
  const CommandResult valid = run_overdue("check " + path);
  EXPECT_EQ(valid.status, 0);
  EXPECT_EQ(valid.out, "valid      " + path + ": pay; 1 warning\n");
  EXPECT_THAT(valid.err, HasSubstr(path + ":7: warning: dependency.pay.write: not_found = \"fenced\""));
  const auto json = nlohmann::json::parse(run_overdue("check --json " + path).out);
  EXPECT_EQ(json["schema"], "overdue.check-policy/1");
  EXPECT_EQ(json["dependencies"], nlohmann::json::array({"pay"}));
  EXPECT_EQ(json["warnings"][0]["line"], 7);
  EXPECT_EQ(run_overdue("check --name other " + path).status, 2);
  EXPECT_EQ(run_overdue("check " + folder.file("empty.toml", "")).status, 2);
  const CommandResult faulty =
      run_overdue("check " + folder.file("faulty.toml", "[dependency.a]\npromis = 1\nbackend = 2\n"));
  EXPECT_EQ(faulty.status, 2);
  EXPECT_THAT(faulty.out, IsEmpty());
  EXPECT_THAT(faulty.err, AllOf(HasSubstr(":2: dependency.a.promis"), HasSubstr(":3: dependency.a.backend")));
}

TEST(CheckCommand, ANameOfSeveralLinesDoesNotSplitWhatIsSaidOfIt) {
  const ScratchFolder folder;
  const std::string odd = folder.file("odd.toml", "[dependency.\"a\\nb\"]\n");
  const CommandResult valid = run_overdue("check " + odd);
  EXPECT_EQ(valid.out, "valid      " + odd + ": a\\x0ab; 1 warning\n");
  EXPECT_THAT(valid.err, HasSubstr("warning: dependency.\"a\\u000Ab\".timeout: nothing limits"));
  const CommandResult faulty =
      run_overdue("check " + folder.file("f.toml", "[dependency.\"a\\nb\"]\npromis = 1\n"));
  EXPECT_THAT(faulty.err, HasSubstr(":2: dependency.\"a\\u000Ab\".promis is not a key"));
}

TEST(SimulateCommand, WarnsOfThePolicyThatItsScenarioNames) {
  const ScratchFolder folder;
  const std::string policy = folder.file("pay.toml", kHurts);
  const std::string scenario = folder.file("pay-scenario.toml", kScenario);
  const CommandResult named = run_overdue("simulate " + scenario);
  EXPECT_EQ(named.status, 0) << named.err;
  EXPECT_THAT(named.err, HasSubstr(policy + ":7: warning: dependency.pay.write: not_found"));
  const std::string variant = folder.file("variant.toml", "based_on = \"pay-scenario.toml\"\nseed = 2\n");
  EXPECT_THAT(run_overdue("simulate " + variant).err, HasSubstr(policy + ":7: warning: "));
  // Another that is in force instead is warned of alone.
  const std::string calm = folder.file("calm.toml", "[dependency.pay]\npromise = \"1s\"\n");
  EXPECT_THAT(run_overdue("simulate " + scenario + " --policy " + calm).err, IsEmpty());
}

TEST(SimulateCommand, AFileThatIsNotThereIsToldWithTheLineThatNamesIt) {
  const ScratchFolder folder;
  const auto fault = [&](std::string_view what, std::string_view other) {
    std::string text(kScenario);
    text.replace(text.find(what), what.size(), other);
    const CommandResult run = run_overdue("simulate " + folder.file("a.toml", text));
    EXPECT_EQ(run.status, 2);
    return run.err;
  };
  EXPECT_THAT(fault("pay.toml", "no.toml"),
              AllOf(HasSubstr("a.toml:3: policy = \"no.toml\": "), HasSubstr("/no.toml: ")));
  folder.file("pay.toml", kHurts);
  EXPECT_THAT(fault("rate = \"10/s\"", "recorded = \"no.csv\""),
              HasSubstr("a.toml:6: recorded = \"no.csv\": "));
  EXPECT_THAT(fault("time = \"1ms\"", "time = { measured = \"no.json\" }"),
              HasSubstr("a.toml:8: measured = \"no.json\": "));
}

TEST(SimulateCommand, AFaultInAPolicyFileIsTheOnlyOneTold) {
  const ScratchFolder folder;
  folder.file("pay.toml", "[dependency.pay]\npromis = \"1s\"\n");
  const CommandResult run = run_overdue("simulate " + folder.file("scenario.toml", kScenario));
  EXPECT_EQ(run.status, 2);
  EXPECT_THAT(run.err,
              AllOf(HasSubstr("pay.toml:2: dependency.pay.promis"), Not(HasSubstr("no dependency"))));
  folder.file("pay.toml", "[dependency.pay\n");
  EXPECT_THAT(run_overdue("simulate " + folder.path("scenario.toml")).err,
              AllOf(HasSubstr("not TOML"), Not(HasSubstr("is no dependency"))));
}

}  // namespace
}  // namespace overdue
