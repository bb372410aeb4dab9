// What --set does to a scenario, and in which file and line a scenario of several files is at fault.
#include "overdue/simulated/scenario_set.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "overdue/simulated/expectation.h"
#include "overdue/simulated/run.h"
#include "overdue/simulated/scenario_file.h"

namespace overdue {
namespace {

using namespace std::chrono_literals;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

using Sets = std::vector<std::pair<std::string, std::string>>;

constexpr std::string_view kShop = R"(seed = 1
duration = "3s"
[client.callers]
calls = "orders"
rate = "10/s"
[dependency.orders]
promise = "1s"
[dependency.orders.timeout]
request = "300ms"
[dependency.orders.retry]
attempts = 2
budget = "none"
[dependency.stock]
promise = "1s"
[service.orders]
time = "10ms"
workers = 4
calls = ["stock"]
[service.stock]
time = "10ms"
[fault.cut]
what = "partition"
link = "stock"
[[expect]]
field = "load.goodput"
is = ">= 0%"
)";

// The scenario s.toml among these files.
Result<Scenario> parsed_of(std::map<std::string, std::string> files, Sets sets = {}) {
  const std::string text = files.at("s.toml");
  return parse_scenario({.path = "s.toml",
                         .text = text,
                         .sets = std::move(sets),
                         .policy_path = {},
                         .read_file = [&files](const std::string& path) -> Result<std::string> {
                           if (files.contains(path)) return files.at(path);
                           return fail(ErrorCode::unreadable_input, path + ": is not there");
                         }});
}

std::string fault_of(std::map<std::string, std::string> files, Sets sets = {}) {
  const auto scenario = parsed_of(std::move(files), std::move(sets));
  return scenario ? "no fault" : scenario.error().message;
}

std::string fault_of_set(std::string key, std::string value) {
  return fault_of({{"s.toml", std::string(kShop)}}, {{std::move(key), std::move(value)}});
}

std::string with(std::string_view what, std::string_view other) {
  std::string text(kShop);
  const std::size_t at = text.find(what);
  EXPECT_NE(at, std::string::npos) << what;
  return text.replace(at, what.size(), other);
}

TEST(ScenarioSet, APlainValueGivesWayToATableWhereItMayBeOne) {
  const auto scenario =
      parsed_of({{"s.toml", std::string(kShop)}}, {{"dependency.orders.retry.budget.ratio", "20%"},
                                                   {"service.orders.time.exponential", "5ms"},
                                                   {"\"dependency\".orders.promise", "700ms"}});
  ASSERT_TRUE(scenario) << scenario.error().message;
  const RetryPolicy& retry = scenario->policy.find("orders")->retry;
  EXPECT_FALSE(retry.no_budget);
  EXPECT_EQ(scenario->policy.find("orders")->promise, 700ms);
  EXPECT_EQ(retry.budget->retries_per_1000_requests, 200);
  EXPECT_EQ(std::get<ExponentialTime>(scenario->services[0].service_time.kind).mean, 5ms);
}

TEST(ScenarioSet, NoneTakesAwayWhatTheFileHas) {
  const auto scenario = parsed_of({{"s.toml", with("workers = 4", "workers = 4\nqueue = { max = 100 }")}},
                                  {{"service.orders.workers", "none"}, {"service.orders.queue", "none"}});
  ASSERT_TRUE(scenario) << scenario.error().message;
  EXPECT_FALSE(scenario->services[0].workers.has_value());
  const auto variant = parsed_of(
      {{"base.toml", std::string(kShop)}, {"s.toml", "based_on = \"base.toml\"\n[fault]\ncut = \"none\"\n"}});
  ASSERT_TRUE(variant) << variant.error().message;
  EXPECT_TRUE(variant->faults.empty());
}

TEST(ScenarioSet, SaysThatThereIsNoExpectationToSet) {
  std::string text(kShop);
  text.resize(text.find("[[expect]]"));
  EXPECT_THAT(fault_of({{"s.toml", text}}, {{"expect.1.is", ">= 5"}}),
              HasSubstr("--set: expect.1.is there is no [[expect]] to set"));
}

TEST(ScenarioSet, AKeyBelowAPlainValueThatIsNoTableIsAFault) {
  for (const auto& [key, value] : Sets{{"dependency.orders.retry.budget.foo", "10%"},
                                       {"service.orders.workers.x", "5"},
                                       {"seed.x", "5"},
                                       {"client.callers.rate.x", "900/s"},
                                       {"expect.1.is.x", "5"},
                                       {"duration.x", "1"},
                                       {"fault.cut.what.x", "1"},
                                       {"dependency.orders.timeout.request.x", "1s"}}) {
    EXPECT_THAT(fault_of_set(key, value), AllOf(StartsWith("--set: "), Not(HasSubstr("{...}")))) << key;
  }
  EXPECT_THAT(fault_of_set("service.orders.workers.x", "5"),
              HasSubstr("--set: service.orders.workers = {\"x\" = 5}: write a whole number"));
}

TEST(ScenarioSet, FilesThatAreReadBeforeItCannotBeSet) {
  EXPECT_THAT(fault_of_set("policy", "foo.toml"),
              StartsWith("--set: policy cannot be set: write --policy FILE"));
  EXPECT_THAT(fault_of_set("based_on", "x.toml"), StartsWith("--set: based_on cannot be set"));
}

TEST(ScenarioSet, ALinkIsThereWithItsDependency) {
  const auto scenario = parsed_of({{"s.toml", std::string(kShop)}}, {{"link.orders.balance", "random"}});
  ASSERT_TRUE(scenario) << scenario.error().message;
  EXPECT_EQ(scenario->links.at(0).balance, Balance::random);
  EXPECT_THAT(fault_of_set("link.oders.balance", "random"), HasSubstr("did you mean link.orders?"));
  EXPECT_THAT(fault_of_set("network.lan.loss", "1%"), HasSubstr("the scenario has no [network.NAME] at all"));
}

TEST(ScenarioSet, ADependencyThatNobodyCallsHasNoAttempts) {
  const auto scenario = parsed_of({{"s.toml", with("is = \">= 0%\"",
                                                   "is = \">= 100%\"\n[[expect]]\nfield = "
                                                   "\"links.stock.attempts\"\nis = \"== 0\"")}},
                                  {{"service.orders.calls", "[]"}});
  ASSERT_TRUE(scenario) << scenario.error().message;
  for (const ExpectationResult& expected : judge(*scenario, run(*scenario, {.seed = 1})))
    EXPECT_TRUE(expected.held) << expected.text << ": " << expected.shown;
}

TEST(ScenarioBase, ItsFaultsAreToldInItsOwnFileAndLine) {
  const std::map<std::string, std::string> files = {
      {"s.toml", "based_on = \"base.toml\"\n[service.orders]\nworkers = -1\n"},
      {"base.toml", with("rate = \"10/s\"", "rate = \"10\"")}};
  EXPECT_THAT(fault_of(files), AllOf(HasSubstr("base.toml:5: client.callers.rate = \"10\""),
                                     HasSubstr("s.toml:3: service.orders.workers = -1")));
  EXPECT_THAT(fault_of({{"s.toml", "based_on = \"base.toml\"\n"},
                        {"base.toml", with("promise = \"1s\"", "promise = \"x\"")}}),
              HasSubstr("base.toml:7: dependency.orders.promise"));
}

TEST(ScenarioBase, WhatItWouldHaveBroughtIsNotCalledMissing) {
  EXPECT_EQ(fault_of({{"s.toml", "based_on = \"v.toml\"\n"}, {"v.toml", "based_on = \"w.toml\"\n"}}),
            "s.toml:1: based_on = \"v.toml\": is itself based on another");
  EXPECT_EQ(fault_of({{"s.toml", "based_on = 5\n"}}),
            "s.toml:1: based_on = 5: write a file's name in quotes");
  EXPECT_EQ(fault_of({{"s.toml", "policy = 5\n[client.c]\ncalls = \"s\"\n"}}),
            "s.toml:1: policy = 5: write a file's name in quotes");
}

TEST(ScenarioBase, AFileThatIsNotThereIsToldWithTheLineThatNamesIt) {
  const auto missing = parsed_of({{"s.toml", "seed = 1\nbased_on = \"no.toml\"\n"}});
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().code, ErrorCode::unreadable_input);
  EXPECT_EQ(missing.error().message, "s.toml:2: based_on = \"no.toml\": no.toml: is not there");
  EXPECT_THAT(fault_of({{"s.toml", "policy = \"no.toml\"\n"}}),
              StartsWith("s.toml:1: policy = \"no.toml\": "));
}

TEST(ScenarioFaults, ATooLongRunIsToldAtTheKeyThatSaysIt) {
  EXPECT_THAT(fault_of({{"s.toml", with("\"3s\"", "\"100000d\"")}}),
              HasSubstr("s.toml:2: duration = \"100000d\" is more than a year: write 365d or less"));
}

TEST(ScenarioFaults, LimitsAreTold) {
  EXPECT_THAT(fault_of_set("service.orders.workers", "2000000000"), HasSubstr("from 1 to 1000000000, or"));
  EXPECT_THAT(fault_of_set("client.callers.rate", "1e12/s"), HasSubstr("at most 1e9/s"));
  EXPECT_THAT(fault_of_set("network.lan.loss", "1"), HasSubstr("[network.NAME]"));
  EXPECT_THAT(fault_of({{"s.toml", std::string(kShop) + "[network.lan]\nloss = 1.0\n"}}),
              HasSubstr("network.lan.loss = 1.0: for all of them write \"100%\""));
}

TEST(ScenarioFaults, AnExpectationIsOfANumberAndItsNameItsOwn) {
  for (const char* no_number : {">= nan", "!= nan", "< inf"})
    EXPECT_THAT(
        fault_of({{"s.toml", with("field = \"load.goodput\"\nis = \">= 0%\"",
                                  std::string("field = \"calls.total\"\nis = \"") + no_number + "\"")}}),
        HasSubstr("a number, as in"))
        << no_number;
  const std::string row = "[[expect]]\nname = \"a\"\nfield = \"calls.total\"\nis = \"> 1\"\n";
  EXPECT_THAT(fault_of({{"s.toml", std::string(kShop) + row + row}}),
              HasSubstr("expect.3.name = \"a\" is another row's too"));
}

TEST(ScenarioFaults, MoreUnderWayAtOnceThanAWorldHoldsIsRefused) {
  EXPECT_THAT(fault_of({{"s.toml", with("time = \"10ms\"\nworkers = 4", "time = \"10m\"")}},
                       {{"client.callers.rate", "9000/ms"}}),
              AllOf(HasSubstr("client.callers.rate has about 2.7e+07 calls under way at once"),
                    HasSubstr("15,000,000 are the most")));
  EXPECT_THAT(fault_of({{"s.toml", std::string(kShop)}}, {{"client.callers.rate", "9000/ms"}}),
              HasSubstr("2.7e+07 calls under way at once"))
      << "a queue without a max";
  EXPECT_EQ(fault_of({{"s.toml", std::string(kShop)}},
                     {{"client.callers.rate", "9000/ms"}, {"service.orders.queue.max", "100"}}),
            "no fault");
}

TEST(ScenarioFaults, MoreLinksThanAWorldHoldsAreRefused) {
  std::string text(kShop);
  for (int i = 0; i < 63; ++i) {
    text += fmt::format("[dependency.d{0}]\npromise = \"1s\"\n[link.d{0}]\nservice = \"stock\"\n", i);
  }
  EXPECT_THAT(fault_of({{"s.toml", text}}), HasSubstr("64 are the most"));
}

}  // namespace
}  // namespace overdue
