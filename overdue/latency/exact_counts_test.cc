#include "overdue/latency/exact_counts.h"

#include <gtest/gtest.h>

#include <map>
#include <utility>
#include <vector>

#include "overdue/base/random.h"

namespace overdue {
namespace {

using namespace std::chrono_literals;

constexpr auto kEndings = static_cast<std::uint16_t>(kEndingCount);

std::map<std::pair<std::int64_t, std::uint32_t>, std::uint64_t> counts_of(const ExactCounts& exact) {
  std::map<std::pair<std::int64_t, std::uint32_t>, std::uint64_t> counts;
  exact.for_each([&](std::uint32_t number, std::uint32_t series, std::uint64_t count) {
    counts[{exact.latency(number).count(), series}] += count;
  });
  return counts;
}

TEST(ExactCounts, CarriesCountsPastSixteenBitsAndNeverWraps) {
  ExactCounts exact;
  const std::vector<Duration> latencies(2000, 5ms);
  const std::vector<std::uint16_t> replies(2000, 0);
  const std::vector<std::uint16_t> resets(2000, static_cast<std::uint16_t>(Ending::reset));
  for (int batch = 0; batch < 100; ++batch) {
    exact.add(latencies, replies);
    exact.add(latencies, resets);
  }
  EXPECT_EQ(exact.count_at(0, 0), 200'000U);
  EXPECT_EQ(exact.count_at(0, static_cast<std::uint32_t>(Ending::reset)), 200'000U);
  exact.add(5ms, 0, ~std::uint64_t{0} - 5);
  EXPECT_EQ(exact.count_at(0, 0), ~std::uint64_t{0});
  exact.add(5ms, 0, 9);
  EXPECT_EQ(exact.count_at(0, 0), ~std::uint64_t{0});
}

TEST(ExactCounts, MergesCountsPastSixteenBitsAndNeverWraps) {
  const std::vector<std::uint16_t> to_series = {kEndings, 2};
  constexpr std::uint64_t kMost = ~std::uint64_t{0};
  // Ours and theirs: sums that pass 16 bits by their low halves alone, by carries alone, by both, and the
  // end.
  const std::vector<std::pair<std::uint64_t, std::uint64_t>> counts = {{0, 1},
                                                                       {1, 0},
                                                                       {0xffff, 1},
                                                                       {0x8000, 0x8000},
                                                                       {0x1'0000, 0x3'0000},
                                                                       {0x1'ffff, 0xf'ffff},
                                                                       {0, kMost},
                                                                       {kMost - 5, 5},
                                                                       {kMost - 5, 6},
                                                                       {kMost, kMost}};
  ExactCounts ours;
  ExactCounts theirs;
  // Numbers differ: theirs come in the other order, and three latencies are theirs alone.
  for (std::size_t at = 0; at < counts.size(); ++at)
    ours.add(Duration(static_cast<std::int64_t>(at)), kEndings, counts[at].first);
  theirs.add(1s, 0, 70'000);
  theirs.add(2s, 1, 70'000);
  theirs.add(3s, 0, kMost);
  theirs.add(3s, 0, 9);  // More than is told.
  for (std::size_t at = counts.size(); at-- > 0;)
    theirs.add(Duration(static_cast<std::int64_t>(at)), 0, counts[at].second);
  ours.merge(theirs, to_series);
  auto merged = counts_of(ours);
  for (std::size_t at = 0; at < counts.size(); ++at) {
    const auto [first, second] = counts[at];
    EXPECT_EQ((merged[{static_cast<std::int64_t>(at), kEndings}]),
              first > kMost - second ? kMost : first + second)
        << at;
  }
  EXPECT_EQ((merged[{Duration(1s).count(), kEndings}]), 70'000U);
  EXPECT_EQ((merged[{Duration(2s).count(), 2}]), 70'000U);
  EXPECT_EQ((merged[{Duration(3s).count(), kEndings}]), kMost);
  EXPECT_EQ(merged.size(), counts.size() + 3);
}

TEST(ExactCounts, KeepsTheLongestLatencyThereIs) {
  ExactCounts exact;
  exact.add(Duration::max(), 0, 1);
  exact.add(Duration(0), 0, 2);
  EXPECT_EQ(counts_of(exact), (decltype(counts_of(exact)){{{Duration::max().count(), 0}, 1}, {{0, 0}, 2}}));
}

// 50 backends that replied, each latency at one of them: more cells than fit, yet not too many latencies.
ExactCounts of_many_backends(std::size_t from, std::size_t to) {
  ExactCounts exact;
  for (std::size_t value = from; value < to; ++value) {
    exact.add(Duration(static_cast<std::int64_t>(value)), static_cast<std::uint16_t>(value % 50 * kEndings),
              1);
    if (value % 1000 == 0) exact.add(Duration(static_cast<std::int64_t>(value)), 7 * kEndings + 3, 2);
  }
  return exact;
}

TEST(ExactCounts, GivesUpBackendsBeforeLatencies) {
  std::vector<std::uint16_t> same_series;
  for (std::uint16_t series = 0; series < 50 * kEndings; ++series) same_series.push_back(series);
  constexpr std::size_t kValues = 90'000;
  const ExactCounts whole = of_many_backends(0, kValues);
  ASSERT_TRUE(whole.pooled());
  ASSERT_FALSE(whole.dropped());
  ExactCounts second = of_many_backends(40'000, kValues);
  EXPECT_FALSE(second.pooled());
  second.merge(of_many_backends(0, 40'000), same_series);
  EXPECT_TRUE(second.pooled());
  const auto counts = counts_of(whole);
  EXPECT_EQ(counts, counts_of(second));
  EXPECT_EQ(counts.size(), kValues + 90);
  EXPECT_EQ(counts.at({7000, 3}), 2U);
  ExactCounts first = of_many_backends(0, 10);
  first.merge(whole, same_series);
  EXPECT_TRUE(first.pooled());
  EXPECT_EQ(counts_of(first).at({3, 0}), 2U);
}

TEST(ExactCounts, GivesUpBackendsWhereThoseOfTheOtherAreOneTooMany) {
  std::vector<std::uint16_t> same_series;
  for (std::uint16_t series = 0; series < 50 * kEndings; ++series) same_series.push_back(series);
  constexpr std::int64_t kValues = 90'000;
  ExactCounts ours;
  for (std::int64_t value = 0; value < kValues; ++value)
    ours.add(Duration(value), static_cast<std::uint16_t>(value % 40 * kEndings), 1);
  ExactCounts theirs;
  for (std::uint16_t backend = 30; backend < 50; ++backend)
    theirs.add(Duration(backend), static_cast<std::uint16_t>(backend * kEndings), 2);
  ASSERT_FALSE(ours.pooled());
  ours.merge(theirs, same_series);
  EXPECT_TRUE(ours.pooled());
  const auto counts = counts_of(ours);
  EXPECT_EQ(counts.size(), static_cast<std::size_t>(kValues));
  for (std::int64_t value = 0; value < 100; ++value)
    EXPECT_EQ((counts.at({value, 0})), value >= 30 && value < 50 ? 3U : 1U) << value;
}

TEST(ExactCounts, GivesUpBackendsWhereOtherEndingsAreTooMany) {
  ExactCounts exact;
  for (std::size_t pair = 0; pair <= ExactCounts::kPairsMax; ++pair) {
    EXPECT_FALSE(exact.pooled());
    exact.add(Duration(static_cast<std::int64_t>(pair / 2)),
              static_cast<std::uint16_t>(4 + pair % 2 * kEndings), 1);
  }
  EXPECT_TRUE(exact.pooled());
  const auto counts = counts_of(exact);
  EXPECT_EQ(counts.size(), ExactCounts::kPairsMax / 2 + 1);
  EXPECT_EQ(counts.at({5, 4}), 2U);
}

TEST(ExactCounts, CountsWholeMicrosecondsAndAllOthersAlike) {
  Random random(5);
  std::map<std::pair<std::int64_t, std::uint32_t>, std::uint64_t> expected;
  ExactCounts whole;
  ExactCounts parts[2];
  std::vector<std::uint16_t> same_series;
  for (std::uint16_t series = 0; series < 4 * kEndings; ++series) same_series.push_back(series);
  for (int batch = 0; batch < 8; ++batch) {
    std::vector<Duration> latencies;
    std::vector<std::uint16_t> series;
    for (int row = 0; row < 1000; ++row) {
      // Around 65.536 ms, where whole microseconds lose their own places; every other one a nanosecond off.
      const auto microseconds =
          static_cast<std::int64_t>(batch < 4 ? random.below(300) : 65'400 + random.below(300));
      latencies.push_back(Duration(microseconds * 1000 + static_cast<std::int64_t>(random.below(2))));
      series.push_back(static_cast<std::uint16_t>(random.below(std::uint64_t{4} * kEndings)));
      ++expected[{latencies.back().count(), series.back()}];
    }
    whole.add(latencies, series);
    parts[batch % 2].add(latencies, series);
  }
  EXPECT_EQ(counts_of(whole), expected);
  parts[1].merge(parts[0], same_series);
  EXPECT_EQ(counts_of(parts[1]), expected);
}

TEST(ExactCounts, TableHoldsWhatWasAddedSinceTheLastOne) {
  ExactCounts exact;
  exact.add(3ms, 0, 70'000);  // Past 16 bits.
  exact.add(1ms, kEndings, 2);
  exact.add(2ms, static_cast<std::uint16_t>(Ending::timed_out), 5);
  exact.add(7ms, static_cast<std::uint16_t>(Ending::refused), 1);  // Never waited: in no row.
  EndingTable table;
  table.clear();
  exact.visit_rows({true, false}, [&table](const EndingRow& row) { table.push_back(row); });
  ASSERT_EQ(table.size(), 2U);
  EXPECT_EQ(table[0].low, 2ms);
  EXPECT_EQ(table[0].timed_out, 5U);
  EXPECT_EQ(table[1].mid, 3ms);
  EXPECT_EQ(table[1].replied, 70'000U);
  exact.add(2ms, 0, 1);
  exact.add(std::vector<Duration>{500us}, std::vector<std::uint16_t>{kEndings});
  table.clear();
  exact.visit_rows({true, true}, [&table](const EndingRow& row) { table.push_back(row); });
  ASSERT_EQ(table.size(), 4U);
  EXPECT_EQ(table[0].high, 500us);
  EXPECT_EQ(table[1].replied, 2U);
  EXPECT_EQ(table[2].replied, 1U);
  EXPECT_EQ(table[2].timed_out, 5U);
}

TEST(ExactCounts, TablesAscendOverWholeMicrosecondsAndAllOthers) {
  Random random(6);
  ExactCounts exact;
  std::map<Duration, std::uint64_t> expected;
  for (int row = 0; row < 4000; ++row) {
    // Around 262.144 ms, where whole microseconds lose their own places; every other one a nanosecond off.
    const auto microseconds = static_cast<std::int64_t>(261'900 + random.below(500));
    const Duration latency(microseconds * 1000 + static_cast<std::int64_t>(random.below(2)));
    const std::uint64_t count = 1 + random.below(400);
    exact.add(latency, static_cast<std::uint16_t>(random.below(2) * kEndings), count);
    expected[latency] += count;
  }
  std::map<Duration, std::uint64_t> found;
  Duration last{};
  exact.visit_rows({true, true}, [&](const EndingRow& row) {
    EXPECT_LT(last, row.low);
    last = row.low;
    found[row.low] = row.replied;
  });
  EXPECT_EQ(found, expected);
}

}  // namespace
}  // namespace overdue
