#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "overdue/cli/commands.h"

namespace overdue {
namespace {

using Json = nlohmann::json;

struct Outcome {
  int status;
  std::string out;
  std::string error;
};

Outcome lesson(const std::string& arguments) {
  std::vector<std::string> words = {"overdue", "lesson"};
  std::istringstream stream(arguments);
  for (std::string word; stream >> word;) words.push_back(word);
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  testing::internal::CaptureStdout();
  testing::internal::CaptureStderr();
  const int status = run_command_line(static_cast<int>(argv.size()), argv.data());
  const std::string out = testing::internal::GetCapturedStdout();
  return {.status = status, .out = out, .error = testing::internal::GetCapturedStderr()};
}

TEST(LessonCommand, PrintsWhatTheLessonsProgramPrintsByteForByte) {
  std::ifstream file("tests/golden/lesson.json");
  const Json cases = Json::parse(file);
  ASSERT_EQ(cases.size(), 6U);
  for (const Json& row : cases) {
    const Outcome outcome = lesson(row["args"].get<std::string>());
    EXPECT_EQ(outcome.out, row["stdout"].get<std::string>()) << row["args"];
    EXPECT_EQ(outcome.status, exit_done);
    EXPECT_EQ(outcome.error, "");
  }
}

TEST(LessonCommand, ReadsARateAsAFractionOrAsAPercentage) {
  const std::string few = " --sample 2000 --calls 2000 --replica-calls 500";
  EXPECT_EQ(lesson("--lost-reply 1%" + few).out, lesson("--lost-reply 0.01" + few).out);
  EXPECT_NE(lesson("--lost-reply 0" + few).out, lesson("--lost-reply 0.01" + few).out);
}

TEST(LessonCommand, RefusesWhatCannotBeMeantAndSaysWhatCan) {
  const struct {
    const char* arguments;
    const char* hint;
  } cases[] = {{"--seed -1", "from 0 to 18446744073709551615"},
               {"--seed 18446744073709551616", "from 0 to 18446744073709551615"},
               {"--seed 1.5", "a whole number"},
               {"--sample 0", "from 1 to 100000000"},
               {"--calls 0", "from 1 to"},
               {"--replica-calls -5", "from 1 to"},
               {"--sample 100000001", "from 1 to 100000000"},
               {"--slow-factor 0", "a number above 0"},
               {"--slow-factor inf", "a number above 0"},
               {"--slow-factor nan", "a number above 0"},
               {"--slow-factor -8", "a number above 0"},
               {"--slow-factor 8x", "a number above 0"},
               {"--lost-request 1", "write 1%"},
               {"--lost-reply -0.1", "write 0.1%"},
               {"--slow-path 120%", "0% to 100%"},
               {"--health shallow", "write ping or deep"},
               {"--probe-calls 5", "add --health deep"},
               {"--fail-above 3", "add --health deep"},
               {"--health deep --probe-calls 0", "from 1 to"},
               {"--health deep --fail-above 0.5", "at least 1"},
               {"--threads 2", "needs --fast"},
               {"--fast --threads 0", "from 1 to 256"},
               {"--no-such-option", "--no-such-option"},
               {"surplus", "surplus"}};
  for (const auto& row : cases) {
    const Outcome outcome = lesson(row.arguments);
    EXPECT_EQ(outcome.status, exit_bad_usage) << row.arguments;
    EXPECT_NE(outcome.error.find(row.hint), std::string::npos) << row.arguments << ": " << outcome.error;
    EXPECT_EQ(outcome.out, "") << row.arguments;
  }
}

TEST(LessonCommand, DeclinesWhenThereIsNothingToMeasure) {
  for (const char* arguments :
       {"--lost-request 100%", "--lost-reply 100% --fast", "--lost-reply 99% --sample 1"}) {
    const Outcome outcome = lesson(arguments);
    EXPECT_EQ(outcome.status, exit_declined) << arguments;
    EXPECT_NE(outcome.error.find("nothing to measure"), std::string::npos) << outcome.error;
    EXPECT_EQ(outcome.out, "");
  }
}

TEST(LessonCommand, PrintsTheSameOnAnyNumberOfThreads) {
  const std::string one = lesson("--fast --health deep --threads 1").out;
  EXPECT_NE(one.find("observed latency: p50=9."), std::string::npos);
  for (const char* threads : {" --threads 2", " --threads 3", ""}) {
    EXPECT_EQ(one, lesson(std::string("--fast --health deep") + threads).out);
  }
}

TEST(LessonCommand, SaysInJsonWhatItSaysInText) {
  const Outcome outcome = lesson("--json --seed 18446744073709551615 --slow-factor 4.5");
  ASSERT_EQ(outcome.status, exit_done);
  const Json document = Json::parse(outcome.out);
  EXPECT_EQ(document["schema"], "overdue.lesson/1");
  EXPECT_EQ(document["generator"], "cpython");
  EXPECT_EQ(document["seed"], "18446744073709551615");
  EXPECT_EQ(document["options"]["slow_factor"], 4.5);
  EXPECT_EQ(document["options"]["lost_reply"], 0.002);
  EXPECT_TRUE(document["deep_check"].is_null());
  ASSERT_EQ(document["timeouts"].size(), 4U);
  for (const Json& row : document["timeouts"]) {
    EXPECT_NEAR(row["ok"].get<double>() + row["timed_out_applied"].get<double>() +
                    row["timed_out_not_applied"].get<double>(),
                1, 1e-12);
  }
  ASSERT_EQ(document["replicas"].size(), 4U);
  EXPECT_EQ(document["replicas"][3]["replica"], "d");
  EXPECT_EQ(document["replicas"][3]["healthy"], true);
}

// The figures of the golden case, unrounded.
TEST(LessonCommand, HasTheLessonsFiguresInJson) {
  const Json document = Json::parse(lesson("--json").out);
  EXPECT_NEAR(document["timeouts"][3]["timeout_ms"].get<double>(), 383.4, 0.05);
  EXPECT_DOUBLE_EQ(document["timeouts"][3]["timed_out_applied"].get<double>(), 0.0031);
  EXPECT_DOUBLE_EQ(document["timeouts"][0]["ok"].get<double>(), 0.49898);
}

TEST(LessonCommand, ShowsWhereTheDeepCheckCatchesAndWhereItFlaps) {
  const Outcome text = lesson("--health deep --fast");
  EXPECT_NE(text.out.find("       d   FAIL"), std::string::npos) << text.out;
  EXPECT_NE(text.out.find("caught: 5 x to 8 x; flaps: 3 x to 4 x; left in: 1 x to 2.5 x\n"),
            std::string::npos);
  const Json deep = Json::parse(lesson("--health deep --fast --json").out)["deep_check"];
  EXPECT_EQ(deep["probe_calls"], 5);
  EXPECT_EQ(deep["back_below"], 2);
  EXPECT_EQ(deep["probes"], 10'000);
  ASSERT_EQ(deep["factors"].size(), 10U);
  EXPECT_EQ(deep["factors"][3]["slow_factor"], 3);
  EXPECT_EQ(deep["factors"][3]["judgement"], "flaps");
  EXPECT_LT(deep["factors"][3]["failed_low"], deep["factors"][3]["failed"]);
  EXPECT_GT(deep["factors"][3]["failed_high"], deep["factors"][3]["failed"]);
}

TEST(LessonCommand, TakesAnotherDeepCheck) {
  const Json deep =
      Json::parse(lesson("--health deep --fast --json --probe-calls 11 --fail-above 2").out)["deep_check"];
  EXPECT_EQ(deep["probe_calls"], 11);
  EXPECT_NEAR(deep["back_below"].get<double>(), 4.0 / 3, 1e-12);
  EXPECT_GT(deep["factors"][3]["failed"], 0.5);  // 3 x is above the edge of a limit of 2 x.
}

}  // namespace
}  // namespace overdue
