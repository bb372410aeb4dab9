// overdue simulate --trace, as a user calls it.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "tests/coin_scenario.h"
#include "tests/command_line.h"
#include "tests/run_command.h"

namespace overdue {
namespace {

using testing::HasSubstr;

TEST(SimulateCommand, TheTraceIsALineAnEventAndTheSameEveryTime) {
  const ScratchFolder folder;
  const std::string path = folder.file("coin.toml", kCoin);
  ASSERT_EQ(run_overdue("simulate " + path + " --trace " + folder.path("one")).status, 0);
  ASSERT_EQ(run_overdue("simulate " + path + " --trace " + folder.path("two")).status, 0);
  const std::string trace = text_of_file(folder.path("one"));
  EXPECT_THAT(trace, HasSubstr("\n"));
  EXPECT_EQ(trace, text_of_file(folder.path("two")));
}

TEST(SimulateCommand, ANameOfSeveralLinesDoesNotSplitALineOfTheTrace) {
  const ScratchFolder folder;
  std::string text(kCoin);
  text.replace(text.find("client.callers"), 14, "client.\"x\\ny\\u001b[31m\"");
  const std::string trace = folder.path("run.trace");
  ASSERT_EQ(run_overdue("simulate " + folder.file("coin.toml", text) + " --trace " + trace).status, 0);
  std::istringstream lines(text_of_file(trace));
  int count = 0;
  for (std::string line; std::getline(lines, line); ++count) {
    ASSERT_TRUE(!line.empty() && line.front() >= '0' && line.front() <= '9') << line;
    ASSERT_EQ(line.find('\x1b'), std::string::npos) << line;
  }
  EXPECT_GT(count, 0);
}

// Of attempts, those of writes with a journal among them; questions are told as such and are no attempts.
TEST(SimulateCommand, ATraceAndTheTimelineTellAsManyTimeoutsAsTheLinks) {
  const ScratchFolder folder;
  const std::string trace = folder.file("trace.txt", "");
  const auto run = run_overdue("simulate --json scenarios/four-failures.toml --trace " + trace);
  ASSERT_EQ(run.status, 0) << run.err;
  const auto told = nlohmann::json::parse(run.out);
  std::uint64_t timed_out = 0;
  std::uint64_t questions = 0;
  for (const auto& link : told["links"]) {
    timed_out += link["endings"]["timed_out"].get<std::uint64_t>();
    questions += link["questions"].get<std::uint64_t>();
  }
  ASSERT_GT(questions, 0U);
  std::uint64_t in_timeline = 0;
  for (const auto& row : told["timeline"]) in_timeline += row["timeouts"].get<std::uint64_t>();
  EXPECT_EQ(in_timeline, timed_out);
  std::uint64_t in_trace = 0;
  std::ifstream lines(trace);
  for (std::string line; std::getline(lines, line);)
    in_trace += line.contains(" attempt ") && line.ends_with(": timed out") ? 1U : 0U;
  EXPECT_EQ(in_trace, timed_out);
}

TEST(SimulateCommand, ATraceIsNotWrittenOverWhatTheRunReads) {
  const ScratchFolder folder;
  const std::string path = folder.file("same.toml", kCoin);
  const auto run = run_overdue("simulate " + path + " --trace " + path);
  EXPECT_EQ(run.status, 2);
  EXPECT_THAT(run.err, HasSubstr("the run reads that file"));
  EXPECT_EQ(std::filesystem::file_size(path), std::string_view(kCoin).size());
}

}  // namespace
}  // namespace overdue
