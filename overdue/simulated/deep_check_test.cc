#include "overdue/simulated/deep_check.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "overdue/base/random.h"
#include "overdue/simulated/lesson_fast.h"

namespace overdue {
namespace {

// STATISTICS section 9: slow factor, chance of one late call, of a failed check of 5 and of 11 calls, then
// share out and flaps per 1,000 checks with one limit and with the lower limit for coming back. As many
// digits as it gives.
struct Reference {
  double factor;
  double call_late;
  double fails_of_5;
  double fails_of_11;
  Rotation one_limit;
  Rotation two_limits;
};
const Reference kReferences[] = {
    {1, .0286, 2.3e-4, 2e-7, {0, 0}, {0, 0}},
    {2, .137, .021, .0016, {0, .01}, {0, .01}},
    {2.5, .244, .098, .031, {.003, .8}, {.023, .8}},
    {3, .364, .258, .174, {.068, 12}, {.78, 2.8}},
    {3.5, .481, .464, .448, {.41, 35}, {.996, .2}},
    {4, .584, .655, .717, {.83, 23}, {1, .01}},
    {5, .743, .889, .961, {.995, 1.2}, {1, 0}},
    {6, .84, .970, .997, {1, 0}, {1, 0}},
    {7, .91, .993, 1, {1, 0}, {1, 0}},
    {8, .94, .998, 1, {1, 0}, {1, 0}},
};

double standard_error(double share, double n) { return std::sqrt(share * (1 - share) / n); }

TEST(DeepCheck, FailsWhenTheUpperMedianIsLate) {
  EXPECT_EQ(late_calls_to_fail(1), 1U);
  EXPECT_EQ(late_calls_to_fail(4), 2U);
  EXPECT_EQ(late_calls_to_fail(5), 3U);
  EXPECT_EQ(late_calls_to_fail(11), 6U);
}

TEST(DeepCheck, FailsByTheBinomialOfItsLateCalls) {
  // C(5,3) .25 .. : 10 p^3 q^2 + 5 p^4 q + p^5 at p = 1/2 is 16/32.
  EXPECT_NEAR(check_failure_probability(5, 0.5), 0.5, 1e-15);
  EXPECT_NEAR(check_failure_probability(1, 0.3), 0.3, 1e-15);
  EXPECT_NEAR(check_failure_probability(2, 0.3), 1 - 0.49, 1e-15);
  EXPECT_EQ(check_failure_probability(5, 0), 0);
  EXPECT_EQ(check_failure_probability(5, 1), 1);
  for (const Reference& reference : kReferences) {
    // The chance of a late call has three digits; a step in its last moves the results by no more than this.
    const double digit = reference.factor >= 6 ? 0.012 : 0.0025;
    EXPECT_NEAR(check_failure_probability(5, reference.call_late), reference.fails_of_5, digit);
    EXPECT_NEAR(check_failure_probability(11, reference.call_late), reference.fails_of_11, digit);
  }
}

TEST(Rotation, FollowsFromRunsOfFailuresAndPasses) {
  // Never fails: in for good. Never passes again: out for good. Always fails and always passes: three checks
  // each.
  EXPECT_EQ(rotation_of(0, 1).out_share, 0);
  EXPECT_EQ(rotation_of(0.1, 0).out_share, 1);
  EXPECT_DOUBLE_EQ(rotation_of(1, 1).out_share, 0.5);
  EXPECT_DOUBLE_EQ(rotation_of(1, 1).flaps_per_1000_checks, 1000.0 / 6);
  for (const Reference& reference : kReferences) {
    const Rotation rotation = rotation_of(reference.fails_of_5, 1 - reference.fails_of_5);
    EXPECT_NEAR(rotation.out_share, reference.one_limit.out_share, 0.006) << reference.factor;
    EXPECT_NEAR(rotation.flaps_per_1000_checks, reference.one_limit.flaps_per_1000_checks, 0.6)
        << reference.factor;
  }
}

// The closed form against a replica that is in fact taken out and brought back, check by check.
TEST(Rotation, AgreesWithAReplicaFollowedCheckByCheck) {
  constexpr int kChecks = 400'000;
  const double fails = 0.3;
  const double passes = 0.4;
  Random random(1);
  bool in = true;
  int in_a_row = 0;
  int checks_out = 0;
  int flaps = 0;
  for (int i = 0; i < kChecks; ++i) {
    checks_out += !in;
    const bool towards_the_other = random.uniform() < (in ? fails : passes);
    in_a_row = towards_the_other ? in_a_row + 1 : 0;
    if (in_a_row < kChecksInARow) continue;
    in = !in;
    in_a_row = 0;
    flaps += in;
  }
  const Rotation expected = rotation_of(fails, passes);
  EXPECT_NEAR(static_cast<double>(checks_out) / kChecks, expected.out_share, 0.01);
  EXPECT_NEAR(1000.0 * flaps / kChecks, expected.flaps_per_1000_checks, 0.4);
}

void expect_the_reference_values(const DeepFigures& deep) {
  ASSERT_EQ(deep.rows.size(), std::size(kReferences));
  for (std::size_t i = 0; i < deep.rows.size(); ++i) {
    const DeepRow& row = deep.rows[i];
    const Reference& reference = kReferences[i];
    const double expected = check_failure_probability(deep.check.calls, reference.call_late);
    const double calls = static_cast<double>(row.counts.calls);
    // Five standard errors, and half of the last digit given; the fleet's median is measured too, to 0.25 %.
    EXPECT_EQ(row.counts.slow_factor, reference.factor);
    EXPECT_NEAR(row.call_late, reference.call_late,
                5 * standard_error(reference.call_late, calls) + (reference.factor >= 6 ? 0.005 : 0.002))
        << reference.factor;
    EXPECT_NEAR(row.failed, expected,
                5 * standard_error(expected, kProbes) + (reference.factor >= 6 ? 0.012 : 0.005))
        << reference.factor;
    EXPECT_NEAR(row.failed, row.failed_expected, 5 * standard_error(row.failed_expected, kProbes))
        << reference.factor;
    EXPECT_LE(row.failed_low, row.failed);
    EXPECT_GE(row.failed_high, row.failed);
    EXPECT_NEAR(row.two_limits.out_share, reference.two_limits.out_share, 0.04) << reference.factor;
    EXPECT_NEAR(row.one_limit.flaps_per_1000_checks, reference.one_limit.flaps_per_1000_checks, 2) << i;
  }
}

TEST(DeepCheck, HasTheReferenceValuesWithEitherGenerator) {
  LessonOptions options;
  options.deep = DeepCheck{};
  const auto exact = run_lesson(options);
  const auto fast = run_lesson_fast(options, 2);
  expect_the_reference_values(*exact->deep);
  expect_the_reference_values(*fast->deep);
}

TEST(DeepCheck, CatchesReplicaDWhereThePingDoesNot) {
  LessonOptions options;
  const auto with_ping = run_lesson(options);
  options.deep = DeepCheck{};
  const auto with_calls = run_lesson(options);
  EXPECT_TRUE(with_ping->replicas[3].healthy);
  EXPECT_FALSE(with_calls->replicas[3].healthy);
  for (std::size_t i = 0; i < 3; ++i) EXPECT_TRUE(with_calls->replicas[i].healthy);
}

TEST(DeepCheck, LeavesInFlapsAndCatchesByFactor) {
  LessonOptions options;
  options.deep = DeepCheck{};
  const auto figures = run_lesson_fast(options, 1);
  for (const DeepRow& row : figures->deep->rows) {
    const double factor = row.counts.slow_factor;
    EXPECT_EQ(row.judgement, factor < 3    ? CheckJudgement::left_in
                             : factor <= 4 ? CheckJudgement::flaps
                                           : CheckJudgement::caught)
        << factor;
  }
}

// More calls sharpen the edge and do not move it.
TEST(DeepCheck, OfElevenCallsIsSharperAtTheSameEdge) {
  LessonOptions options;
  options.deep = DeepCheck{.calls = 11};
  const auto figures = run_lesson_fast(options, 1);
  for (std::size_t i = 0; i < figures->deep->rows.size(); ++i) {
    const double expected = kReferences[i].fails_of_11;
    const double known = kReferences[i].factor >= 6 ? 0.005 : 0.012;
    EXPECT_NEAR(figures->deep->rows[i].failed, expected, 5 * standard_error(expected, kProbes) + known);
  }
}

TEST(DeepCheck, CountsLostCallsAsInfinitelySlow) {
  LessonOptions options;
  options.lost_reply = Probability(0.5);
  options.deep = DeepCheck{.calls = 1, .fail_above = 1000};
  for (const auto& figures : {run_lesson(options), run_lesson_fast(options, 1)}) {
    const DeepRow& row = figures->deep->rows.front();
    const double lost = 1 - 0.998 * 0.5;
    EXPECT_NEAR(row.failed, lost, 5 * standard_error(lost, kProbes));
  }
}

}  // namespace
}  // namespace overdue
