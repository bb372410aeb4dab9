#include <gtest/gtest.h>

#include <iostream>
#include <map>

#include "overdue/latency/block_inflation.h"
#include "overdue/latency/compare.h"
#include "overdue/latency/doubt.h"
#include "overdue/latency/generated_log.h"
#include "overdue/latency/later_than.h"

// How often each doubt is raised of 500 logs that give no reason to: 10,000 independent calls each.

namespace overdue {
namespace {

using namespace std::chrono_literals;

constexpr int kLogs = 500;
constexpr int kFalseAlarmsMax = kLogs / 100;

Duration reply_quantile(const EndingTable& table, Quantile q) {
  std::uint64_t replies = 0;
  for (const EndingRow& row : table) replies += row.replied;
  std::uint64_t seen = 0;
  for (const EndingRow& row : table) {
    seen += row.replied;
    if (seen >= rank_of(q, replies)) return row.mid;
  }
  return table.back().mid;
}

BlockInflation inflation_of(const Measurement& measurement, Duration late_above) {
  std::vector<BlockTail> blocks(measurement.blocks().block_count());
  const LaterThan later(late_above, measurement.table(), LaterThan::Of::replies);
  for (std::uint16_t backend = 0; backend < measurement.backends().size(); ++backend) {
    const std::uint32_t series = Measurement::series_of(backend, Ending::replied);
    if (series >= measurement.blocks().series_count()) continue;
    for (std::uint32_t b = 0; b < blocks.size(); ++b) {
      const BucketCounts& counts = measurement.blocks().at(series, b);
      blocks[b].replied += static_cast<double>(counts.total());
      const LaterThan::Count late = later.in(counts);
      blocks[b].late += late.expected;
      blocks[b].spread += late.spread;
    }
  }
  return block_inflation(blocks);
}

std::map<std::string, int> count_doubts(double calls_per_second, Probability accept_false,
                                        DoubtContext::OpenCalls open_calls) {
  std::map<std::string, int> counts;
  for (int i = 0; i < kLogs; ++i) {
    const GeneratedLog log(static_cast<std::uint64_t>(i), {.calls_per_second = calls_per_second});
    const Measurement measurement = log.measure();
    const Comparison comparison = compare_replicas(measurement);
    DoubtContext context;
    context.accept_false = accept_false;
    context.point = reply_quantile(measurement.table(), complement(accept_false));
    context.recommended = *context.point + *context.point / 50;
    context.open_calls = open_calls;
    context.open_share = 0.004;
    context.longest_wait = 1s;
    const BlockInflation inflation = inflation_of(measurement, *context.point);
    context.vif = inflation.vif;
    context.effective_late_calls = inflation.effective_late_calls;
    context.comparison = &comparison;
    for (const Doubt& doubt : find_doubts(measurement, context)) ++counts[doubt.code];
  }
  std::cout << "of " << kLogs << " logs at " << calls_per_second << " calls/s, e = " << accept_false.value()
            << ":";
  for (const std::string_view code : kDoubtCodes)
    std::cout << ' ' << code << ' ' << counts[std::string(code)];
  std::cout << '\n';
  return counts;
}

// At 1 % accepted the 0.4 % without a reply do not matter, so nothing is plainly true of these logs but that
// 50 s are short.
TEST(DoubtFalseAlarms, AreOnePercentAtMostAtTwoHundredCallsASecond) {
  auto counts = count_doubts(200, Probability(0.01), DoubtContext::OpenCalls::enough);
  EXPECT_EQ(counts["short_log"], kLogs);
  counts.erase("short_log");
  for (const auto& [code, count] : counts) EXPECT_LE(count, kFalseAlarmsMax) << code;
}

// Over 400 s no log is short; at 0.1 % the open calls matter, and it is true that they were read as lost.
TEST(DoubtFalseAlarms, AreOnePercentAtMostAtTwentyFiveCallsASecondAndOneInAThousand) {
  auto counts = count_doubts(25, Probability(0.001), DoubtContext::OpenCalls::lost);
  EXPECT_EQ(counts["slow_or_lost"], kLogs);
  counts.erase("slow_or_lost");
  for (const auto& [code, count] : counts) EXPECT_LE(count, kFalseAlarmsMax) << code;
}

}  // namespace
}  // namespace overdue
