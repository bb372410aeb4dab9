#include "overdue/simulated/lesson.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "overdue/simulated/lesson_fast.h"

namespace overdue {
namespace {

double share(std::uint64_t part, std::uint64_t whole) {
  return static_cast<double>(part) / static_cast<double>(whole);
}

void expect_equal(const LessonOutcome& a, const LessonOutcome& b) {
  EXPECT_EQ(a.calls, b.calls);
  EXPECT_EQ(a.ok, b.ok);
  EXPECT_EQ(a.late_applied, b.late_applied);
  EXPECT_EQ(a.late_not_applied, b.late_not_applied);
}

TEST(LessonIndex, TruncatesAndStaysWithinTheValues) {
  EXPECT_EQ(lesson_index(50, 1), 0U);
  EXPECT_EQ(lesson_index(50, 2), 1U);
  EXPECT_EQ(lesson_index(99.9, 1000), 999U);
  EXPECT_EQ(lesson_index(99, 100), 99U);
  EXPECT_EQ(lesson_index(90, 49'803), 44'822U);
  EXPECT_EQ(lesson_index(100, 5), 4U);
}

TEST(Lesson, AccountsForEveryCallOnce) {
  LessonOptions options;
  options.sample = options.calls = 30'001;
  options.replica_calls = 1'001;
  for (const auto& figures : {run_lesson(options), run_lesson_fast(options, 2)}) {
    for (const LessonOutcome& outcome : figures->outcomes) {
      EXPECT_EQ(outcome.calls, options.calls);
      EXPECT_EQ(outcome.ok + outcome.late_applied + outcome.late_not_applied, options.calls);
      EXPECT_EQ(outcome.late_not_applied, figures->outcomes[0].late_not_applied);
    }
    for (const LessonReplica& replica : figures->replicas) {
      EXPECT_EQ(replica.outcome.calls, options.replica_calls);
      EXPECT_EQ(replica.outcome.ok + replica.outcome.late_applied + replica.outcome.late_not_applied,
                options.replica_calls);
    }
  }
}

// Five standard errors between two runs of one model, for the share of calls up to a mark: the mark's own
// error comes from the sample, that of the share from the calls, of which `lost` never reply.
double five_errors(double at_share, double lost, const LessonOptions& options) {
  const double of_the_mark = at_share * (1 - at_share) / static_cast<double>(options.sample);
  const double seen = (1 - lost) * at_share;
  return 5 * std::sqrt(2 * (of_the_mark + seen * (1 - seen) / static_cast<double>(options.calls)));
}

TEST(FastLesson, AgreesWithTheExactOneWithinTheErrorOfSampling) {
  std::vector<LessonOptions> cases(4);
  cases[1].lost_reply = Probability(0.01);
  cases[2].slow_path = Probability(0.1);
  cases[3].lost_request = Probability(0.05);
  cases[3].slow_factor = 4;
  for (const LessonOptions& options : cases) {
    const auto exact = run_lesson(options);
    const auto fast = run_lesson_fast(options, 2);
    for (std::size_t i = 0; i < exact->marks.size(); ++i) {
      const LessonOutcome& a = exact->outcomes[i];
      const LessonOutcome& b = fast->outcomes[i];
      const double lost = options.lost_request.value() + options.lost_reply.value();
      const double errors = five_errors(exact->marks[i].percent / 100, lost, options);
      EXPECT_NEAR(share(a.ok, a.calls), share(b.ok, b.calls), errors) << i;
      EXPECT_NEAR(share(a.late_applied, a.calls), share(b.late_applied, b.calls), errors) << i;
      const double never = share(a.late_not_applied, a.calls);
      EXPECT_NEAR(never, share(b.late_not_applied, b.calls),
                  5 * std::sqrt(2 * never / static_cast<double>(options.calls)));
    }
    // The model's density at its median puts five standard errors of the difference at 1.7 %; p99.9 has less.
    EXPECT_NEAR(exact->marks[0].ms / fast->marks[0].ms, 1, 0.017);
    EXPECT_NEAR(exact->marks[3].ms / fast->marks[3].ms, 1, 0.017);
    for (std::size_t i = 0; i < exact->replicas.size(); ++i) {
      const LessonReplica& a = exact->replicas[i];
      const LessonReplica& b = fast->replicas[i];
      EXPECT_EQ(a.healthy, b.healthy);
      EXPECT_NEAR(a.median_ms / b.median_ms, 1, 0.025) << i;
      const double ok = share(a.outcome.ok, a.outcome.calls);
      EXPECT_NEAR(ok, share(b.outcome.ok, b.outcome.calls),
                  5 * std::sqrt(2 * ok * (1 - ok) / static_cast<double>(options.replica_calls)) + 0.002);
    }
  }
}

TEST(FastLesson, GivesTheSameFiguresOnAnyNumberOfThreads) {
  LessonOptions options;
  options.seed = 99;
  options.sample = 70'001;  // Blocks of 16,384 and a rest.
  options.deep = DeepCheck{};
  const auto one = run_lesson_fast(options, 1);
  for (const unsigned threads : {2U, 3U, 16U}) {
    const auto many = run_lesson_fast(options, threads);
    for (std::size_t i = 0; i < one->marks.size(); ++i) {
      EXPECT_EQ(one->marks[i].ms, many->marks[i].ms);
      expect_equal(one->outcomes[i], many->outcomes[i]);
    }
    for (std::size_t i = 0; i < one->replicas.size(); ++i) {
      EXPECT_EQ(one->replicas[i].median_ms, many->replicas[i].median_ms);
      EXPECT_EQ(one->replicas[i].healthy, many->replicas[i].healthy);
      expect_equal(one->replicas[i].outcome, many->replicas[i].outcome);
    }
    for (std::size_t i = 0; i < one->deep->rows.size(); ++i) {
      EXPECT_EQ(one->deep->rows[i].counts.probes_failed, many->deep->rows[i].counts.probes_failed);
      EXPECT_EQ(one->deep->rows[i].counts.calls_above_back, many->deep->rows[i].counts.calls_above_back);
      EXPECT_EQ(many->deep->rows[i].counts.probes, kProbes);
    }
  }
}

TEST(FastLesson, DrawsOtherCallsForAnotherSeed) {
  LessonOptions options;
  const auto one = run_lesson_fast(options, 1);
  options.seed = 8;
  EXPECT_NE(one->outcomes[0].ok, run_lesson_fast(options, 1)->outcomes[0].ok);
}

TEST(Lesson, DeclinesWhenNoCallReplied) {
  LessonOptions options;
  options.lost_reply = Probability(1.0);
  for (const auto& figures : {run_lesson(options), run_lesson_fast(options, 1)}) {
    ASSERT_FALSE(figures.has_value());
    EXPECT_EQ(figures.error().code, ErrorCode::unsupported);
    EXPECT_NE(figures.error().message.find("--sample"), std::string::npos);
  }
}

TEST(Lesson, DeclinesWhenAReplicaNeverReplied) {
  LessonOptions options;
  options.lost_reply = Probability(0.9);
  options.replica_calls = 1;
  for (const auto& figures : {run_lesson(options), run_lesson_fast(options, 1)}) {
    ASSERT_FALSE(figures.has_value());
    EXPECT_EQ(figures.error().code, ErrorCode::unsupported);
    EXPECT_NE(figures.error().message.find("--replica-calls"), std::string::npos);
  }
}

TEST(Lesson, WorksWithOneCallOfEachKind) {
  LessonOptions options;
  options.sample = options.calls = options.replica_calls = 1;
  for (const auto& figures : {run_lesson(options), run_lesson_fast(options, 4)}) {
    ASSERT_TRUE(figures.has_value());
    EXPECT_EQ(figures->marks[0].ms, figures->marks[3].ms);
  }
}

TEST(Lesson, TakesTheLargestSlowFactor) {
  LessonOptions options;
  options.slow_factor = kSlowFactorMax;
  options.sample = options.calls = options.replica_calls = 5'000;
  for (const auto& figures : {run_lesson(options), run_lesson_fast(options, 1)}) {
    EXPECT_NEAR(figures->replicas[3].median_ms / (std::exp(2.0) * kSlowFactorMax), 1, 0.1);
    EXPECT_EQ(figures->replicas[3].outcome.ok, 0U);
  }
}

}  // namespace
}  // namespace overdue
