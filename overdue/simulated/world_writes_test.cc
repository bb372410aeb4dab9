// Writes whose end needs more than one question at the right time, in whole worlds.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "overdue/simulated/run.h"
#include "overdue/simulated/scenario_file.h"

namespace overdue {
namespace {

// Requests that are lost, to a server that enforces a limit of the write's own and says so at its primary.
constexpr std::string_view kLimited = R"(duration = "1s"
until = "3d"
[client.shop]
calls = "orders"
kind = "keyed_write"
rate = "20/s"
[client.shop.journal]
valid_for = "20h"
[dependency.orders]
via_proxy = true
promise = "400ms"
[dependency.orders.timeout]
request = "100ms"
[dependency.orders.write]
on_unknown = ["query"]
after_deadline = "settle"
key_header = "Idempotency-Key"
last_send = "10m"
status = "GET /o/{key}"
not_found = "after_limit"
[network.lan]
loss = "40%"
[service.orders]
time = "10ms"
[service.orders.store]
)";

// Two clients that are told no half of the time, at once and for sure, and order again.
constexpr std::string_view kToldNo = R"(duration = "20s"
until = "1h"
[client.one]
calls = "orders"
kind = "unkeyed_write"
rate = "50/s"
[client.one.journal]
persist = "1ms"
orders_again = 3
[client.two]
calls = "orders"
kind = "unkeyed_write"
rate = "20/s"
[client.two.journal]
persist = "1ms"
orders_again = 3
[dependency.orders]
promise = "500ms"
[dependency.orders.timeout]
request = "90ms"
[dependency.orders.retry]
attempts = 1
[dependency.orders.write]
last_send = "10m"
[dependency.orders.errors]
nothing_happened = ["429"]
recorded_rejection = ["402"]
[network.lan]
duplication = "0%"
[service.orders]
time = "5ms"
[service.orders.store]
throttles = "50%"
)";

using Sets = std::vector<std::pair<std::string, std::string>>;
const Sets kKeyed = {{"client.one.kind", "keyed_write"},
                     {"client.two.kind", "keyed_write"},
                     {"dependency.orders.write.key_header", "Idempotency-Key"}};
using Lines = std::vector<std::string>;

RunResult run_of(std::string_view text, Sets sets, Lines* trace = nullptr) {
  const auto scenario = parse_scenario({.path = "writes.toml",
                                        .text = std::string(text),
                                        .sets = std::move(sets),
                                        .policy_path = {},
                                        .read_file = {}});
  EXPECT_TRUE(scenario) << scenario.error().message;
  if (!scenario) return RunResult{};
  RunOptions options{.seed = 1};
  if (trace != nullptr) options.trace = [trace](std::string_view line) { trace->emplace_back(line); };
  return run(*scenario, options);
}

RunResult run_of(Sets sets) { return run_of(kLimited, std::move(sets)); }

// As "applied" of all intents where each of 1 + `again` writes is told no with probability `no`.
void expect_applied(const WriteCounts& writes, double no, int again) {
  const auto intents = static_cast<double>(writes.intents);
  const double share = 1 - std::pow(no, 1 + again);
  const double deviation = std::sqrt(intents * share * (1 - share));
  EXPECT_NEAR(static_cast<double>(writes.applied), intents * share, 4 * deviation + 1) << again;
  EXPECT_EQ(writes.applied + writes.not_applied, writes.intents);
}

bool holds(std::string_view line, std::string_view part) { return line.find(part) != line.npos; }

Lines lines_with(const Lines& trace, std::string_view part) {
  Lines found;
  std::ranges::copy_if(trace, std::back_inserter(found),
                       [&](const std::string& line) { return holds(line, part); });
  return found;
}

TEST(WorldOfWrites, AskAfterTheirOwnLimitBeforeAPersonIsAsked) {
  const RunResult result = run_of({});
  ASSERT_TRUE(result.writes);
  EXPECT_EQ(result.writes->needs_person, 0U);
  EXPECT_GT(result.writes->by_proof[static_cast<std::size_t>(Proof::limit_passed)], 0U);
  EXPECT_EQ(result.checker.all(), 0U);
}

// Where a person ends up all the same, that is by a time: the server never answers a question.
TEST(WorldOfWrites, ThatNobodyAnswersComeToAPersonAfterTheirLimit) {
  const RunResult result = run_of({{"service.orders.store.unavailable", "100%"}});
  ASSERT_TRUE(result.writes);
  EXPECT_GT(result.writes->needs_person, 0U);
  EXPECT_EQ(result.writes->by_proof[static_cast<std::size_t>(Proof::limit_passed)], 0U);
  EXPECT_EQ(result.checker.all(), 0U) << "none is open when the run ends";
}

TEST(WorldOfWrites, AreOrderedAgainAsOftenAsTheClientIsSaidTo) {
  for (const int again : {1, 2, 3, 5, 10}) {
    for (const bool keyed : {false, true}) {
      const std::string times = std::to_string(again);
      Sets sets{{"client.one.journal.orders_again", times}, {"client.two.journal.orders_again", times}};
      if (keyed) sets.insert(sets.end(), kKeyed.begin(), kKeyed.end());
      const RunResult result = run_of(kToldNo, sets);
      ASSERT_EQ(result.clients.size(), 2U);
      for (const ClientResult& client : result.clients) expect_applied(client.writes.value(), 0.5, again);
      EXPECT_EQ(result.checker.all(), 0U);
    }
  }
}

TEST(WorldOfWrites, AreOrderedAgainAsOftenAfterARecordedRejection) {
  Sets sets = kKeyed;
  sets.push_back({"service.orders.store.throttles", "0%"});
  sets.push_back({"service.orders.store.rejects", "60%"});
  sets.push_back({"client.one.journal.orders_again", "5"});
  const RunResult result = run_of(kToldNo, sets);
  ASSERT_EQ(result.clients.size(), 2U);
  expect_applied(result.clients[0].writes.value(), 0.6, 5);
  expect_applied(result.clients[1].writes.value(), 0.6, 3);
  EXPECT_EQ(result.checker.all(), 0U);
}

// "duplicate: two 17 2 effects of one intent", and the trace's lines with " intent 17 " show both.
TEST(WorldOfWrites, AreNumberedByTheCheckerAsTheTraceDoes) {
  Lines trace;
  const RunResult result = run_of(kToldNo, {{"network.lan.duplication", "5%"}}, &trace);
  std::size_t duplicates = 0;
  for (const ClientResult& client : result.clients) {
    for (const std::string& finding : client.checker.first) {
      const std::string before = "duplicate: " + client.name + " ";
      if (!finding.starts_with(before)) continue;
      ++duplicates;
      const std::string number =
          finding.substr(before.size(), finding.find(' ', before.size()) - before.size());
      const Lines lines = lines_with(trace, " intent " + number + " ");
      EXPECT_GE(lines_with(lines, ": executed").size(), 2U) << finding;
      const Lines calls = lines_with(lines, " calls ");
      EXPECT_GE(calls.size(), 1U) << finding;
      EXPECT_EQ(lines_with(calls, number + " " + client.name + " calls ").size(), calls.size()) << finding;
    }
  }
  EXPECT_GT(duplicates, 0U);
}

// The call in whose place it was begun is gone by then: a person was asked.
TEST(WorldOfWrites, KeepTheirNumberWhereAnotherProcessTakesThemOver) {
  Lines trace;
  const std::string text = std::string(kLimited) + R"([fault.dies]
what = "client_crash"
client = "shop"
at = "74000s"
restart_after = "1s"
)";
  const RunResult result = run_of(text, {{"service.orders.store.unavailable", "100%"}}, &trace);
  ASSERT_GT(result.writes->needs_person, 0U);
  std::set<std::string> begun;
  std::size_t taken_over = 0;
  for (const std::string& line : trace) {
    const std::size_t at = line.find(" intent ");
    if (at == line.npos) continue;
    const std::string number = line.substr(at, line.find(' ', at + 8) - at);
    if (holds(line, ": begins")) begun.insert(number);
    if (!holds(line, ": is taken over")) continue;
    ++taken_over;
    EXPECT_TRUE(begun.contains(number)) << line;
  }
  EXPECT_GT(taken_over, 0U);
}

}  // namespace
}  // namespace overdue
