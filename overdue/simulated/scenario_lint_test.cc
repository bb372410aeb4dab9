#include "overdue/simulated/scenario_lint.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "overdue/simulated/scenario_file.h"

namespace overdue {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;

using Sets = std::vector<std::pair<std::string, std::string>>;

constexpr std::string_view kDirect = R"(duration = "1s"
[client.shop]
calls = "orders"
kind = "keyed_write"
rate = "10/s"
[dependency.orders]
via_proxy = false
[dependency.payments]
[link.payments.repeats]
share = "5%"
after = "1ms"
[network.wan]
duplication = "30%"
[service.orders]
time = "1ms"
[service.payments]
time = "1ms"
)";

std::vector<ScenarioWarning> warnings(const Sets& sets) {
  const auto scenario = parse_scenario(
      {.path = "s.toml", .text = std::string(kDirect), .sets = sets, .policy_path = {}, .read_file = {}});
  EXPECT_TRUE(scenario) << scenario.error().message;
  return scenario ? lint_scenario(*scenario) : std::vector<ScenarioWarning>{};
}

TEST(LintScenario, WarnsOfRequestsThatAreRepeatedUnderAClientThatIsToldTheyAreNot) {
  const auto all = warnings({});
  ASSERT_EQ(all.size(), 1U);
  EXPECT_EQ(all[0].line, 13U);
  EXPECT_THAT(all[0].text, AllOf(HasSubstr("network.wan: duplication of 30.0 % lets requests arrive twice"),
                                 HasSubstr("[dependency.orders] in line 6 has via_proxy = false")));
}

TEST(LintScenario, WarnsOfWhatAServiceCallsForAWriteToo) {
  const auto all = warnings({{"service.orders.calls", "[\"payments\"]"}});
  ASSERT_EQ(all.size(), 3U);  // The network is under both.
  EXPECT_EQ(all[0].line, 9U);
  EXPECT_THAT(all[0].text,
              AllOf(HasSubstr("link.payments: repeats of 5.00 %"), HasSubstr("[dependency.payments]")));
}

TEST(LintScenario, SaysWhatOfAPolicyIsNotSimulated) {
  const auto all = warnings({{"dependency.orders.via_proxy", "true"},
                             {"dependency.orders.timeout.request", "adaptive"},
                             {"dependency.orders.timeout.ceiling", "1s"},
                             {"dependency.orders.retry.hedge_at", "p95"},
                             {"dependency.orders.shed.max_in_flight", "2"},
                             {"dependency.orders.eject.max_ejected", "30%"}});
  ASSERT_EQ(all.size(), 1U);
  EXPECT_THAT(all[0].text, AllOf(HasSubstr("dependency.orders: not simulated: timeout.request = \"adaptive\" "
                                           "(it stays at 1 s), retry.hedge_at, eject, shed.")));
}

// Field case C37: 60 s against 30 s, equal, none; and below.
TEST(LintScenario, WarnsOfIdleConnectionsThatTheServerClosesFirst) {
  Sets sets = {{"client.shop.kind", "read"},
               {"service.orders.keep_alive", "30s"},
               {"link.orders.pool", "{ connections = 10, idle = \"60s\" }"}};
  auto all = warnings(sets);
  ASSERT_EQ(all.size(), 1U);
  EXPECT_THAT(all[0].text, HasSubstr("link.orders: pool.idle is 1m, and service.orders closes its "
                                     "connections after keep_alive 30s"));
  sets[2].second = "{ connections = 10, idle = \"30s\" }";
  EXPECT_EQ(warnings(sets).size(), 1U);
  sets[2].second = "{ connections = 10 }";
  all = warnings(sets);
  ASSERT_EQ(all.size(), 1U);
  EXPECT_THAT(all[0].text, HasSubstr("link.orders: pool has no idle"));
  sets[2].second = "{ connections = 10, idle = \"29s\" }";
  EXPECT_THAT(warnings(sets), IsEmpty());
  sets.pop_back();
  all = warnings(sets);
  ASSERT_EQ(all.size(), 1U);
  EXPECT_THAT(all[0].text, HasSubstr("service.orders: keep_alive is never used"));
}

TEST(LintScenario, HasNothingToSayWhereNothingIsWrong) {
  EXPECT_THAT(warnings({{"dependency.orders.via_proxy", "true"}}), IsEmpty());
  EXPECT_THAT(warnings({{"network.wan.duplication", "0%"}}), IsEmpty());
  EXPECT_THAT(warnings({{"client.shop.kind", "read"}}), IsEmpty()) << "a read may be answered twice";
  // Of a reply that comes twice the second says what the first did.
  EXPECT_THAT(warnings({{"network.wan.request.duplication", "0%"}}), IsEmpty());
}

}  // namespace
}  // namespace overdue
