// The shipped example is real: its upstreams kept a ledger of what they did (examples/record). The advice,
// which sees only nginx's log, is held against it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "run_command.h"

namespace overdue::house {
namespace {

using nlohmann::json;

// nginx sees a reply later than the upstream wrote it: loopback, and its clock of whole milliseconds.
constexpr double kTransitMs = 5.0;

// What the upstreams in `only` did, added up.
struct Truth {
  double waited = 0;  // Requests that came in and were not reset.
  double replied = 0;
  double lost = 0;

  double lost_rate() const { return lost / waited; }
};

json ledger() {
  std::ifstream file("examples/orders.ledger.json");
  return json::parse(file);
}

Truth truth_of(const json& ledger, const std::set<std::string>& left_out) {
  Truth truth;
  for (const json& upstream : ledger["upstreams"]) {
    if (left_out.contains(upstream["backend"].get<std::string>())) continue;
    truth.waited += upstream["received"].get<double>() - upstream["reset_before_work"].get<double>();
    truth.replied += upstream["reply_ready"].get<double>();
    truth.lost += upstream["never_done"].get<double>() + upstream["done_never_replied"].get<double>();
  }
  return truth;
}

// The share of replies that were ready later than the greatest threshold of the ledger at or below `ms`.
double later_than(const json& ledger, const std::set<std::string>& left_out, double ms) {
  const std::vector<double> thresholds = ledger["thresholds_ms"].get<std::vector<double>>();
  const auto above = std::upper_bound(thresholds.begin(), thresholds.end(), ms);
  EXPECT_NE(above, thresholds.begin());
  const auto index = static_cast<std::size_t>(above - thresholds.begin()) - 1;
  double later = 0;
  for (const json& upstream : ledger["upstreams"]) {
    if (left_out.contains(upstream["backend"].get<std::string>())) continue;
    later += upstream["reply_ready_later_than"][index].get<double>();
  }
  return later / truth_of(ledger, left_out).replied;
}

// Three standard errors of a share seen in `count` independent calls.
double sampling_error(double share, double count) { return 3.0 * std::sqrt(share * (1.0 - share) / count); }

TEST(Example, IsAsLargeAsPromisedAndItsLedgerAddsUp) {
  EXPECT_LT(std::filesystem::file_size("examples/orders.log.gz"), 5'000'000U);
  const json truth = ledger();
  EXPECT_GE(truth["callers"]["calls"].get<std::uint64_t>(), 200'000U);
  EXPECT_EQ(truth["callers"]["not_started"].get<std::uint64_t>(), 0U);
  EXPECT_EQ(truth["upstreams"].size(), 4U);
  for (const json& upstream : truth["upstreams"]) {
    const auto count = [&](const char* name) { return upstream[name].get<std::uint64_t>(); };
    EXPECT_EQ(count("received"), count("reply_ready") + count("never_done") + count("done_never_replied") +
                                     count("reset_before_work"));
    EXPECT_EQ(count("effects"), count("reply_ready") + count("done_never_replied"));
    EXPECT_EQ(count("reply_ready"), count("reply_ready_within_1s") + count("reply_ready_later"));
    const auto later = upstream["reply_ready_later_than"].get<std::vector<std::uint64_t>>();
    EXPECT_EQ(later.size(), truth["thresholds_ms"].size());
    EXPECT_TRUE(std::is_sorted(later.rbegin(), later.rend()));
  }
}

// One run of the command for all that follows; the log has 200,000 lines.
class ExampleAdvice : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    const Outcome outcome = run_command(quoted(OVERDUE_BINARY) + " advise examples/orders.log.gz --json");
    status_ = outcome.status;
    advice_ = json::parse(outcome.output, nullptr, false);
  }
  void SetUp() override {
    ASSERT_EQ(status_, 0);
    ASSERT_TRUE(advice_.is_object());
    ASSERT_EQ(advice_["groups"].size(), 1U);
    group_ = advice_["groups"][0];
    for (const json& backend : group_["advice"]["excluded_backends"])
      left_out_.insert(backend.get<std::string>());
  }

  static inline json advice_;
  static inline int status_ = -1;
  json group_;
  std::set<std::string> left_out_;
  json ledger_ = ledger();
};

TEST_F(ExampleAdvice, CountsEveryCallThatWasMade) {
  const json& source = advice_["sources"][0];
  EXPECT_EQ(source["calls"], ledger_["callers"]["calls"]);
  // What the upstreams received, and the connections that were refused while one restarted.
  std::uint64_t received = 0;
  for (const json& upstream : ledger_["upstreams"]) received += upstream["received"].get<std::uint64_t>();
  EXPECT_EQ(source["attempts"].get<std::uint64_t>() - group_["endings"]["refused"].get<std::uint64_t>(),
            received);
}

TEST_F(ExampleAdvice, NamesTheSlowUpstreamAndNoOther) {
  for (const json& upstream : ledger_["upstreams"]) {
    const bool slow = upstream["slow_factor"].get<double>() > 1.0;
    const auto name = upstream["backend"].get<std::string>();
    EXPECT_EQ(left_out_.contains(name), slow) << name;
    const auto found = std::find_if(group_["backends"].begin(), group_["backends"].end(),
                                    [&](const json& backend) { return backend["backend"] == name; });
    ASSERT_NE(found, group_["backends"].end()) << name;
    EXPECT_EQ((*found)["judgement"], slow ? "slow" : "usual") << name;
    EXPECT_NEAR((*found)["median_ms"].get<double>(), upstream["reply_ready_ms"]["0.5"].get<double>(),
                kTransitMs)
        << name;
  }
}

TEST_F(ExampleAdvice, LostShareIsTheLedgersWithinSamplingError) {
  const Truth truth = truth_of(ledger_, left_out_);
  const double lost = truth.lost_rate();
  ASSERT_GT(lost, 0.003);
  EXPECT_NEAR(group_["advice"]["lost_rate"].get<double>(), lost, sampling_error(lost, truth.waited));
}

TEST_F(ExampleAdvice, CutOffShareIsTheLedgersWithinSamplingError) {
  const double timeout_ms = group_["advice"]["request_timeout_ms"].get<double>();
  const double claimed = group_["advice"]["false_timeout_rate"].get<double>();
  const Truth truth = truth_of(ledger_, left_out_);
  // A reply that was ready a transit before the timeout may have been cut, one ready after it was.
  const double most = later_than(ledger_, left_out_, timeout_ms - kTransitMs);
  const double least = later_than(ledger_, left_out_, timeout_ms + kTransitMs);
  EXPECT_LE(claimed, most + sampling_error(most, truth.replied));
  EXPECT_GE(claimed, least - sampling_error(least, truth.replied));
  // And it keeps what was accepted.
  const double accepted = group_["advice"]["accept_false"].get<double>();
  EXPECT_LE(least, accepted + sampling_error(accepted, truth.replied));
  // Without being needlessly long: at half the timeout far more would be cut.
  EXPECT_GT(later_than(ledger_, left_out_, timeout_ms / 2), 2 * accepted);
}

}  // namespace
}  // namespace overdue::house
