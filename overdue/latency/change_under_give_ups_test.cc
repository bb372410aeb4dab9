#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <functional>

#include "overdue/latency/bucket_count.h"
#include "overdue/latency/doubt.h"
#include "overdue/latency/doubt_rules.h"
#include "overdue/latency/generated_log.h"

// A change is one of latencies: not of limits, nor of how many callers leave.

namespace overdue {
namespace {

using namespace std::chrono_literals;

constexpr int kLogs = 30;

Duration milliseconds(double value) { return Duration(static_cast<std::int64_t>(value * 1e6)); }

// One call in six is slow: a limit of 100 ms cuts off what lies beyond the p88.
Duration slow_tailed(Random& random, double factor) {
  const bool slow = random.uniform() < 0.15;
  return milliseconds(factor * (slow ? Uniform{40, 400}.draw(random) : Lognormal{2, 0.5}.draw(random)));
}
Duration wide(Random& random, double factor) { return milliseconds(factor * Lognormal{4, 1}.draw(random)); }

// How a call of `elapsed`, begun after this share of the log, ends.
using End = std::function<void(Attempt& row, double after, Random& random)>;

void cut_at(Attempt& row, Duration limit, Ending ending = Ending::timed_out) {
  if (row.elapsed <= limit) return;
  row.elapsed = limit;
  row.ending = ending;
}

End limits(Duration before, Duration after_half) {
  return [=](Attempt& row, double after, Random&) { cut_at(row, after < 0.5 ? before : after_half); };
}

End callers_leave_after_half(double share, double mean_milliseconds) {
  return [=](Attempt& row, double after, Random& random) {
    if (after > 0.5 && random.uniform() < share)
      cut_at(row, milliseconds(Exponential{mean_milliseconds}.draw(random)), Ending::abandoned);
    cut_at(row, 3s);
  };
}

// In how many of the logs a change is seen, if latencies change by `factor` at three fifths.
int changes_seen(Duration (*latency)(Random&, double), const End& end, double factor = 1) {
  int seen = 0;
  for (std::uint64_t seed = 0; seed < kLogs; ++seed) {
    GeneratedLog log(seed, {.calls = 12'000, .calls_per_second = 40});
    for (std::size_t i = 0; i < log.rows.size(); ++i) {
      const double after = static_cast<double>(i) / static_cast<double>(log.rows.size());
      log.rows[i].elapsed = latency(log.random(), after < 0.6 ? 1 : factor);
      end(log.rows[i], after, log.random());
    }
    const std::vector<Doubt> doubts = find_doubts(log.measure(1h), {});
    seen += std::ranges::any_of(doubts, [](const Doubt& doubt) { return doubt.code == "change"; }) ? 1 : 0;
  }
  return seen;
}

TEST(ChangeUnderGiveUps, IsNotMadeByANewLimit) {
  EXPECT_LE(changes_seen(slow_tailed, limits(1s, 100ms)), 1);
  EXPECT_LE(changes_seen(slow_tailed, limits(60ms, 1s)), 1);
  EXPECT_LE(changes_seen(wide, limits(3s, 150ms)), 1);
  EXPECT_LE(changes_seen(wide, limits(3s, 45ms)), 1) << "below the median";
}

TEST(ChangeUnderGiveUps, IsNotMadeByCallersWhoBeginToLeave) {
  EXPECT_LE(changes_seen(wide, callers_leave_after_half(0.3, 50)), 1);
  EXPECT_LE(changes_seen(slow_tailed, callers_leave_after_half(0.6, 20)), 1);
}

TEST(ChangeUnderGiveUps, IsNotMadeByRejections) {
  const End rejected = [](Attempt& row, double after, Random& random) {
    if (after < 0.5 || random.uniform() >= 0.6) return;
    row.elapsed = 1ms;
    row.ending = Ending::rejected;
  };
  EXPECT_LE(changes_seen(wide, rejected), 1);
}

TEST(ChangeUnderGiveUps, OfLatenciesIsFound) {
  EXPECT_GE(changes_seen(slow_tailed, limits(1s, 100ms), 1.5), kLogs - 1);
  EXPECT_GE(changes_seen(slow_tailed, limits(60ms, 1s), 1 / 1.5), kLogs - 1);
  EXPECT_GE(changes_seen(wide, callers_leave_after_half(0.3, 50), 1.5), kLogs - 1);
  EXPECT_GE(changes_seen(slow_tailed, callers_leave_after_half(0.6, 20), 1.5), kLogs - 1);
}

// Calls of consecutive stretches of time.
class Cells {
 public:
  void add(const SparseCounts& replied, const SparseCounts& gave_up) {
    replied_.push_back(&cell_of(replied));
    gave_up_.push_back(&cell_of(gave_up));
  }
  std::optional<Change> find() const {
    return find_change({replied_, gave_up_}, [](std::uint32_t bucket) { return Duration(bucket); });
  }

 private:
  const BucketCounts& cell_of(const SparseCounts& counts) {
    BucketCounts& cell = cells_.emplace_back();
    for (const BucketCount& entry : counts) cell.add(entry.bucket, entry.count);
    return cell;
  }
  std::deque<BucketCounts> cells_;
  std::vector<const BucketCounts*> replied_;
  std::vector<const BucketCounts*> gave_up_;
};

TEST(ChangeUnderGiveUps, IsOneWhereEvenWhatIsSeenIsFarOff) {
  for (const std::uint32_t limit : {124U, 125U}) {
    Cells cells;
    for (std::uint32_t i = 0; i < 64; ++i) {
      if (i < 48) cells.add({{100, 60 + i % 3}}, {});
      if (i >= 48) cells.add({{100, 40 + i % 3}}, {{limit, 20}});
    }
    const auto change = cells.find();
    ASSERT_EQ(change.has_value(), limit == 125);
    if (!change) continue;
    EXPECT_EQ(change->quantile, Quantile(0.9));
    EXPECT_EQ(change->before.bucket, 100U);
    EXPECT_TRUE(change->before.seen);
    EXPECT_EQ(change->after.bucket, 125U);
    EXPECT_FALSE(change->after.seen);
  }
}

TEST(ChangeUnderGiveUps, IsNoneWhereAQuantileIsCutOffBelowTheOthers) {
  Cells cells;
  for (std::uint32_t i = 0; i < 64; ++i) {
    if (i < 48) cells.add({{100, 40 + i % 3}, {300, 20}}, {});
    if (i >= 48) cells.add({{100, 40 + i % 3}}, {{200, 20}});
  }
  EXPECT_FALSE(cells.find());
}

TEST(ChangeUnderGiveUps, IsNotReadOffTheLastFewThatAreWatched) {
  for (const std::uint32_t patient : {1U, 2U}) {
    Cells cells;
    for (std::uint32_t i = 0; i < 64; ++i) {
      if (i < 48) cells.add({{100, 40 + i % 3}, {300, 20}}, {});
      if (i >= 48) cells.add({{100, 40 + i % 3}, {500, patient}}, {{200, 20 - patient}});
    }
    EXPECT_EQ(cells.find().has_value(), patient == 2) << "16 and 32 of 320";
  }
}

}  // namespace
}  // namespace overdue
