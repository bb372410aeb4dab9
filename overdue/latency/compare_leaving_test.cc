#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "overdue/latency/compare.h"
#include "overdue/latency/generated_log.h"

// Replicas whose callers leave before a reply, or before a limit: calls of which nobody knows how long they
// would have taken.

namespace overdue {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::IsEmpty;

constexpr int kLogs = 40;

// With start times (true) and without.
class CompareLeaving : public testing::TestWithParam<bool> {
 protected:
  Comparison compare(GeneratedLog& log, Duration limit = 1s) const {
    for (Attempt& row : log.rows) row.has_start = GetParam();
    return compare_replicas(log.measure(limit));
  }
};
INSTANTIATE_TEST_SUITE_P(WithStarts, CompareLeaving, testing::Bool());

const ReplicaRow& row_of(const Comparison& comparison, std::uint16_t replica) {
  return *std::ranges::find(comparison.rows, "10.0.0." + std::to_string(replica), &ReplicaRow::name);
}

// This share of the replica's callers leaves after a time of their own.
void leave(GeneratedLog& log, std::uint16_t replica, double share, double mean_milliseconds) {
  const Exponential patience{.mean = mean_milliseconds * 1e6};
  for (Attempt& row : log.rows) {
    if (row.backend != replica || log.random().uniform() >= share) continue;
    const auto at = Duration(static_cast<std::int64_t>(patience.draw(log.random())));
    if (row.elapsed <= at) continue;
    row.elapsed = at;
    row.ending = Ending::abandoned;
  }
}

template <typename Slow>
void change_latencies(GeneratedLog& log, std::uint16_t replica, const Slow& slow) {
  for (Attempt& row : log.rows) {
    if (row.backend == replica && row.elapsed < 1h) row.elapsed = slow();
  }
}

TEST_P(CompareLeaving, DoesNotAccuseAReplicaWhoseCallersLeaveEarly) {
  for (const double share : {0.1, 0.4, 1.0}) {
    int accused = 0;
    for (std::uint64_t seed = 0; seed < kLogs; ++seed) {
      GeneratedLog log(seed);
      leave(log, 1, share, 20);
      accused += compare(log).fleet == FleetJudgement::alike ? 0 : 1;
    }
    EXPECT_LE(accused, 1) << share;
  }
}

TEST_P(CompareLeaving, DoesNotAccuseTheOnlyReplicaWhoseCallersStay) {
  int accused = 0;
  for (std::uint64_t seed = 0; seed < kLogs; ++seed) {
    GeneratedLog log(seed);
    for (std::uint16_t replica = 1; replica < 4; ++replica) leave(log, replica, 1, 20);
    accused += compare(log).fleet == FleetJudgement::alike ? 0 : 1;
  }
  EXPECT_LE(accused, 1);
}

TEST_P(CompareLeaving, DoesNotAccuseAReplicaSomeOfWhoseCallersHaveAShorterLimit) {
  int accused = 0;
  for (std::uint64_t seed = 0; seed < kLogs; ++seed) {
    GeneratedLog log(seed, {.lost_probability = 0.02});
    for (Attempt& row : log.rows) {
      if (row.backend != 1 || row.elapsed <= 20ms || log.random().uniform() >= 0.06) continue;
      row.elapsed = 20ms;
      row.ending = Ending::timed_out;
    }
    const Comparison comparison = compare(log);
    accused += comparison.fleet == FleetJudgement::alike ? 0 : 1;
  }
  EXPECT_LE(accused, 1);
}

TEST_P(CompareLeaving, FindsASlowReplicaThoughManyCallersLeave) {
  for (std::uint64_t seed = 0; seed < kLogs; ++seed) {
    GeneratedLog log(seed);
    change_latencies(log, 2, [&log] { return log.latency(2); });
    for (std::uint16_t replica = 1; replica <= 4; ++replica) leave(log, replica, 0.4, 20);
    const Comparison comparison = compare(log);
    EXPECT_EQ(row_of(comparison, 2).judgement, ReplicaJudgement::slow) << seed;
    EXPECT_THAT(comparison.left_out, ElementsAre(row_of(comparison, 2).backend)) << seed;
  }
}

TEST_P(CompareLeaving, FindsASlowTailThoughCallersLeave) {
  int found = 0;
  for (std::uint64_t seed = 0; seed < kLogs; ++seed) {
    GeneratedLog log(seed);
    change_latencies(log, 2, [&log] { return log.latency() * (log.random().uniform() < 0.12 ? 20 : 1); });
    leave(log, 2, 0.2, 20);
    const Comparison comparison = compare(log);
    found += row_of(comparison, 2).judgement == ReplicaJudgement::slow_tail ? 1 : 0;
  }
  EXPECT_GE(found, kLogs - 1);
}

TEST_P(CompareLeaving, FindsTheReplicaThatNeverRepliesToCallersWhoLeave) {
  for (const double share_hung : {1.0, 0.15}) {
    GeneratedLog log(1, {.lost_probability = 0});
    for (Attempt& row : log.rows) {
      if (row.backend != 3 || log.random().uniform() >= share_hung) continue;
      row.elapsed = Duration(static_cast<std::int64_t>(Uniform{50e6, 300e6}.draw(log.random())));
      row.ending = Ending::abandoned;
    }
    const Comparison comparison = compare(log);
    EXPECT_FALSE(comparison.limit);
    EXPECT_EQ(name_of(row_of(comparison, 3).judgement), share_hung == 1 ? "slow" : "slow_tail");
    EXPECT_THAT(comparison.left_out, ElementsAre(row_of(comparison, 3).backend));
  }
}

TEST_P(CompareLeaving, FindsTheReplicaWhoseCallsAllTimeOutAtACommonShortLimit) {
  for (const Duration jitter : {0ms, 5ms}) {
    GeneratedLog log(2);
    change_latencies(log, 4, [] { return Duration(2h); });
    leave(log, 1, 0.3, 20);
    for (Attempt& row : log.rows) {
      const Duration limit =
          30ms +
          Duration(static_cast<std::int64_t>(log.random().uniform() * static_cast<double>(jitter.count())));
      if (row.elapsed <= limit) continue;
      row.elapsed = limit;
      row.ending = Ending::timed_out;
    }
    const Comparison comparison = compare(log);
    EXPECT_EQ(row_of(comparison, 4).judgement, ReplicaJudgement::slow);
    EXPECT_THAT(comparison.left_out, ElementsAre(row_of(comparison, 4).backend));
  }
}

TEST(CompareReplicas, TakesTheMedianFromTheCurveWhereCallersLeft) {
  NameTable backends;
  const std::uint16_t backend = backends.id_of("a");
  std::vector<Attempt> rows;
  const auto add = [&](Duration elapsed, Ending ending) {
    Attempt& row = rows.emplace_back();
    row.elapsed = elapsed;
    row.ending = ending;
    row.backend = backend;
  };
  for (const Duration reply : {10ms, 20ms, 30ms, 40ms}) add(reply, Ending::replied);
  for (int i = 0; i < 3; ++i) add(15ms, Ending::abandoned);
  // Of 7 one replied before three left; each of the three others stands for two: 3 of 7, 5 of 7 and all.
  Measurement left;
  left.add(rows, backends, {});
  EXPECT_EQ(compare_replicas(left).rows[0].median, 30ms);
  for (Attempt& row : rows) row.elapsed += row.ending == Ending::abandoned ? 30ms : 0ms;
  Measurement stayed;
  stayed.add(rows, backends, {});
  EXPECT_EQ(compare_replicas(stayed).rows[0].median, 40ms);
}

TEST(CompareReplicas, DoesNotKnowAMedianThatNobodyWaitedFor) {
  GeneratedLog log(3);
  for (Attempt& row : log.rows) {
    if (row.backend != 1 || row.elapsed <= 5ms) continue;
    row.elapsed = 5ms;
    row.ending = Ending::abandoned;
  }
  const Comparison comparison = compare_replicas(log.measure());
  EXPECT_FALSE(row_of(comparison, 1).median);
  EXPECT_THAT(comparison.left_out, IsEmpty());
}

}  // namespace
}  // namespace overdue
