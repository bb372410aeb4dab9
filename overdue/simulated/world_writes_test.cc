// Writes whose end needs more than one question at the right time, in whole worlds.
#include <gtest/gtest.h>

#include <string>

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

RunResult run_of(std::vector<std::pair<std::string, std::string>> sets) {
  const auto scenario = parse_scenario({.path = "limited.toml",
                                        .text = std::string(kLimited),
                                        .sets = std::move(sets),
                                        .policy_path = {},
                                        .read_file = {}});
  EXPECT_TRUE(scenario) << scenario.error().message;
  return scenario ? run(*scenario, {.seed = 1}) : RunResult{};
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

}  // namespace
}  // namespace overdue
