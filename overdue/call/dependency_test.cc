#include "overdue/call/dependency.h"

#include <gtest/gtest.h>

namespace overdue {
namespace {

using namespace std::chrono_literals;
constexpr Instant kStart{};

TEST(Dependency, RemembersLatenciesForHalfAWindowToAWholeOne) {
  Dependency dependency(CallPolicy::create({.window = 10s}).value(), kStart);
  dependency.on_answer(kStart + 4s, {.elapsed = 7ms});
  dependency.on_answer(kStart + 5s, {.elapsed = 8ms});
  EXPECT_EQ(dependency.recent_latencies().count(), 2U) << "turned at 5 s, and the half before is kept";
  dependency.on_answer(kStart + 10s - 1ns, {.elapsed = 9ms});
  EXPECT_EQ(dependency.recent_latencies().count(), 3U);
  dependency.on_answer(kStart + 10s, {.elapsed = 9ms});
  EXPECT_EQ(dependency.recent_latencies().min(), 8ms);
  dependency.on_answer(kStart + 1h, {.elapsed = 1ms});
  EXPECT_EQ(dependency.recent_latencies().count(), 1U) << "after a long silence nothing old is left";
}

TEST(Dependency, DoesNotTakeAnErrorForALatency) {
  Dependency dependency(CallPolicy::create({}).value(), kStart);
  dependency.on_answer(kStart, {.ending = Ending::rejected, .elapsed = 1us});
  EXPECT_TRUE(dependency.recent_latencies().empty());
  EXPECT_EQ(dependency.counts().endings[static_cast<std::size_t>(Ending::rejected)], 1U);
}

TEST(Dependency, MeasuresTheWayFromWhatTheServerSaysItTook) {
  Dependency dependency(CallPolicy::create({.way_estimate = 100ms}).value(), kStart);
  EXPECT_EQ(dependency.allowance_for_next_hop(kStart, kStart + 1s), 900ms);
  dependency.on_answer(kStart, {.elapsed = 12ms, .way = 2ms});
  EXPECT_EQ(dependency.allowance_for_next_hop(kStart, kStart + 1s), 1s - 2ms);
}

TEST(Dependency, WithoutABudgetGrantsEveryRetryAndCountsIt) {
  Dependency dependency(CallPolicy::create({.retry_budget = std::nullopt}).value(), kStart);
  for (int retry = 0; retry < 1000; ++retry) EXPECT_TRUE(dependency.try_spend_retry(kStart));
  EXPECT_EQ(dependency.counts().retries, 1000U);
}

TEST(CallPolicy, RefusesValuesThatCannotBeMeantAndNamesThem) {
  const auto message = [](const CallPolicyOptions& options) {
    const auto policy = CallPolicy::create(options);
    return policy ? std::string() : policy.error().message;
  };
  EXPECT_EQ(message({}), "");
  EXPECT_NE(message({.promise = 0s}).find("promise"), std::string::npos);
  EXPECT_NE(message({.connect_timeout = -1ns}).find("connect_timeout"), std::string::npos);
  EXPECT_NE(message({.request_timeout = 0ns}).find("request_timeout"), std::string::npos);
  EXPECT_NE(message({.attempts_max = 0}).find("attempts_max"), std::string::npos);
  EXPECT_EQ(message({.attempts_max = kAttemptsMax}), "");
  EXPECT_NE(message({.attempts_max = kAttemptsMax + 1}).find("attempts_max"), std::string::npos);
  EXPECT_NE(message({.backoff = {.base = 2s, .cap = 1s}}).find("backoff"), std::string::npos);
  EXPECT_NE(message({.retry_budget = RetryBudget::Options{.retries_saved_max = 0}}).find("retries_saved_max"),
            std::string::npos);
  EXPECT_NE(message({.window = 0s}).find("window"), std::string::npos);
  EXPECT_NE(message({.way_estimate = -1ns}).find("way_estimate"), std::string::npos);
}

}  // namespace
}  // namespace overdue
