#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "overdue/base/quantity.h"
#include "overdue/latency/doubt_rules.h"
#include "overdue/latency/generated_log.h"

// Routes differ by their latencies, not by their limits.

namespace overdue {
namespace {

using namespace std::chrono_literals;

constexpr int kLogs = 20;

std::optional<MixedRoutes> find_in(const GeneratedLog& log, double accept_false, Duration limit = 1s) {
  Measurement measurement = log.measure(limit);
  measurement.order_routes_by_name();
  return find_mixed_routes(measurement.replies_by_route(), measurement.give_ups_by_route(),
                           Probability(accept_false));
}

void limit_route(GeneratedLog& log, std::uint16_t route, Duration limit, double share = 1) {
  for (Attempt& row : log.rows) {
    if (row.route != route || row.elapsed <= limit || log.random().uniform() >= share) continue;
    row.elapsed = limit;
    row.ending = Ending::timed_out;
  }
}

void slow_route(GeneratedLog& log, std::uint16_t route, int factor) {
  for (Attempt& row : log.rows) row.elapsed *= row.route == route && row.elapsed < 1h ? factor : 1;
}

TEST(RoutesUnderGiveUps, AreAlikeWhereOneHasAShorterLimit) {
  for (const Duration limit : {130ms, 90ms, 20ms}) {
    for (const double accept_false : {0.001, 0.01, 0.5}) {
      int mixed = 0;
      for (std::uint64_t seed = 0; seed < kLogs; ++seed) {
        GeneratedLog log(seed);
        limit_route(log, 1, limit);
        mixed += find_in(log, accept_false) ? 1 : 0;
      }
      EXPECT_EQ(mixed, 0) << to_milliseconds(limit);
    }
  }
}

TEST(RoutesUnderGiveUps, AreAlikeWhereTheCallersOfOneLeave) {
  int mixed = 0;
  for (std::uint64_t seed = 0; seed < kLogs; ++seed) {
    GeneratedLog log(seed);
    for (Attempt& row : log.rows) {
      const Duration patience = Duration(static_cast<std::int64_t>(Exponential{20e6}.draw(log.random())));
      if (row.route != 2 || row.elapsed <= patience) continue;
      row.elapsed = patience;
      row.ending = Ending::abandoned;
    }
    mixed += find_in(log, 0.001) || find_in(log, 0.01) ? 1 : 0;
  }
  EXPECT_EQ(mixed, 0);
}

TEST(RoutesUnderGiveUps, DifferAsFarAsTheyAreSeen) {
  for (std::uint64_t seed = 0; seed < kLogs; ++seed) {
    GeneratedLog log(seed);
    slow_route(log, 1, 8);
    limit_route(log, 1, 150ms);
    const auto mixed = find_in(log, 0.001);
    ASSERT_TRUE(mixed);
    EXPECT_EQ(mixed->slowest, 1U);
    EXPECT_LT(mixed->quantile, Quantile(0.98));
    EXPECT_LE(mixed->slowest_at, 150ms);
  }
}

TEST(RoutesUnderGiveUps, DifferThoughHalfTheCallersOfOneAreCutOff) {
  GeneratedLog log(1);
  slow_route(log, 1, 8);
  limit_route(log, 1, 50ms, 0.5);
  const auto mixed = find_in(log, 0.01);
  ASSERT_TRUE(mixed);
  EXPECT_EQ(mixed->slowest, 1U);
}

TEST(RoutesUnderGiveUps, AreNotHiddenByOneThatShowsLittle) {
  GeneratedLog log(2, {.calls = 20'000, .lost_probability = 0});
  slow_route(log, 1, 8);
  for (Attempt& row : log.rows) {
    if (row.route == 2 && log.random().uniform() < 0.8) row.elapsed = 1h;
  }
  const auto mixed = find_in(log, 0.01, 10s);
  ASSERT_TRUE(mixed);
  EXPECT_EQ(mixed->slowest, 1U);
  EXPECT_EQ(mixed->quantile, Quantile(0.99));
}

TEST(RoutesUnderGiveUps, AreKeptThroughMergingAndOrdering) {
  const auto measure = [](const std::vector<std::pair<std::string, Ending>>& calls) {
    NameTable routes;
    std::vector<Attempt> rows;
    for (const auto& [route, ending] : calls) {
      rows.push_back({.elapsed = 5ms, .ending = ending});
      rows.back().route = routes.id_of(route);
    }
    Measurement measurement;
    measurement.add(rows, NameTable(), routes);
    return measurement;
  };
  Measurement measurement = measure({{"/b", Ending::timed_out},
                                     {"/b", Ending::abandoned},
                                     {"/b", Ending::rejected},
                                     {"/a", Ending::replied}});
  measurement.merge(measure({{"/a", Ending::timed_out}, {"/b", Ending::timed_out}}));
  measurement.order_routes_by_name();
  ASSERT_EQ(measurement.give_ups_by_route().size(), 3U);
  EXPECT_TRUE(measurement.give_ups_by_route()[0].empty());
  EXPECT_EQ(measurement.routes().name_of(1), "/a");
  EXPECT_EQ(measurement.give_ups_by_route()[1].total(), 1U);
  EXPECT_EQ(measurement.give_ups_by_route()[2].count_at(LatencyHistogram::bucket_of(5ms)), 3U);

  std::vector<std::pair<std::string, Ending>> many;
  for (std::size_t i = 0; i <= Measurement::kRoutesMax; ++i)
    many.emplace_back("/" + std::to_string(i), Ending::timed_out);
  measurement.merge(measure(many));
  EXPECT_TRUE(measurement.routes_overflowed());
  EXPECT_TRUE(measurement.give_ups_by_route().empty());
}

}  // namespace
}  // namespace overdue
