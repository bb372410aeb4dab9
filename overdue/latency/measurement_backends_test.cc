#include "overdue/latency/measurement.h"

#include <gtest/gtest.h>

#include <optional>
#include <utility>
#include <vector>

#include "overdue/base/random.h"
#include "overdue/latency/survival_curve.h"

// What a measurement answers for one of many backends.

namespace overdue {
namespace {

using namespace std::chrono_literals;

// The answers for one of many backends, each found without a table of it, against its table.
void expect_like_its_table(const Measurement& measurement, std::uint16_t backend) {
  const EndingTable table = measurement.table_of(backend);
  std::uint64_t replies = 0;
  for (const EndingRow& row : table) replies += row.replied;
  const std::vector<std::uint64_t> ranks = {1, replies / 2, replies / 2 + 1, replies, replies + 1};
  const auto rows = measurement.reply_rows_of(backend, ranks);
  std::uint64_t seen = 0;
  std::vector<std::optional<EndingRow>> expected(ranks.size());
  for (const EndingRow& row : table) {
    seen += row.replied;
    for (std::size_t i = 0; i < ranks.size(); ++i) {
      if (!expected[i] && seen >= ranks[i]) expected[i] = row;
    }
  }
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    ASSERT_EQ(rows[i].has_value(), expected[i].has_value()) << ranks[i];
    if (!rows[i]) continue;
    EXPECT_EQ(rows[i]->low, expected[i]->low);
    EXPECT_EQ(rows[i]->mid, expected[i]->mid);
    EXPECT_EQ(rows[i]->high, expected[i]->high);
  }
  std::vector<std::pair<Duration, std::uint64_t>> timed_out;
  for (const EndingRow& row : table) {
    if (row.timed_out > 0) timed_out.emplace_back(row.low, row.timed_out);
  }
  EXPECT_EQ(measurement.ends_of(backend, Ending::timed_out), timed_out);
  const SurvivalCurve curve(table);
  for (const Duration split : {table.front().mid, table[table.size() / 2].mid, table.back().mid + 1ns}) {
    const EndingTable joined = measurement.joined_table_of(backend, split);
    const SurvivalCurve joined_curve(joined);
    EXPECT_EQ(joined_curve.calls(), curve.calls());
    EXPECT_NEAR(joined_curve.at(split).open, curve.at(split).open, 1e-12);
    EXPECT_NEAR(joined_curve.back().replied, curve.back().replied, 1e-12);
    EXPECT_NEAR(joined_curve.back().rejected, curve.back().rejected, 1e-12);
  }
}

TEST(Measurement, AnswersForOneBackendWithoutATableAsFromItsTable) {
  NameTable backends;
  backends.id_of("a");
  backends.id_of("b");
  Random random(11);
  for (const std::int64_t step : {std::int64_t{1'000'000}, std::int64_t{1000}, std::int64_t{7}}) {
    Measurement measurement;
    std::vector<Attempt> rows;
    for (int row = 0; row < (step == 7 ? 400'000 : 150'000); ++row) {
      const Duration elapsed(step * static_cast<std::int64_t>(1 + random.below(step == 7 ? 400'000 : 4000)));
      const auto ending = random.below(50) > 0 ? Ending::replied : static_cast<Ending>(random.below(6));
      // So many at one millisecond that 16 bits do not hold them.
      rows.push_back({.elapsed = step == 1'000'000 && row % 2 == 0 ? 40ms : elapsed,
                      .backend = static_cast<std::uint16_t>(1 + random.below(2)),
                      .ending = ending});
    }
    measurement.add(rows, backends, NameTable());
    EXPECT_EQ(measurement.resolution(),
              step == 7 ? Measurement::Resolution::bucket : Measurement::Resolution::exact);
    expect_like_its_table(measurement, 1);
    expect_like_its_table(measurement, 2);
  }
}

}  // namespace
}  // namespace overdue
