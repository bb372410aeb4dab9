#include "overdue/simulated/scenario_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace overdue {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

using Sets = std::vector<std::pair<std::string, std::string>>;

constexpr std::string_view kScenario = R"(about = "Orders under load."
seed = 7
duration = "30s"
until = "60s"

[client.callers]
calls = "orders"
rate = "450/s"
spike = { at = "5s", for = "2s", times = 3 }

[dependency.orders]
promise = "2s"
[dependency.orders.timeout]
request = "400ms"

[network.lan]
delay = { lognormal = { median = "1ms", sigma = 0.4 } }
loss = "0.2%"
[network.lan.reply]
loss = "1%"

[service.orders]
replicas = 4
workers = 10
queue = { max = 20000, order = "lifo" }
time = { mixture = [ { share = "98%", lognormal = { median = "7ms", sigma = 0.5 } }, { share = "2%", uniform = ["40ms", "400ms"] } ] }

[fault.slowness]
what = "slow"
service = "orders"
replica = "d"
factor = 5
at = "5s"
for = "5s"

[[expect]]
name = "recovers"
field = "timeline.goodput_share"
is = ">= 95%"
from = "16s"
to = "30s"
[[expect]]
field = "latency.p99_ms"
is = "10ms..2s"
)";

Result<Scenario> parsed(std::string text, Sets sets = {}) {
  return parse_scenario({.path = "folder/load.toml",
                         .text = std::move(text),
                         .sets = std::move(sets),
                         .policy_path = {},
                         .read_file = {}});
}

std::string replaced(std::string text, std::string_view what, std::string_view with) {
  const std::size_t at = text.find(what);
  EXPECT_NE(at, std::string::npos) << what;
  return text.replace(at, what.size(), with);
}

std::string fault_of(std::string_view what, std::string_view with) {
  const auto scenario = parsed(replaced(std::string(kScenario), what, with));
  return scenario ? "no fault" : scenario.error().message;
}

std::string fault_of_set(std::string key, std::string value) {
  const auto scenario = parsed(std::string(kScenario), {{std::move(key), std::move(value)}});
  return scenario ? "no fault" : scenario.error().message;
}

TEST(ScenarioFile, SaysWhatItSays) {
  const auto scenario = parsed(std::string(kScenario));
  ASSERT_TRUE(scenario) << scenario.error().message;
  EXPECT_EQ(scenario->name, "load");
  EXPECT_EQ(scenario->seed, 7U);
  EXPECT_EQ(scenario->duration, 30s);
  EXPECT_EQ(scenario->until, 60s);
  ASSERT_EQ(scenario->clients.size(), 1U);
  const auto& open = std::get<OpenArrivals>(scenario->clients[0].arrivals);
  EXPECT_EQ(open.per_second, 450);
  ASSERT_EQ(open.changes.size(), 2U);
  EXPECT_EQ(open.changes[0].at, 5s);
  EXPECT_EQ(open.changes[0].per_second, 1350);
  EXPECT_EQ(open.changes[1].at, 7s);
  EXPECT_EQ(open.changes[1].per_second, 450);
  EXPECT_EQ(scenario->clients[0].ledger_at, "orders");
  ASSERT_EQ(scenario->links.size(), 1U);
  EXPECT_EQ(scenario->links[0].service, "orders");
  EXPECT_EQ(scenario->links[0].network, "lan");
  EXPECT_EQ(scenario->policy.find("orders")->timeout.request, 400ms);
  const Network& network = scenario->networks.at(0);
  EXPECT_EQ(network.request.loss, Probability{0.002});
  EXPECT_EQ(network.reply.loss, Probability{0.01});
  EXPECT_EQ(std::get<LognormalTime>(network.reply.delay.kind).median, 1ms);
  const Service& service = scenario->services.at(0);
  EXPECT_THAT(service.replicas, ElementsAre("a", "b", "c", "d"));
  EXPECT_EQ(service.workers, 10U);
  EXPECT_EQ(service.queue_max, 20000U);
  EXPECT_EQ(service.queue_order, QueueOrder::lifo);
  const auto& mixture = std::get<MixtureTime>(service.service_time.kind);
  EXPECT_THAT(mixture.shares, ElementsAre(0.98, 0.02));
  EXPECT_EQ(std::get<UniformTime>(mixture.parts.at(1).kind).high, 400ms);
  EXPECT_EQ(scenario->faults.at(0).factor, 5);
  EXPECT_EQ(scenario->faults.at(0).replica, "d");
  ASSERT_EQ(scenario->expectations.size(), 2U);
  EXPECT_EQ(scenario->expectations[0].comparison, Relation::at_least);
  EXPECT_EQ(scenario->expectations[0].value, 0.95);
  EXPECT_EQ(scenario->expectations[0].from_s, 16U);
  EXPECT_EQ(scenario->expectations[1].comparison, Relation::within);
  EXPECT_EQ(scenario->expectations[1].value_high, 2000);
}

TEST(ScenarioFile, ReportsEveryFaultAtOnceInTheOrderOfTheLines) {
  std::string text = replaced(std::string(kScenario), "calls = \"orders\"", "calls = \"ordrs\"");
  text = replaced(text, "request = \"400ms\"", "requst = \"400ms\"");
  text = replaced(text, "loss = \"0.2%\"", "loss = 1");
  text = replaced(text, "workers = 10", "workrs = 10");
  text = replaced(text, "replica = \"d\"", "replica = \"x\"");
  text = replaced(text, "timeline.goodput_share", "timeline.godput_share");
  const auto scenario = parsed(text);
  ASSERT_FALSE(scenario);
  std::vector<std::string> lines;
  std::string rest = scenario.error().message + "\n";
  while (!rest.empty()) {
    lines.push_back(rest.substr(0, rest.find('\n')));
    rest = rest.substr(rest.find('\n') + 1);
  }
  using testing::StartsWith;
  EXPECT_THAT(lines,
              ElementsAre(AllOf(StartsWith("folder/load.toml:7: client.callers.calls names \"ordrs\""),
                                HasSubstr("did you mean \"orders\"?")),
                          AllOf(StartsWith("folder/load.toml:14: "), HasSubstr("requst")),
                          AllOf(StartsWith("folder/load.toml:18: network.lan.loss"), HasSubstr("write 1%")),
                          AllOf(StartsWith("folder/load.toml:24: service.orders.workrs"),
                                HasSubstr("did you mean workers?")),
                          AllOf(StartsWith("folder/load.toml:28: "), HasSubstr("orders has a, b, c, d")),
                          AllOf(StartsWith("folder/load.toml:38: expect.1.field"),
                                HasSubstr("did you mean \"timeline.goodput_share\"?"))));
}

TEST(ScenarioFile, EachFaultSaysWhatWouldBeRight) {
  const struct {
    std::string_view what, with, says;
  } faults[] = {
      {"duration = \"30s\"", "duration = 30", "a duration is text with a unit"},
      {"duration = \"30s\"", "", "duration is missing: write duration = \"30s\""},
      {"until = \"60s\"", "until = \"10s\"", "is before the duration 30s"},
      {"rate = \"450/s\"", "rate = 450", "\"450/s\""},
      {"rate = \"450/s\"", "rate = \"450/s\"\nusers = 3", "exactly one of these"},
      {"spike = {", "think = \"1s\"\nspike = {", "goes with users"},
      {"uniform = [\"40ms\", \"400ms\"]", "uniform = [\"400ms\", \"40ms\"]", "the shorter first"},
      {"share = \"2%\"", "share = \"3%\"", "sum to 101%"},
      {"{ median = \"1ms\", sigma = 0.4 }", "{ median = \"1ms\" }", "write sigma = 0.5"},
      {"lognormal = { median = \"1ms\", sigma = 0.4 }", "gauss = \"1ms\"", "write \"10ms\" or one of"},
      {"max = 20000", "max = 0", "\"none\" for no limit"},
      {"replicas = 4", "replicas = [\"a\", \"a\"]", "one name twice"},
      {"loss = \"0.2%\"", "loss = 100000000000000000", "network.lan.loss = '100000000000000000'"},
      {"loss = \"0.2%\"", "loss = -9223372036854775808", "network.lan.loss = '-9223372036854775808'"},
      {"max = 20000", "max = 9223372036854775807", "write a whole number from 1"},
      {"seed = 7", "seed = 9007199254740993", "from 0 to 9007199254740992"},
      {"factor = 5", "factor = 9223372036854775807", "factor = 9223372036854775807: write a number from"},
      {"what = \"slow\"", "what = \"slwo\"", "write one of slow, pause"},
      {"what = \"slow\"", "what = \"partition\"", "link is missing"},
      {"factor = 5", "", "factor is missing: write factor = 5"},
      {"is = \">= 95%\"", "is = \">= 1\"", "a share, as in"},
      {"is = \">= 95%\"", "is = \"around 95%\"", "two with dots between"},
      {"is = \"10ms..2s\"", "is = \"10..2000\"", "a duration, as in"},
      {"to = \"30s\"", "to = \"90s\"", "after the run's end at 60 s"},
      {"from = \"16s\"", "from = \"16500ms\"", "whole seconds"},
      {"field = \"latency.p99_ms\"", "field = \"latency.p99_ms\"\nfrom = \"1s\"",
       "fields of the timeline alone"},
      {"[dependency.orders]\npromise = \"2s\"\n[dependency.orders.timeout]", "[dependency.other.timeout]",
       "client.callers.calls"},
  };
  for (const auto& fault : faults)
    EXPECT_THAT(fault_of(fault.what, fault.with), HasSubstr(fault.says)) << fault.with;
}

TEST(ScenarioFile, RefusesCallsInACircle) {
  const std::string text = R"(duration = "1s"
[client.c]
calls = "a"
rate = "1/s"
[dependency.a]
[dependency.b]
[service.a]
time = "1ms"
calls = ["b"]
[service.b]
time = "1ms"
calls = [["a", "b"]]
)";
  const auto scenario = parsed(text);
  ASSERT_FALSE(scenario);
  EXPECT_THAT(scenario.error().message, HasSubstr("calls go in a circle: a -> b -> a"));
}

TEST(ScenarioFile, SetChangesOneValueAndIsCheckedLikeTheFile) {
  const auto changed = parsed(std::string(kScenario), {{"service.orders.workers", "20"},
                                                       {"service.orders.time", "50ms"},
                                                       {"service.orders.queue.max", "none"},
                                                       {"client.callers.spike.times", "2"},
                                                       {"dependency.orders.timeout.request", "1s"},
                                                       {"expect.recovers.is", "< 5%"},
                                                       {"expect.2.is", "> 1ms"}});
  ASSERT_TRUE(changed) << changed.error().message;
  EXPECT_EQ(changed->services[0].workers, 20U);
  EXPECT_EQ(std::get<ConstantTime>(changed->services[0].service_time.kind).value, 50ms);
  EXPECT_FALSE(changed->services[0].queue_max.has_value());
  EXPECT_EQ(std::get<OpenArrivals>(changed->clients[0].arrivals).changes[0].per_second, 900);
  EXPECT_EQ(changed->policy.find("orders")->timeout.request, 1s);
  EXPECT_EQ(changed->policy.find("orders")->promise, 2s);
  EXPECT_EQ(changed->expectations[0].is, "< 5%");
  EXPECT_EQ(changed->expectations[1].comparison, Relation::greater);
}

TEST(ScenarioFile, SetSaysWhatIsWrongWithItself) {
  EXPECT_THAT(fault_of_set("service.ordrs.workers", "2"), HasSubstr("did you mean service.orders?"));
  EXPECT_THAT(fault_of_set("service.orders.wrkers", "2"),
              HasSubstr("--set: service.orders.wrkers is not a key here"));
  EXPECT_THAT(fault_of_set("service.orders.workers", "many"),
              HasSubstr("--set: service.orders.workers = \"many\""));
  EXPECT_THAT(fault_of_set("service.orders.time.mixture.3.share", "2%"),
              HasSubstr("write a number from 1 to 2"));
  EXPECT_THAT(fault_of_set("dependency.orders.timeout.request", "0.4"),
              HasSubstr("--set: dependency.orders.timeout.request"));
  EXPECT_THAT(fault_of_set("dependency.orders.timeout.request", "3s"),
              HasSubstr("does not fit the promise 2s"));
  EXPECT_THAT(fault_of_set("network.lan.loss", "-9223372036854775808"),
              HasSubstr("--set: network.lan.loss = '-9223372036854775808'"));
  EXPECT_THAT(fault_of_set("seconds", "3"), HasSubstr("--set: seconds is not a key of a scenario"));
  EXPECT_THAT(fault_of_set("service..x", "3"), HasSubstr("is no path of names and dots"));
}

TEST(ScenarioFile, PolicyFilesReplaceTheDependenciesTheyName) {
  ScenarioSource source{.path = "folder/load.toml",
                        .text = std::string(kScenario),
                        .sets = {},
                        .policy_path = "patient.toml",
                        .read_file = [](const std::string& path) -> Result<std::string> {
                          if (path == "patient.toml")
                            return "[dependency.orders.timeout]\nrequest = \"5s\"\n";
                          if (path == "folder/naive.toml")
                            return "[dependency.orders.timeout]\nrequest = \"7s\"\n";
                          if (path == "other.toml") return "[dependency.others]\n";
                          if (path == "broken.toml") return "[dependency.orders]\npromis = \"7s\"\n";
                          return fail(ErrorCode::unreadable_input, path + ": is not there");
                        }};
  const auto replaced_all = parse_scenario(source);
  ASSERT_TRUE(replaced_all) << replaced_all.error().message;
  EXPECT_EQ(replaced_all->policy.find("orders")->timeout.request, 5s);
  EXPECT_FALSE(replaced_all->policy.find("orders")->promise) << "the whole dependency is replaced";

  source.policy_path = "other.toml";
  EXPECT_THAT(parse_scenario(source).error().message, HasSubstr("none of its dependencies (others)"));
  source.policy_path = "broken.toml";
  EXPECT_THAT(parse_scenario(source).error().message, HasSubstr("broken.toml:2: dependency.orders.promis"));
  source.policy_path = "missing.toml";
  EXPECT_EQ(parse_scenario(source).error().code, ErrorCode::unreadable_input);

  source.policy_path.reset();
  source.text = replaced(
      source.text,
      "[dependency.orders]\npromise = \"2s\"\n[dependency.orders.timeout]\nrequest = \"400ms\"\n", "");
  source.text = "policy = \"naive.toml\"\n" + source.text;
  const auto named = parse_scenario(source);
  ASSERT_TRUE(named) << named.error().message;
  EXPECT_EQ(named->policy.find("orders")->timeout.request, 7s);
}

TEST(ScenarioFile, AVariantSaysWhatDiffersFromItsBase) {
  const auto variant_of = [](const std::string& text) {
    return parse_scenario({.path = "folder/variant.toml",
                           .text = "based_on = \"load.toml\"\n" + text,
                           .sets = {},
                           .policy_path = {},
                           .read_file = [](const std::string& path) -> Result<std::string> {
                             if (path == "folder/load.toml") return std::string(kScenario);
                             if (path == "folder/chain.toml") return "based_on = \"load.toml\"\n";
                             return fail(ErrorCode::unreadable_input, path + ": is not there");
                           }});
  };
  const auto variant = variant_of(
      "[service.orders.queue]\nmax = 50\n[service.orders]\ntime = { exponential = \"5ms\" "
      "}\n[dependency.orders.retry]\nattempts = 4\n[[expect]]\nfield = "
      "\"load.goodput\"\nis = \">= 99%\"\n");
  ASSERT_TRUE(variant) << variant.error().message;
  EXPECT_EQ(variant->name, "variant");
  EXPECT_EQ(variant->seed, 7U);
  EXPECT_EQ(variant->services.at(0).queue_max, 50U);
  EXPECT_EQ(variant->services.at(0).queue_order, QueueOrder::lifo) << "what it does not say stays";
  EXPECT_EQ(std::get<ExponentialTime>(variant->services.at(0).service_time.kind).mean, 5ms)
      << "what stands in braces is one value";
  EXPECT_EQ(variant->policy.find("orders")->timeout.request, 400ms);
  ASSERT_EQ(variant->expectations.size(), 1U) << "expectations are its own";
  EXPECT_EQ(variant->expectations[0].field, "load.goodput");
  EXPECT_THAT(variant_of("[service.orders]\nworkrs = 1\n").error().message,
              HasSubstr("folder/variant.toml:3: service.orders.workrs"));
  EXPECT_THAT(variant_of("[dependency.orders]\npromis = \"1s\"\n").error().message,
              HasSubstr("folder/variant.toml:3: dependency.orders.promis"));
  EXPECT_THAT(variant_of("[dependency.orders]\npromise = \"100ms\"\n").error().message,
              HasSubstr("does not fit the promise 100ms"));
}

TEST(ScenarioFile, DependenciesMayStandInBracesAtTheTop) {
  std::string text = replaced(std::string(kScenario),
                              "[dependency.orders]\npromise = \"2s\"\n[dependency.orders.timeout]\nrequest = "
                              "\"400ms\"\n",
                              "");
  text = "dependency = { orders = { promise = \"2s\", timeout = { request = \"300ms\" } } }\n" + text;
  const auto scenario = parsed(text);
  ASSERT_TRUE(scenario) << scenario.error().message;
  EXPECT_EQ(scenario->policy.find("orders")->timeout.request, 300ms);
}

TEST(ScenarioFile, TextThatIsNoTomlNamesTheLine) {
  const auto scenario = parsed("duration = \"1s\"\n= 3\n");
  ASSERT_FALSE(scenario);
  EXPECT_THAT(scenario.error().message, HasSubstr("folder/load.toml:2: not TOML"));
}

TEST(ScenarioFile, RefusesARunOfMoreCallsThanFitIntoOne) {
  EXPECT_THAT(fault_of("rate = \"450/s\"", "rate = \"900/ms\""), "no fault");  // 34 s' worth: 3.1e7.
  const std::string fault = fault_of("rate = \"450/s\"", "rate = \"1e8/s\"");
  EXPECT_THAT(fault, AllOf(HasSubstr("load.toml:8: client.callers.rate makes 3.4e+09 calls"),
                           HasSubstr("write a lower rate")));
  const std::string closed =
      replaced(std::string(kScenario), "rate = \"450/s\"\nspike = { at = \"5s\", for = \"2s\", times = 3 }",
               "users = 1000000\nthink = \"1us\"");
  const auto quick = parsed(closed);
  ASSERT_FALSE(quick) << "a full queue refuses at once";
  EXPECT_THAT(quick.error().message,
              AllOf(HasSubstr("load.toml:8: client.callers.users"), HasSubstr("fewer users")));
  EXPECT_TRUE(parsed(replaced(closed, "max = 20000, ", ""))) << "no more answers than its workers make";
}

TEST(ScenarioFile, RefusesWhatComesTooOften) {
  EXPECT_THAT(fault_of("workers = 10", "workers = 10\nprobe = { every = \"1ns\" }"),
              HasSubstr("service.orders.probe.every = \"1ns\": write 1us or more"));
  EXPECT_THAT(fault_of("workers = 10", "workers = 10\nprobe = { every = \"2us\" }"),
              HasSubstr("service.orders.probe.every = 2us is 1.2e+08 times in 1m"));
  EXPECT_THAT(fault_of("workers = 10", "workers = 10\npauses = { every = \"1ns\", lasts = \"1ms\" }"),
              HasSubstr("service.orders.pauses.every = \"1ns\": write 1us or more"));
  EXPECT_THAT(fault_of("loss = \"1%\"", "burst = { every = \"1ns\", lasts = \"1ns\" }"),
              AllOf(HasSubstr("burst.every = \"1ns\": write 1us or more"), HasSubstr("burst.lasts")));
}

TEST(ScenarioFile, WrongWorkersAreNotTakenForUnlimitedOnes) {
  for (const char* wrong : {"workers = 0", "workers = \"4\"", "workers = true", "wrkers = 4"})
    EXPECT_THAT(fault_of("workers = 10", wrong), AllOf(HasSubstr("orders.w"), Not(HasSubstr("never used"))))
        << wrong;
  EXPECT_THAT(fault_of("workers = 10", ""), HasSubstr("is never used with unlimited workers"));
}

TEST(ScenarioFile, ARetryAfterBelongsToARefusal) {
  EXPECT_THAT(fault_of("queue = { max = 20000, order = \"lifo\" }", "retry_after = \"2s\""),
              HasSubstr("retry_after is said with a refusal, and there is none"));
  const auto refuses = parsed(replaced(std::string(kScenario), "workers = 10",
                                       "workers = 10\nretry_after = \"2s\"\nsheds_late = \"9ms\""));
  ASSERT_TRUE(refuses) << refuses.error().message;
  EXPECT_EQ(refuses->services[0].retry_after, 2s);
  EXPECT_EQ(refuses->services[0].sheds_late, 9ms);
}

TEST(ParseScenario, RefusesAKeyOfMorePartsThanAParserCanFollow) {
  std::string deep = "seed = 1 # ..." + std::string(300, '.') + "\na";
  for (int i = 0; i < 100'000; ++i) deep += ".a";
  const auto read = parse_scenario(
      {.path = "s.toml", .text = deep + " = 1\n", .sets = {}, .policy_path = {}, .read_file = {}});
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().message, "s.toml:2: a key of more than 256 parts: none here has more than five");
}

}  // namespace
}  // namespace overdue
