// overdue simulate over what was measured: logs, the advice made of them, and what comes through a pipe.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "overdue/base/random.h"
#include "overdue/latency/distribution.h"
#include "tests/coin_scenario.h"
#include "tests/command_line.h"
#include "tests/run_command.h"

namespace overdue {
namespace {

using testing::AllOf;
using testing::HasSubstr;

TEST(SimulateCommand, DrawsServiceTimesFromALogAndFromItsAdvice) {
  const ScratchFolder folder;
  std::string log = "latency_ms,status\n";
  for (int i = 0; i < 2000; ++i) log += std::to_string(20 + i % 10) + ",200\n";
  folder.file("calls.csv", log);
  const auto advice = run_overdue("advise --json " + folder.path("calls.csv"));
  folder.file("advice.json", advice.out);
  for (const std::string source : {"calls.csv", "advice.json"}) {
    std::string text(kCoin);
    text.replace(text.find("\"5ms\""), 5, "{ measured = \"" + source + "\" }");
    text.replace(text.find("50%"), 3, "0%");
    text +=
        "[[expect]]\nfield = \"latency.p50_ms\"\nis = \"22ms..32ms\"\n[[expect]]\nfield = "
        "\"latency.p99_ms\"\nis = \"<= "
        "33ms\"\n";
    text.replace(text.find("20%..80%"), 8, "== 100%");
    const auto run = run_overdue("simulate " + folder.file("measured.toml", text));
    EXPECT_EQ(run.status, 0) << source << "\n" << run.out << run.err;
  }
}

// One call in 25 is never answered: that is no work of the service, whichever file tells of it.
TEST(SimulateCommand, ALogAndItsAdviceAreTheSameServiceWhereCallsWereLost) {
  const ScratchFolder folder;
  std::string log = "latency_ms,ending\n";
  for (int i = 0; i < 9600; ++i) log += std::to_string(i % 100 == 0 ? 80 : 20 + i % 10) + ",replied\n";
  for (int i = 0; i < 400; ++i) log += "10000,timed_out\n";
  folder.file("calls.csv", log);
  folder.file("advice.json", run_overdue("advise --json " + folder.path("calls.csv")).out);
  for (const std::string source : {"calls.csv", "advice.json"}) {
    std::string text(kCoin);
    text.replace(text.find("\"5ms\""), 5, "{ measured = \"" + source + "\" }");
    text.replace(text.find("50%"), 3, "0%");
    text.replace(text.find("20%..80%"), 8, "== 100%");
    text.replace(text.find("100ms"), 5, "20s");
    text.replace(text.find("50/s"), 4, "1000/s");
    text.replace(text.find("workers = 4"), 11, "workers = 400");
    text += "[[expect]]\nfield = \"latency.p90_ms\"\nis = \"27ms..33ms\"\n";
    text += "[[expect]]\nfield = \"latency.p999_ms\"\nis = \"<= 85ms\"\n";
    const auto run = run_overdue("simulate " + folder.file("measured.toml", text));
    EXPECT_EQ(run.status, 0) << source << "\n" << run.out << run.err;
  }
}

// What no timeout is advised from is no service's latency either.
TEST(SimulateCommand, TakesNoServiceFromALogThatCannotShowOne) {
  const ScratchFolder folder;
  Random random(2);
  std::string slow = "latency_ms,status\n";
  std::string unit = "duration_seconds,status\n";
  std::string untimed = "latency_ms,ok\n";
  for (int i = 0; i < 4000; ++i) {
    const double ms = 100 * standard_exponential(random);
    slow += ms > 100 ? "100,504\n" : fmt::format("{:.3f},200\n", ms);
    unit += fmt::format("{:.3f},200\n", 300'000 + 100 * ms);
    untimed += i % 40 == 0 ? "7,1\n" : "0,0\n";
  }
  for (const auto& [log, why] : {std::pair(slow, "look slow"), std::pair(unit, "seconds"),
                                 std::pair(untimed, "lost without a time")}) {
    folder.file("calls.csv", log);
    folder.file("advice.json", run_overdue("advise --json " + folder.path("calls.csv")).out);
    for (const std::string source : {"calls.csv", "advice.json"}) {
      std::string text(kCoin);
      text.replace(text.find("\"5ms\""), 5, "{ measured = \"" + source + "\" }");
      const auto run = run_overdue("simulate " + folder.file("measured.toml", text));
      EXPECT_EQ(run.status, 3) << source << "\n" << run.out << run.err;
      EXPECT_THAT(run.err, HasSubstr(source == "calls.csv" ? why : "the advice was declined")) << run.err;
    }
  }
}

TEST(SimulateCommand, ReplaysTheArrivalsOfALog) {
  const ScratchFolder folder;
  folder.file("calls.csv",
              "start,latency_ms,status\n2026-11-29T09:00:00Z,5,200\n2026-11-29T09:00:01Z,5,200\n"
              "2026-11-29T09:00:01.5Z,5,200\n");
  std::string text(kCoin);
  text.replace(text.find("rate = \"50/s\""), 13, "recorded = \"calls.csv\"");
  text.replace(text.find("50%"), 3, "0%");
  text.replace(text.find("20%..80%"), 8, "== 100%");
  const auto run = run_overdue("simulate --json " + folder.file("replay.toml", text));
  ASSERT_EQ(run.status, 0) << run.out << run.err;
  const auto json = nlohmann::json::parse(run.out);
  EXPECT_EQ(json["calls"]["total"], 3);
  EXPECT_EQ(json["timeline"][1]["offered"], 2);
}

// Between two quantiles times lie as in a tail: a straight line made the mean of these 20 % too high.
TEST(SimulateCommand, TheMeanOfAnAdviceIsThatOfItsLog) {
  const ScratchFolder folder;
  Random random(4);
  std::string log = "latency_ms,status\n";
  for (int i = 0; i < 20'000; ++i) log += fmt::format("{:.3f},200\n", 20 * standard_exponential(random));
  folder.file("calls.csv", log);
  folder.file("advice.json", run_overdue("advise --json " + folder.path("calls.csv")).out);
  std::string text(kCoin);
  text.replace(text.find("\"5ms\""), 5, "{ measured = \"advice.json\" }");
  text.replace(text.find("50%"), 3, "0%");
  text.replace(text.find("20%..80%"), 8, "== 100%");
  text.replace(text.find("100ms"), 5, "20s");
  text.replace(text.find("50/s"), 4, "5000/s");
  text.replace(text.find("workers = 4"), 11, "workers = 4000");
  text += "[[expect]]\nfield = \"latency.mean_ms\"\nis = \"19.5ms..24ms\"\n";  // And 2 ms of network.
  const auto run = run_overdue("simulate " + folder.file("measured.toml", text));
  EXPECT_EQ(run.status, 0) << run.out << run.err;
}

TEST(SimulateCommand, AnOptionThatAReaderAsksForIsOneOfAdvise) {
  const ScratchFolder folder;
  folder.file("calls.csv", "one,two\n1,2\n3,4\n");
  std::string text(kCoin);
  text.replace(text.find("\"5ms\""), 5, "{ measured = \"calls.csv\" }");
  const auto run = run_overdue("simulate " + folder.file("measured.toml", text));
  EXPECT_EQ(run.status, 2);
  EXPECT_THAT(run.err, AllOf(HasSubstr("--map latency="), HasSubstr("an option of overdue advise")));
}

// A pipe gives what it has once; policy and scenario are looked at more than once.
TEST(SimulateCommand, AScenarioMayComeThroughAPipe) {
  const ScratchFolder folder;
  const std::string path = folder.file("coin.toml", kCoin);
  const auto run =
      house::run_command("cat " + house::quoted(path) + " | " + OVERDUE_BINARY + " simulate - --json");
  ASSERT_EQ(run.status, 0) << run.output;
  EXPECT_EQ(nlohmann::json::parse(run.output)["calls"],
            nlohmann::json::parse(run_overdue("simulate --json " + path).out)["calls"]);
}

}  // namespace
}  // namespace overdue
