#include "overdue/latency/doubt_rules.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <deque>
#include <vector>

#include "overdue/base/quantity.h"
#include "overdue/latency/bucket_count.h"
#include "overdue/latency/doubt.h"
#include "overdue/latency/generated_log.h"

// The rules that need a statistic: how often they find what was put into logs of 10,000 calls, and that they
// keep quiet just below it.

namespace overdue {
namespace {

using namespace std::chrono_literals;

constexpr int kLogs = 60;

bool has(const Measurement& measurement, std::string_view code) {
  const std::vector<Doubt> doubts = find_doubts(measurement, {});
  return std::ranges::any_of(doubts, [code](const Doubt& doubt) { return doubt.code == code; });
}

// In how many of 60 logs the doubt is raised after `spoil`.
template <typename Spoil>
int found_in_logs(std::string_view code, const Spoil& spoil) {
  int found = 0;
  for (std::uint64_t seed = 0; seed < kLogs; ++seed) {
    GeneratedLog log(100 + seed);
    spoil(log);
    found += has(log.measure(), code) ? 1 : 0;
  }
  return found;
}

TEST(Change, IsFoundAtHalfAgainAsSlowAndNotAtATenth) {
  const auto slower_from_half = [](double factor) {
    return [factor](GeneratedLog& log) {
      for (std::size_t i = log.rows.size() / 2; i < log.rows.size(); ++i) {
        if (log.rows[i].elapsed < 1h) log.rows[i].elapsed = log.latency(factor);
      }
    };
  };
  EXPECT_GE(found_in_logs("change", slower_from_half(1.5)), 58);
  EXPECT_LE(found_in_logs("change", slower_from_half(1.1)), 1);
}

// Histograms of consecutive stretches of time.
class Cells {
 public:
  void add(const SparseCounts& counts) {
    BucketCounts& cell = cells_.emplace_back();
    for (const BucketCount& entry : counts) cell.add(entry.bucket, entry.count);
    places_.push_back(&cell);
  }
  CountsOverTime over_time() const { return places_; }

 private:
  std::deque<BucketCounts> cells_;
  std::vector<const BucketCounts*> places_;
};

TEST(Change, SaysWhenAndFromWhatToWhat) {
  Cells cells;
  for (std::uint32_t i = 0; i < 64; ++i) cells.add({{i < 48 ? 100U : 200U, 30 + i % 3}, {500, 2}});
  const auto change =
      find_change({.replied = cells.over_time()}, [](std::uint32_t bucket) { return Duration(bucket); });
  ASSERT_TRUE(change);
  EXPECT_EQ(change->after_cell, 48U);
  EXPECT_EQ(change->before.bucket, 100U);
  EXPECT_EQ(change->after.bucket, 200U);
  EXPECT_NEAR(change->after_share, 0.75, 0.01);
}

TEST(Change, IsNotSeenInAFewCells) {
  Cells cells;
  for (std::uint32_t i = 0; i < 15; ++i) cells.add({{i < 8 ? 100U : 200U, 1000}});
  EXPECT_FALSE(
      find_change({.replied = cells.over_time()}, [](std::uint32_t bucket) { return Duration(bucket); }));
  EXPECT_FALSE(find_change({}, [](std::uint32_t bucket) { return Duration(bucket); }));
}

// Each replica pauses at random, every 20 s on average, for 0.2 to 0.5 s; who called waits for the end.
void pause_replicas(GeneratedLog& log, double gap_seconds) {
  const Exponential gap{gap_seconds};
  const WallTime start = log.rows.front().start;
  for (std::uint16_t replica = 1; replica <= 4; ++replica) {
    for (double at = gap.draw(log.random()); at < 60; at += gap.draw(log.random())) {
      const WallTime from = start + Duration(static_cast<std::int64_t>(at * 1e9));
      const WallTime to =
          from + Duration(static_cast<std::int64_t>(Uniform{0.2, 0.5}.draw(log.random()) * 1e9));
      for (Attempt& row : log.rows) {
        if (row.backend == replica && row.start >= from && row.start < to && row.elapsed < 1h)
          row.elapsed += to - row.start;
      }
    }
  }
}

TEST(Bursts, AreFoundWhereReplicasPause) {
  int found = 0;
  for (std::uint64_t seed = 0; seed < kLogs; ++seed) {
    GeneratedLog log(seed, {.lost_probability = 0});
    pause_replicas(log, 20);
    found += has(log.measure(), "bursts") ? 1 : 0;
  }
  EXPECT_GE(found,
            54);  // 95 % in 200 logs. Calls lost at random among the late ones dilute the pauses: 87 %.
}

TEST(Bursts, NeedTwentyLateCallsInTenCellsUnevenlySpread) {
  const auto burst = [](double late, std::size_t cells) {
    std::vector<LateOfCalls> list(cells, {.calls = 100, .late = 0});
    list[1].late = late;
    return find_bursts(list);
  };
  ASSERT_TRUE(burst(20, 10));
  EXPECT_EQ(burst(20, 10)->cells_with_late, 1U);
  EXPECT_FALSE(burst(19, 10));
  EXPECT_FALSE(burst(20, 9));
  EXPECT_FALSE(find_bursts(std::vector<LateOfCalls>(50, {.calls = 100, .late = 2}))) << "evenly spread";
  EXPECT_FALSE(find_bursts({}));
}

TEST(Bursts, AreNotMadeByACallAloneInItsSecond) {
  // At the start, as where calls begun before the first end are logged, in the middle, and at the end.
  for (const std::size_t at : {0U, 200U, 400U}) {
    std::vector<LateOfCalls> cells(400);
    for (std::size_t i = 0; i < cells.size(); ++i) cells[i] = {.calls = 100, .late = i % 4 == 0 ? 1.0 : 0.0};
    const LateOfCalls alone{.calls = 1, .late = 1};
    cells.insert(cells.begin() + static_cast<std::ptrdiff_t>(at), 4, alone);
    EXPECT_FALSE(find_bursts(cells)) << at;
  }
}

// What a proxy has logged since its log was rotated: the calls that ended after that.
void rotate(GeneratedLog& log, Duration limit) {
  const WallTime rotated = log.rows[log.rows.size() / 2].start;
  std::erase_if(log.rows, [&](const Attempt& row) {
    return row.start < rotated && std::min(row.elapsed, limit) < rotated - row.start;
  });
}

TEST(Bursts, AreNotMadeByRotation) {
  int bursts = 0;
  int omissions = 0;
  for (std::uint64_t seed = 0; seed < kLogs; ++seed) {
    GeneratedLog log(seed, {.calls = 20'000, .calls_per_second = 100});
    rotate(log, 20s);
    bursts += has(log.measure(20s), "bursts") ? 1 : 0;
    omissions += has(log.measure(20s), "coordinated_omission") ? 1 : 0;
  }
  EXPECT_LE(bursts, 1);
  EXPECT_EQ(omissions, 0);
}

void heap_at(GeneratedLog& log, Duration at, double share, double again_share) {
  for (Attempt& row : log.rows) {
    if (log.random().uniform() >= share) continue;
    const auto jitter = Duration(static_cast<std::int64_t>(log.random().below(1'000'000)));
    row.elapsed = at * (log.random().uniform() < again_share ? 2 : 1) + jitter;
  }
}

TEST(Heaping, IsFoundAtOnePercentAndNotAtAThousandth) {
  EXPECT_GE(found_in_logs("heaping", [](GeneratedLog& log) { heap_at(log, 200ms, 0.01, 0.2); }), 58);
  EXPECT_LE(found_in_logs("heaping", [](GeneratedLog& log) { heap_at(log, 200ms, 0.0005, 0); }), 3);
}

TEST(Heaping, IsALadderWhereTwiceTheValueStandsOutToo) {
  for (const double again : {0.0, 0.5}) {
    GeneratedLog log(1);
    heap_at(log, 200ms, 0.02, again);
    const std::vector<Heap> heaps = find_heaps(log.measure().table());
    ASSERT_EQ(heaps.size(), again > 0 ? 2U : 1U);
    EXPECT_EQ(std::ranges::any_of(heaps, &Heap::ladder), again > 0);
    EXPECT_NEAR(to_milliseconds(std::ranges::min(heaps, {}, &Heap::at).at), 200.5, 1);
  }
}

EndingTable table_of(const std::vector<std::pair<Duration, std::uint64_t>>& replies) {
  EndingTable table;
  for (const auto& [at, count] : replies)
    table.push_back({.low = at, .mid = at, .high = at, .replied = count});
  return table;
}

TEST(Heaping, NeedsTenRepliesThreeTimesTheNeighboursAndNoChance) {
  // A wide bulk at 1 ms, then the value alone in its part of the tail: 2 expected.
  std::vector<std::pair<Duration, std::uint64_t>> bulk;
  for (int i = 0; i < 500; ++i) bulk.emplace_back(1ms + i * 1111ns, 1);
  for (const std::uint64_t count : {13U, 14U}) {
    auto replies = bulk;
    replies.emplace_back(200ms, count);
    EXPECT_EQ(find_heaps(table_of(replies)).size(),
              count == 14 ? 1U : 0U);  // P(>= 13 | 2) = 2.2e-7.
  }
}

TEST(Heaping, DoesNotTakeTheTicksOfACoarseClockForHeaps) {
  for (const Duration tick :
       {Duration(1ms), Duration(10ms), Duration(4ms), Duration(5ms), Duration(15'625us), Duration(16ms)}) {
    GeneratedLog log(2, {.calls = 20'000});
    for (Attempt& row : log.rows) {
      if (row.elapsed < 1h) row.elapsed = row.elapsed / tick * tick;
    }
    EXPECT_TRUE(find_heaps(log.measure().table()).empty());
  }
}

TEST(Heaping, DoesNotTakeTheBulkOfASteadyServiceForAHeap) {
  EXPECT_TRUE(find_heaps(table_of({{40ms, 279}, {12'040ms, 1}})).empty());
  EXPECT_TRUE(find_heaps({}).empty());
  EXPECT_TRUE(find_heaps(table_of({{0ms, 1000}})).empty());
}

TEST(Heaping, DoesNotTakeABulkNarrowerThanAWindowForAHeap) {
  int heaps = 0;
  for (std::uint64_t seed = 0; seed < kLogs; ++seed) {
    // 20 ms and more, over three octaves, so that the bulk lies anywhere in its cell.
    const double least = 20e6 * std::exp2(static_cast<double>(seed) / 20);
    for (const double scale : {0.002, 0.01, 0.02}) {
      Random random(seed);
      std::vector<Duration> latencies;
      for (int i = 0; i < 8000; ++i) {
        latencies.emplace_back(
            static_cast<std::int64_t>(least * (1 + Exponential{.mean = scale}.draw(random))));
      }
      std::ranges::sort(latencies);
      std::vector<std::pair<Duration, std::uint64_t>> replies;
      for (const Duration latency : latencies) replies.emplace_back(latency, 1);
      heaps += find_heaps(table_of(replies)).empty() ? 0 : 1;
    }
  }
  EXPECT_LE(heaps, 1);
}

TEST(CoordinatedOmission, ReproducesTheFreezeOfTwelveSeconds) {
  Measurement::Starts starts{WallTime{}, 1ms, std::vector<std::uint32_t>(39'901)};
  for (std::size_t i = 0; i < 120; ++i) starts.counts[i * 100] = 1;
  starts.counts[12'000] = 1;
  for (std::size_t i = 0; i < 159; ++i) starts.counts[24'100 + i * 100] = 1;
  const std::vector<Measurement::Interval> longest = {{WallTime(12s), 12'040ms}, {WallTime(0s), 40ms}};
  const OmissionInput input{&starts, longest, 40ms, WallTime(0s), WallTime(39'940ms)};
  const auto omission = find_omission(input);
  ASSERT_TRUE(omission);
  EXPECT_EQ(omission->started, 0U);
  EXPECT_NEAR(omission->expected, 120.8, 0.3);  // Whether the long call itself is among the starts or not.
  EXPECT_EQ(omission->stood_still, 12'040ms);

  // Half of what was due is no standstill.
  for (std::size_t at = 12'100; at < 24'040; at += 100) starts.counts[at] += at % 200 == 0 ? 1 : 0;
  EXPECT_TRUE(find_omission(input));
  starts.counts[12'150] += 40;
  EXPECT_FALSE(find_omission(input));
}

TEST(CoordinatedOmission, IsNotSeenInProbesFurtherApartThanTheirTimeout) {
  struct Case {
    Duration interval, limit;
  };
  for (const Case& probe : {Case{15s, 10s}, Case{10s, 5s}, Case{1s, 900ms}}) {
    GeneratedLog log(3, {.calls = 5'000, .lost_probability = 0.03});
    for (std::size_t i = 0; i < log.rows.size(); ++i)
      log.rows[i].start = log.rows.front().start + probe.interval * static_cast<std::int64_t>(i);
    EXPECT_FALSE(has(log.measure(probe.limit), "coordinated_omission")) << to_milliseconds(probe.interval);
  }
}

TEST(CoordinatedOmission, IsNotSeenBeforeTheLogsFirstOtherCall) {
  GeneratedLog log(4, {.lost_probability = 0});
  log.rows.front().start -= 60s;
  log.rows.front().elapsed = 61s;
  EXPECT_FALSE(has(log.measure(1h), "coordinated_omission"));
}

TEST(CoordinatedOmission, IsNotJudgedWhereLongCallsCoverTheLog) {
  for (std::uint64_t seed = 0; seed < 16; ++seed) {
    for (const Duration tick : {Duration(1ns), Duration(1s)}) {
      GeneratedLog log(seed, {.calls = 20'000, .calls_per_second = 300});
      for (Attempt& row : log.rows) row.start -= row.start.time_since_epoch() % tick;
      for (const Duration limit : {2s, 5s, 10s, 30s})
        EXPECT_FALSE(has(log.measure(limit), "coordinated_omission")) << seed;
    }
  }
}

// Random starts all along, by day 40 a second and by night 8, when some calls take 3 s.
TEST(CoordinatedOmission, IsNotSeenWhereTheSlowCallsAreThoseOfTheNight) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    GeneratedLog log(seed, {.calls = 28'800, .calls_per_second = 40, .lost_probability = 0});
    const WallTime evening = log.rows[24'000].start;
    for (std::size_t i = 24'000; i < log.rows.size(); ++i) {
      Attempt& row = log.rows[i];
      row.start = evening + (row.start - evening) * 5;
      if (log.random().uniform() < 0.004) row.elapsed = 3s;
    }
    EXPECT_FALSE(has(log.measure(20s), "coordinated_omission")) << seed;
  }
}

// Each client calls, waits for the answer and then as long as it is told to: by night ten times as long. For
// five seconds nothing is answered.
TEST(CoordinatedOmission, OfAFewClientsIsSeenByDayAndByNight) {
  constexpr Duration kDay = 120s;
  for (const int clients : {1, 2, 3}) {
    for (const Duration frozen : {Duration(60s), Duration(200s)}) {
      Random random(static_cast<std::uint64_t>(clients));
      std::vector<Attempt> rows;
      for (int client = 0; client < clients; ++client) {
        for (Duration at = client * 7ms; at < 2 * kDay;) {
          Attempt row;
          row.start = WallTime(1'700'000'000s) + at;
          row.has_start = row.begins_call = true;
          row.elapsed = Duration(static_cast<std::int64_t>(1e6 * Lognormal{2.3, 0.5}.draw(random)));
          if (at >= frozen && at < frozen + 5s) row.elapsed += frozen + 5s - at;
          at += row.elapsed + (at < kDay ? 20ms : 200ms);
          rows.push_back(row);
        }
      }
      Measurement measurement;
      measurement.add(rows, NameTable(), NameTable());
      EXPECT_TRUE(has(measurement, "coordinated_omission")) << clients << " at " << frozen.count();
    }
  }
}

TEST(CoordinatedOmission, IsNotSeenWithoutTimesOrLongCalls) {
  EXPECT_FALSE(find_omission({}));
  const Measurement::Starts starts{WallTime{}, 1ms, {1, 0, 1}};
  EXPECT_FALSE(find_omission({&starts, {}, 40ms, WallTime(0s), WallTime(2ms)}));
}

TEST(Load, IsFoundWhereBusySecondsAreThirtyPercentSlower) {
  const auto middle = [](std::uint32_t bucket) { return Duration(bucket); };
  for (const std::uint32_t slower : {129U, 130U}) {
    Cells seconds;
    for (std::uint32_t i = 0; i < 40; ++i)
      seconds.add({{i % 2 == 0 ? 100U : slower, i % 2 == 0 ? 50U + i : 150U + i}});
    EXPECT_EQ(find_load(seconds.over_time(), middle).has_value(), slower == 130);
    // As slow, but when quiet: no load.
    Cells quiet_slow;
    for (std::uint32_t i = 0; i < 40; ++i)
      quiet_slow.add({{i % 2 == 0 ? slower : 100U, i % 2 == 0 ? 50U + i : 150U + i}});
    EXPECT_FALSE(find_load(quiet_slow.over_time(), middle));
  }
}

TEST(Load, NeedsTwentySecondsOfTwentyCalls) {
  const auto middle = [](std::uint32_t bucket) { return Duration(bucket); };
  const auto seconds = [](std::size_t count, std::uint32_t fewest) {
    Cells list;
    for (std::uint32_t i = 0; i < count; ++i) list.add({{100 + 50 * i, fewest + i}});
    return list;
  };
  EXPECT_TRUE(find_load(seconds(20, 20).over_time(), middle));
  EXPECT_FALSE(find_load(seconds(19, 20).over_time(), middle));
  EXPECT_FALSE(find_load(seconds(20, 19).over_time(), middle));
  EXPECT_FALSE(find_load({}, middle));
}

LatencyHistogram route(std::uint64_t seed, int calls, double factor) {
  LatencyHistogram histogram;
  Random random(seed);
  for (int i = 0; i < calls; ++i) {
    histogram.add(Duration(static_cast<std::int64_t>(1e7 * factor * Lognormal{0, 0.3}.draw(random))));
  }
  return histogram;
}

TEST(MixedRoutes, CountsRoutesOfThreeHundredRepliesAndFivePercent) {
  const auto found = [](int calls, int rest) {
    return find_mixed_routes(std::vector<LatencyHistogram>{route(1, rest, 1), route(2, calls, 20)}, {},
                             Probability(0.001))
        .has_value();
  };
  EXPECT_TRUE(found(300, 5000));
  EXPECT_FALSE(found(299, 5000));
  EXPECT_TRUE(found(300, 5700));
  EXPECT_FALSE(found(300, 5720));
  EXPECT_FALSE(find_mixed_routes({}, {}, Probability(0.001)));
}

TEST(MixedRoutes, LeavesAFactorOfThreeAlone) {
  for (const double factor : {2.5, 3.5}) {
    const std::vector<LatencyHistogram> routes = {route(1, 20'000, 1), route(2, 20'000, factor)};
    const auto mixed = find_mixed_routes(routes, {}, Probability(0.01));
    ASSERT_EQ(mixed.has_value(), factor > 3);
    if (!mixed) continue;
    EXPECT_EQ(mixed->slowest, 1U);
    EXPECT_EQ(mixed->quantile, Quantile(0.99));
    EXPECT_NEAR(
        static_cast<double>(mixed->slowest_at.count()) / static_cast<double>(mixed->fastest_at.count()),
        factor, 0.4);
  }
}

}  // namespace
}  // namespace overdue
