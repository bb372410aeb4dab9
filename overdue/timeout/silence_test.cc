#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "overdue/base/random.h"
#include "overdue/timeout/analysis.h"

// Logs of which most of the time holds no call, and logs of a clock that ticks slowly.

namespace overdue {
namespace {

using namespace std::chrono_literals;

const WallTime kMonday = WallTime(Duration(1'700'000'000'000'000'000));

struct Rows {
  NameTable backends;
  NameTable routes;
  std::vector<Attempt> rows;

  void add(WallTime start, const std::string& backend, Duration elapsed) {
    Attempt row;
    row.start = start;
    row.has_start = true;
    row.begins_call = true;
    row.backend = backends.id_of(backend);
    row.elapsed = elapsed;
    rows.push_back(row);
  }
  // Ten minutes of 50 calls a second, the fourth backend six times slower.
  void add_ten_minutes(WallTime from) {
    Random random(4);
    for (int i = 0; i < 30'000; ++i) {
      const int place = i % 4;
      const auto us = static_cast<std::int64_t>(10'000 + random.below(20'000)) * (place == 3 ? 6 : 1);
      add(from + i * 20ms, std::string(1, static_cast<char>('a' + place)), us * 1us);
    }
  }
  Analysis analyse_them() const {
    Measurement measurement;
    measurement.add(rows, backends, routes);
    return analyse(measurement, {});
  }
};

void expect_slow_one_left_out(const Analysis& analysis) {
  ASSERT_TRUE(analysis.advice.request_timeout);
  EXPECT_LE(*analysis.advice.request_timeout, 31ms);
  ASSERT_EQ(analysis.comparison.left_out.size(), 1U);
  EXPECT_NEAR(analysis.attempts_per_second.value(), 50, 2);
}

TEST(Silence, ACallThatBeganLongBeforeTheOthersHidesNoSlowReplica) {
  for (const Duration before : {Duration(30min), Duration(1h), Duration(24h)}) {
    SCOPED_TRACE(before.count());
    Rows rows;
    rows.add_ten_minutes(kMonday);
    rows.add(kMonday - before, "a", before);
    expect_slow_one_left_out(rows.analyse_them());
  }
}

TEST(Silence, BetweenTwoFilesHidesNoSlowReplica) {
  for (const Duration apart : {Duration(1h), Duration(24h), Duration(24h * 7)}) {
    SCOPED_TRACE(apart.count());
    Rows rows;
    rows.add_ten_minutes(kMonday);
    rows.add_ten_minutes(kMonday + apart);
    expect_slow_one_left_out(rows.analyse_them());
  }
}

TEST(Silence, OfMostOfTheLogLeavesTheDependenceUnknown) {
  Rows rows;
  rows.add_ten_minutes(kMonday);
  EXPECT_TRUE(rows.analyse_them().advice.vif_known);
  rows.add_ten_minutes(kMonday + 24h);
  const Analysis analysis = rows.analyse_them();
  EXPECT_FALSE(analysis.advice.vif_known);
  EXPECT_GT(analysis.advice.blocks_with_replies, 0U);
}

TEST(Silence, ShorterThanATenthOfTheLogIsTraffic) {
  Rows rows;
  for (int minute = 0; minute < 60; minute += 4) {
    for (int i = 0; i < 600; ++i) rows.add(kMonday + minute * 1min + i * 100ms, "a", 10ms);
  }
  EXPECT_NEAR(rows.analyse_them().attempts_per_second.value(), 9000.0 / (57 * 60), 0.01);
}

// Lognormal about a median, one of four so many times slower, on a clock of `tick`.
Analysis on_a_clock(Duration tick, double median_ms, double times, bool rounded) {
  Random random(11);
  Rows rows;
  for (int i = 0; i < 20'000; ++i) {
    const auto place = static_cast<int>(random.below(4));
    const double normal =
        std::sqrt(-2 * std::log(1 - random.uniform())) * std::cos(2 * 3.14159265358979 * random.uniform());
    const double ms = median_ms * std::exp(0.5 * normal) * (place == 2 ? times : 1);
    const auto ticks = (ms * 1e6 + (rounded ? 0.5 : 0.0) * static_cast<double>(tick.count())) /
                       static_cast<double>(tick.count());
    rows.add(kMonday + i * 20ms, std::string(1, static_cast<char>('a' + place)),
             static_cast<std::int64_t>(ticks) * tick);
  }
  return rows.analyse_them();
}

TEST(SlowClock, MakesNoReplicaSlow) {
  EXPECT_TRUE(on_a_clock(1ms, 1.45, 1.07, true).comparison.left_out.empty());
  EXPECT_TRUE(on_a_clock(1ms, 1.97, 1.03, false).comparison.left_out.empty());
  EXPECT_TRUE(on_a_clock(1ms, 3.3, 1.10, true).comparison.left_out.empty());
  EXPECT_TRUE(on_a_clock(15'625us, 30.5, 1.05, false).comparison.left_out.empty());
}

TEST(SlowClock, HidesNoSlowReplica) {
  for (const double times : {1.5, 3.0, 8.0}) {
    EXPECT_EQ(on_a_clock(1us, 3.3, times, true).comparison.left_out.size(), 1U) << times;
    EXPECT_EQ(on_a_clock(1ms, 3.3, times, true).comparison.left_out.size(), 1U) << times;
    EXPECT_EQ(on_a_clock(1ms, 10, times, false).comparison.left_out.size(), 1U) << times;
  }
}

}  // namespace
}  // namespace overdue
