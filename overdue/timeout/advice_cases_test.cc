// The oracle's cases of the advice, each figure computed with exact fractions and arbitrary precision.
#include "overdue/timeout/advice.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "overdue/latency/quantile_interval.h"
#include "overdue/latency/test_tables.h"

namespace overdue {
namespace {

using namespace std::chrono_literals;
using namespace testing_tables;

Duration from_ms(double ms) { return Duration(std::llround(ms * 1e6)); }

using Ms = std::optional<double>;

struct AdviceCase {
  const char* name;
  double accept_false;
  int replies;
  double step_ms;
  std::vector<Ended> others;
  double longest_wait_ms;
  double replied, open, reset;
  double tail_bound, tail_point, threshold;
  WaitVerdict verdict;
  Ms if_lost, if_slow, point, recommended, low, high;
  double effective_at_low, effective_at_high;  // 0: not given.
  const char* declined;
};

// Computed with exact fractions and arbitrary precision. Recipe: replies at step, 2 step, ...
std::vector<AdviceCase> advice_cases() {
  using enum WaitVerdict;
  const Ms none;
  return {
      {"1000 replies",
       0.01,
       1000,
       1,
       {},
       1000,
       1,
       0,
       0,
       1.2071067811865475,
       0.5,
       0.010101010101010102,
       enough,
       990,
       990,
       990,
       996,
       983,
       997,
       1000,
       1000,
       ""},
      {"298 replies", 0.01, 298, 1,   {},   298, 1,    0,   0, 1.2071067811865475, 0.5, 0.010101010101010102,
       enough,        296,  296, 296, none, 291, none, 298, 0, "too_few_calls"},
      {"299 replies",
       0.01,
       299,
       1,
       {},
       299,
       1,
       0,
       0,
       1.2111439276119205,
       0.5016722408026756,
       0.010101010101010102,
       enough,
       297,
       297,
       297,
       299,
       292,
       none,
       299,
       0,
       ""},
      {"368 replies",
       0.01,
       368,
       1,
       {},
       368,
       1,
       0,
       0,
       1.2071067811865475,
       0.5,
       0.010101010101010102,
       enough,
       365,
       365,
       365,
       368,
       360,
       368,
       368,
       368,
       ""},
      {"80 of 20,080 lost",
       0.001,
       20'000,
       0.01,
       {{1s, Ending::timed_out, 80}},
       1000,
       0.9960159362549801,
       0.00398406374501992,
       0,
       0.00043344304635728763,
       0,
       0.0009970129492041842,
       lost,
       199.8,
       none,
       199.8,
       199.88,
       199.71,
       199.89,
       20'000,
       20'000,
       ""},
      {"60 of 3,060 slow",
       0.01,
       3000,
       0.1,
       {{300ms, Ending::timed_out, 60}},
       300,
       0.9803921568627451,
       0.0196078431372549,
       0,
       1.1944970467607523,
       0.49019607843137253,
       0.009902951079421667,
       slow,
       297,
       none,
       none,
       none,
       none,
       none,
       0,
       0,
       "not_identifiable"},
      {"30 of 2,030, cannot tell",
       0.001,
       2000,
       0.1,
       {{1s, Ending::timed_out, 30}},
       1000,
       0.9852216748768473,
       0.014778325123152709,
       0,
       0.004128066442183076,
       0,
       0.000986207882759607,
       cannot_tell,
       199.8,
       none,
       none,
       none,
       none,
       none,
       0,
       0,
       "not_identifiable"},
      {"two limits",
       0.01,
       4000,
       0.05,
       {{150ms, Ending::timed_out, 60}, {1s, Ending::timed_out, 20}},
       1000,
       0.9948096885813149,
       0.005190311418685121,
       0,
       0.0021105590138664676,
       0,
       0.010048582712942575,
       enough,
       198.1,
       199.1,
       198.1,
       198.6,
       197.45,
       198.7,
       3841.5283040447835,
       3837.5560959743207,
       ""},
      {"resets and an early limit",
       0.01,
       3000,
       0.1,
       {{5ms, Ending::reset, 200}, {100ms, Ending::timed_out, 900}, {1s, Ending::timed_out, 10}},
       1000,
       0.9478156661945746,
       0.0035225333188074227,
       0.04866180048661801,
       0.0026235049736698227,
       0,
       0.009573895618127017,
       enough,
       297.4,
       298.3,
       297.4,
       298.2,
       296.3,
       298.4,
       2694.771874665996,
       2692.517857250415,
       ""},
      {"C16",
       0.1,
       70,
       10,
       {{200ms, Ending::timed_out, 10}, {500ms, Ending::timed_out, 20}},
       660,
       0.9085714285714286,
       0.09142857142857143,
       0,
       1.1143529066292484,
       0.37714285714285717,
       0.10095238095238095,
       enough,
       630,
       660,
       660,
       none,
       590,
       none,
       47.83360150174309,
       0,
       "too_few_calls"},
  };
}

void expect_close(double actual, double expected) {
  EXPECT_NEAR(actual, expected, 1e-9 * std::abs(expected) + 1e-15);
}

void expect_same(const std::optional<Duration>& actual, const Ms& expected_ms) {
  ASSERT_EQ(actual.has_value(), expected_ms.has_value());
  if (actual) {
    EXPECT_EQ(*actual, from_ms(*expected_ms));
  }
}

std::size_t row_of(const SurvivalCurve& curve, Duration value) { return curve.row_at(value).value(); }

TEST(TimeoutAdvice, AgreesWithTheExactCases) {
  for (const AdviceCase& one : advice_cases()) {
    SCOPED_TRACE(one.name);
    const EndingTable table = evenly_replied(one.replies, from_ms(one.step_ms), one.others);
    const SurvivalCurve curve(table);
    const TimeoutAdvice advice =
        advise_timeout(curve, {}, {.accept_false = Probability{one.accept_false}, .headroom = {}});
    const OpenCalls& open = advice.open;
    EXPECT_EQ(open.longest_wait, from_ms(one.longest_wait_ms));
    expect_close(open.replied_share, one.replied);
    expect_close(open.open_share, one.open);
    expect_close(open.reset_share, one.reset);
    expect_close(open.tail_bound, one.tail_bound);
    expect_close(open.tail_point, one.tail_point);
    expect_close(open.threshold, one.threshold);
    EXPECT_EQ(open.verdict, one.verdict);
    expect_same(advice.if_open_lost, one.if_lost);
    expect_same(advice.if_open_slow, one.if_slow);
    expect_same(advice.point, one.point);
    expect_same(advice.recommended, one.recommended);
    expect_same(advice.low, one.low);
    expect_same(advice.high, one.high);
    EXPECT_EQ(advice.declined, one.declined);
    const auto effective = [&](Duration at) {
      return effective_replies_before(curve, row_of(curve, at), open.last_row, true);
    };
    if (one.effective_at_low > 0) expect_close(effective(*advice.low), one.effective_at_low);
    if (one.effective_at_high > 0) expect_close(effective(*advice.high), one.effective_at_high);
  }
}

}  // namespace
}  // namespace overdue
