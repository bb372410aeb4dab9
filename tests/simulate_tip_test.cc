// `overdue simulate --tip`: where the expectations of a scenario start to fail.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/coin_scenario.h"
#include "tests/command_line.h"
#include "tests/run_command.h"

namespace overdue {
namespace {

using testing::ContainsRegex;
using testing::HasSubstr;

TEST(SimulateTip, FindsWhereAScenarioTips) {
  const ScratchFolder folder;
  const std::string path = folder.file("coin.toml", kCoin);
  // Half of the seeds reach 50 % of answers where half of the requests are lost.
  const auto run = run_overdue(
      "simulate --tip network.lan.request.loss=1%..90% --seeds 1..11 --set 'expect.half.is=>= 50%' " + path);
  EXPECT_EQ(run.status, 0) << run.err;
  ASSERT_THAT(run.out, HasSubstr("tips between "));
  const double low = std::stod(run.out.substr(run.out.find("tips between ") + 13));
  EXPECT_NEAR(low, 50, 5);
  const auto none = run_overdue("simulate --tip network.lan.request.loss=1%..2% --seeds 1..3 " + path);
  EXPECT_EQ(none.status, 1);
  EXPECT_THAT(none.out, HasSubstr("expectations fail at both ends, and what lies between was not tried"));
}

TEST(SimulateTip, SearchesForATipNoFinerThanItsKey) {
  const ScratchFolder folder;
  const std::string path = folder.file("coin.toml", kCoin);
  const std::string sets =
      " --set client.callers.kind=read --set dependency.orders.retry.attempts=3 --set "
      "'expect.half.field=load.attempts_per_call' --set 'expect.half.is=<= 1.05' ";
  // A tip of 0.05: in the middle of the first is 0.0505, and no more than 0.1 % is read.
  const auto ratio = run_overdue(
      "simulate --tip dependency.orders.retry.budget.ratio=0.001..0.1 --seeds 1..3 --set "
      "dependency.orders.retry.budget.floor_per_second=0" +
      sets + path);
  EXPECT_EQ(ratio.status, 0) << ratio.err;
  EXPECT_THAT(ratio.out, ContainsRegex("tips between 0.0[0-9]{1,2} and 0.0[0-9]{1,2}\n"));
}

}  // namespace
}  // namespace overdue
