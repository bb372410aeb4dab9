// What a scenario file may say of writes, and what is told of what it may not.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "overdue/simulated/scenario_file.h"

namespace overdue {
namespace {

using namespace std::chrono_literals;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

using Sets = std::vector<std::pair<std::string, std::string>>;

constexpr std::string_view kWrites = R"(seed = 1
duration = "30s"
until = "60s"

[client.shop]
calls = "orders"
kind = "keyed_write"
rate = "10/s"
[client.shop.journal]
persist = { exponential = "2ms" }
rolled_back = "1%"
unknown = "2%"
unknown_for = "3s"
valid_for = "20s"
orders_again = 2
wrong = ["fresh_key", "no_epoch"]

[client.reader]
calls = "orders"
rate = "1/s"

[dependency.orders.timeout]
request = "200ms"
[dependency.orders.write]
on_unknown = ["retry", "query"]
key_header = "Idempotency-Key"
key_retention = "24h"
last_send = "1h"
status = "GET /operations/{key}"

[link.orders.repeats]
share = "5%"
after = { exponential = "50ms" }

[service.orders]
time = "10ms"
[service.orders.store]
lease = "5s"
retention = "10m"
expired = "deleted"
clock_ahead = "1m"
answers = "3ms"
status = true
status_fences = true
fence = false
listing = false
unavailable = "1%"
rejects = "2%"
throttles = "3%"
large_replies = "4%"
replica_lag = { exponential = "50ms" }
durable_after = "20ms"
wrong = "fence_at_replica"

[service.plain]
time = "1ms"

[fault.dies]
what = "client_crash"
client = "shop"
at = "10s"
restart_after = "2s"
[fault.over]
what = "takeover"
client = "shop"
at = "11s"
drawn = "50%"
at_latest = "20s"
[fault.primary]
what = "failover"
service = "orders"
at = "12s"
)";

Result<Scenario> parsed(std::string text, Sets sets = {}) {
  return parse_scenario({.path = "folder/writes.toml",
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

std::string message_of(const Result<Scenario>& scenario) {
  return scenario ? "no fault" : scenario.error().message;
}

std::string fault_of(std::string_view what, std::string_view with) {
  return message_of(parsed(replaced(std::string(kWrites), what, with)));
}

std::string fault_of_set(std::string key, std::string value) {
  return message_of(parsed(std::string(kWrites), {{std::move(key), std::move(value)}}));
}

TEST(ScenarioOfWrites, SaysWhatItSays) {
  const auto scenario = parsed(std::string(kWrites));
  ASSERT_TRUE(scenario) << scenario.error().message;
  ASSERT_TRUE(scenario->clients.at(0).journal);
  const ClientJournal& journal = *scenario->clients[0].journal;
  EXPECT_EQ(std::get<ExponentialTime>(journal.persist.kind).mean, 2ms);
  EXPECT_EQ(journal.rolled_back, Probability{0.01});
  EXPECT_EQ(journal.unknown, Probability{0.02});
  EXPECT_EQ(journal.unknown_for, 3s);
  EXPECT_EQ(journal.valid_for, 20s);
  EXPECT_EQ(journal.orders_again, 2U);
  EXPECT_EQ(journal.wrong.count(), 2U);
  EXPECT_TRUE(journal.is(ClientWrong::fresh_key) && journal.is(ClientWrong::no_epoch));
  EXPECT_FALSE(scenario->clients.at(1).journal);
  ASSERT_TRUE(scenario->links.at(0).repeats);
  EXPECT_EQ(scenario->links[0].repeats->share, Probability{0.05});
  EXPECT_EQ(std::get<ExponentialTime>(scenario->links[0].repeats->after.kind).mean, 50ms);
  ASSERT_TRUE(scenario->services.at(0).store);
  const Store& store = *scenario->services[0].store;
  EXPECT_EQ(store.lease, 5s);
  EXPECT_EQ(store.retention, 10min);
  EXPECT_EQ(store.expired, ExpiredKeys::deleted);
  EXPECT_EQ(store.clock_ahead, 1min);
  EXPECT_EQ(std::get<ConstantTime>(store.answers.kind).value, 3ms);
  EXPECT_TRUE(store.status && store.status_fences && !store.fence && !store.listing);
  EXPECT_EQ(store.unavailable, Probability{0.01});
  EXPECT_EQ(store.rejects, Probability{0.02});
  EXPECT_EQ(store.throttles, Probability{0.03});
  EXPECT_EQ(store.large_replies, Probability{0.04});
  EXPECT_EQ(std::get<ExponentialTime>(store.replica_lag.value().kind).mean, 50ms);
  EXPECT_EQ(std::get<ConstantTime>(store.durable_after.value().kind).value, 20ms);
  EXPECT_EQ(store.wrong.count(), 1U);
  EXPECT_TRUE(store.is(StoreWrong::fence_at_replica));
  EXPECT_FALSE(scenario->services.at(1).store);
  const auto& faults = scenario->faults;
  ASSERT_EQ(faults.size(), 3U);
  EXPECT_EQ(faults[0].kind, FaultKind::client_crash);
  EXPECT_EQ(faults[0].client, "shop");
  EXPECT_EQ(faults[0].restart_after, 2s);
  EXPECT_EQ(faults[1].kind, FaultKind::takeover);
  EXPECT_EQ(faults[1].at_latest, 20s);
  EXPECT_EQ(faults[2].kind, FaultKind::failover);
  EXPECT_EQ(faults[2].service, "orders");
}

TEST(ScenarioOfWrites, WhatAStoreAndAJournalDoNotSayHasADefault) {
  std::string text = std::string(kWrites);
  const auto cut = [&](std::string_view from, std::string_view to, std::string_view with) {
    const std::size_t at = text.find(from);
    text.replace(at, text.find(to, at) - at, with);
  };
  cut("[client.shop.journal]", "[client.reader]", "[client.shop.journal]\n");
  cut("[service.orders.store]", "[service.plain]", "[service.orders.store]\n");
  const auto scenario = parsed(text);
  ASSERT_TRUE(scenario) << scenario.error().message;
  const ClientJournal& journal = scenario->clients.at(0).journal.value();
  EXPECT_EQ(std::get<ConstantTime>(journal.persist.kind).value, 1ms);
  EXPECT_EQ(journal.unknown_for, 1s);
  EXPECT_FALSE(journal.valid_for);
  EXPECT_EQ(journal.orders_again, 0U);
  EXPECT_TRUE(journal.wrong.none());
  const Store& store = scenario->services.at(0).store.value();
  EXPECT_EQ(store.lease, 30s);
  EXPECT_FALSE(store.retention || store.replica_lag || store.durable_after);
  EXPECT_EQ(store.expired, ExpiredKeys::remembered);
  EXPECT_EQ(std::get<ConstantTime>(store.answers.kind).value, 1ms);
  EXPECT_TRUE(store.status && !store.status_fences && store.fence && store.listing);
  EXPECT_TRUE(store.wrong.none());
}

TEST(ScenarioOfWrites, EveryNamedWrongIsReadAsItself) {
  for (std::size_t i = 0; i < kStoreWrongCount; ++i) {
    const auto scenario =
        parsed(std::string(kWrites), {{"service.orders.store.wrong", std::string(kStoreWrongNames[i])}});
    ASSERT_TRUE(scenario) << scenario.error().message;
    EXPECT_TRUE(scenario->services[0].store->is(static_cast<StoreWrong>(i))) << kStoreWrongNames[i];
    EXPECT_EQ(scenario->services[0].store->wrong.count(), 1U);
  }
  for (std::size_t i = 0; i < kClientWrongCount; ++i) {
    const auto scenario =
        parsed(std::string(kWrites), {{"client.shop.journal.wrong", std::string(kClientWrongNames[i])}});
    ASSERT_TRUE(scenario) << scenario.error().message;
    EXPECT_TRUE(scenario->clients[0].journal->is(static_cast<ClientWrong>(i))) << kClientWrongNames[i];
    EXPECT_EQ(scenario->clients[0].journal->wrong.count(), 1U);
  }
}

TEST(ScenarioOfWrites, SetTakesOneWrongSeveralOrNone) {
  const auto several =
      parsed(std::string(kWrites), {{"service.orders.store.wrong", R"(["no_lease", "no_fencing"])"},
                                    {"client.shop.journal.wrong", "none"}});
  ASSERT_TRUE(several) << several.error().message;
  EXPECT_EQ(several->services[0].store->wrong.count(), 2U);
  EXPECT_TRUE(several->services[0].store->is(StoreWrong::no_lease));
  EXPECT_TRUE(several->services[0].store->is(StoreWrong::no_fencing));
  EXPECT_TRUE(several->clients[0].journal->wrong.none());
  const auto empty = parsed(std::string(kWrites), {{"service.orders.store.wrong", "[]"},
                                                   {"service.orders.store.retention", "none"},
                                                   {"service.orders.store.replica_lag", "none"}});
  ASSERT_TRUE(empty) << empty.error().message;
  EXPECT_TRUE(empty->services[0].store->wrong.none());
  EXPECT_FALSE(empty->services[0].store->retention || empty->services[0].store->replica_lag);
  const auto without = parsed(std::string(kWrites), {{"link.orders.repeats", "none"}});
  ASSERT_TRUE(without) << without.error().message;
  EXPECT_FALSE(without->links[0].repeats);
  EXPECT_THAT(fault_of_set("client.shop.journal.wrong", "fresh_keys"),
              HasSubstr("--set: client.shop.journal.wrong has \"fresh_keys\": did you mean \"fresh_key\"?"));
  EXPECT_THAT(fault_of_set("client.shop.journal.wrong", "3"),
              HasSubstr("has 3: write names of these: fresh_key, new_body"));
}

TEST(ScenarioOfWrites, EachFaultHasItsLineAndSaysWhatWouldBeRight) {
  const struct {
    std::string_view what, with, says;
  } faults[] = {
      {"lease = \"5s\"", "lease = \"0s\"",
       ":38: service.orders.store.lease = \"0s\": write a duration above"},
      {"lease = \"5s\"", "lease = \"8761h\"",
       ":38: service.orders.store.lease = \"8761h\": write 365d at most"},
      {"lease = \"5s\"", "lese = \"5s\"",
       ":38: service.orders.store.lese is not a key here; did you mean lease"},
      {"retention = \"10m\"", "retention = 10",
       ":39: service.orders.store.retention = 10: a duration is text"},
      {"expired = \"deleted\"", "expired = \"gone\"",
       ":40: service.orders.store.expired = \"gone\": write one of"},
      {"status = true", "status = 1", ":43: service.orders.store.status = 1: write true or false"},
      {"status = true", "status = false", ":44: service.orders.store.status_fences goes with status = true"},
      {"unavailable = \"1%\"", "unavailable = 1", ":47: service.orders.store.unavailable"},
      {"time = \"10ms\"", "time = \"10ms\"\nremembers_keys = true",
       ":37: service.orders.remembers_keys and a store do not go together"},
      {"replica_lag = { exponential = \"50ms\" }\n", "",
       ":52: service.orders.store.wrong has \"fence_at_replica\", which is nothing without replica_lag"},
      {"unknown = \"2%\"", "unknown = \"99.5%\"",
       ":12: client.shop.journal.unknown and rolled_back together"},
      {"orders_again = 2", "orders_again = 11",
       ":15: client.shop.journal.orders_again = 11: write a whole number from 0 to 10"},
      {"kind = \"keyed_write\"", "kind = \"read\"", ":7: client.shop.kind is of a read"},
      {"kind = \"keyed_write\"\n", "", ":8: client.shop.journal is of a read"},
      {"kind = \"keyed_write\"", "kind = \"unkeyed_write\"", ":7: client.shop.kind = \"unkeyed_write\", and"},
      {"on_unknown = [\"retry\", \"query\"]\nkey_header = \"Idempotency-Key\"", "on_unknown = [\"list\"]\n",
       ":7: client.shop.kind = \"keyed_write\", and [dependency.orders.write] has no key_header"},
      {"last_send = \"1h\"\n", "", ":9: client.shop.journal needs a last_send in [dependency.orders.write]"},
      {"share = \"5%\"\n", "", ":31: link.orders.repeats.share is missing: write share"},
      {"after = { exponential = \"50ms\" }\n", "", ":31: link.orders.repeats.after is missing: write after"},
      {"client = \"shop\"", "client = \"shp\"",
       ":60: fault.dies.client names \"shp\", which is no client; did"},
      {"client = \"shop\"", "client = \"reader\"",
       ":60: fault.dies.client = \"reader\" has no journal: write a table [client.reader.journal]"},
      {"client = \"shop\"\n", "", ":58: fault.dies.client is missing: write client = \"NAME\", one with"},
      {"at = \"10s\"\n", "", ":58: fault.dies.at is missing"},
      {"restart_after = \"2s\"\n", "", ":58: fault.dies.restart_after is missing"},
      {"restart_after = \"2s\"", "restart_after = \"2s\"\nfor = \"1s\"",
       ":63: fault.dies.for does not go with what = \"client_crash\", which happens at once"},
      {"restart_after = \"2s\"", "restart_after = \"2s\"\nreplica = \"a\"",
       ":63: fault.dies.replica does not go with what = \"client_crash\", which is of a client"},
      {"drawn = \"50%\"", "restart_after = \"1s\"", ":67: fault.over.restart_after goes with"},
      {"service = \"orders\"\nat = \"12s\"", "service = \"plain\"\nat = \"12s\"",
       ":71: fault.primary.service = \"plain\" has no store: write a table [service.plain.store]"},
      {"service = \"orders\"\nat = \"12s\"", "service = \"orders\"\nclient = \"shop\"\nat = \"12s\"",
       ":72: fault.primary.client does not go with what = \"failover\""},
      {"at = \"12s\"", "at = \"60s\"", ":69: fault.primary.at = 1m is not before the run's end"},
  };
  for (const auto& fault : faults)
    EXPECT_THAT(fault_of(fault.what, fault.with), HasSubstr("folder/writes.toml" + std::string(fault.says)))
        << fault.with;
}

TEST(ScenarioOfWrites, WhatAWrongNeedsIsTold) {
  const struct {
    std::string_view line, wrong, needs;
  } cases[] = {
      {"durable_after = \"20ms\"\n", "answers_before_durable", "durable_after = \"20ms\" too"},
      {"large_replies = \"4%\"\n", "large_reply_unrecorded", "large_replies = \"1%\" too"},
      {"replica_lag = { exponential = \"50ms\" }\n", "replica_says_primary", "replica_lag = \"50ms\" too"}};
  for (const auto& one : cases) {
    const std::string with = replaced(std::string(kWrites), "fence_at_replica", one.wrong);
    EXPECT_EQ(message_of(parsed(with)), "no fault") << one.wrong;
    EXPECT_THAT(message_of(parsed(replaced(with, one.line, ""))), HasSubstr(one.needs)) << one.wrong;
  }
  EXPECT_THAT(message_of(parsed(std::string(kWrites), {{"service.orders.store.replica_lag", "none"}})),
              HasSubstr("nothing without replica_lag"));
}

TEST(ScenarioOfWrites, AJournalIsHeldAgainstThePolicyThatIsInForce) {
  EXPECT_EQ(fault_of_set("dependency.orders.write.last_send", "2h"), "no fault");
  std::string text = std::string(kWrites);
  const std::size_t at = text.find("[dependency.orders.write]");
  text.replace(at, text.find("[link.orders") - at, "");
  EXPECT_THAT(message_of(parsed(text)),
              HasSubstr(":9: client.shop.journal needs a table [dependency.orders.write]"));
  // A policy with faults of its own is told of those alone.
  const std::string broken = fault_of("last_send = \"1h\"", "last_sent = \"1h\"");
  EXPECT_THAT(broken, AllOf(HasSubstr("last_sent"), testing::Not(HasSubstr("needs a last_send"))));
  const std::string set = fault_of_set("dependency.orders.write.last_send", "soon");
  EXPECT_THAT(set, AllOf(StartsWith("--set: dependency.orders.write.last_send"),
                         testing::Not(HasSubstr("client.shop"))));
}

TEST(ScenarioOfWrites, EveryFaultIsToldAtOnceInTheOrderOfTheLines) {
  std::string text = replaced(std::string(kWrites), "unknown_for = \"3s\"", "unknown_for = 3");
  text = replaced(text, "after = { exponential = \"50ms\" }", "after = 50");
  text = replaced(text, "wrong = \"fence_at_replica\"", "wrong = [\"fence_at_replika\", \"nonsense\"]");
  text = replaced(text, "what = \"takeover\"", "what = \"takover\"");
  const auto scenario = parsed(text);
  ASSERT_FALSE(scenario);
  std::vector<std::string> lines;
  std::string rest = scenario.error().message + "\n";
  for (; !rest.empty(); rest = rest.substr(rest.find('\n') + 1))
    lines.push_back(rest.substr(0, rest.find('\n')));
  EXPECT_THAT(
      lines,
      ElementsAre(StartsWith("folder/writes.toml:13: client.shop.journal.unknown_for = 3"),
                  StartsWith("folder/writes.toml:33: link.orders.repeats.after = 50"),
                  AllOf(StartsWith("folder/writes.toml:53: "), HasSubstr("\"fence_at_replica\"?")),
                  AllOf(StartsWith("folder/writes.toml:53: "), HasSubstr("names of these: ignores_keys")),
                  StartsWith("folder/writes.toml:64: fault.over.what = \"takover\"")));
}

TEST(ScenarioOfWrites, ExpectationsOfWritesNeedAClientWithAJournal) {
  const std::string expects = std::string(kWrites) +
                              "[[expect]]\nfield = \"checker.findings\"\nis = \"== 0\"\n[[expect]]\nfield = "
                              "\"clients.shop.writes.by_proof.fenced\"\nis = \"> 3\"\n";
  const auto scenario = parsed(expects);
  ASSERT_TRUE(scenario) << scenario.error().message;
  EXPECT_EQ(scenario->expectations.size(), 2U);
  const auto misspelt = parsed(replaced(expects, "checker.findings", "checker.duplicate"));
  ASSERT_FALSE(misspelt);
  EXPECT_THAT(misspelt.error().message, HasSubstr("did you mean \"checker.duplicates\"?"));
  const auto reader =
      parsed(replaced(expects, "clients.shop.writes.by_proof", "clients.reader.writes.by_proof"));
  ASSERT_FALSE(reader);
  const std::string without = R"(duration = "1s"
[client.c]
calls = "a"
rate = "1/s"
[dependency.a]
[service.a]
time = "1ms"
[[expect]]
field = "checker.findings"
is = "== 0"
)";
  const auto none = parsed(without);
  ASSERT_FALSE(none);
  EXPECT_THAT(none.error().message,
              HasSubstr(":9: expect.1.field = \"checker.findings\" is of clients with a journal"));
}

TEST(ScenarioOfWrites, WhatIsKeptOfWritesUntilTheEndHasABound) {
  EXPECT_EQ(fault_of_set("client.shop.rate", "33000/s"), "no fault");  // 990,000 of them in 30 s.
  EXPECT_THAT(fault_of_set("client.shop.rate", "34000/s"),
              AllOf(HasSubstr("client.shop.rate makes 1e+06 writes with a journal in the run, and 1e+06 are"),
                    HasSubstr("write a lower rate, or a shorter duration")));
  EXPECT_EQ(fault_of_set("client.reader.rate", "34000/s"), "no fault") << "reads leave nothing behind";
}

}  // namespace
}  // namespace overdue
