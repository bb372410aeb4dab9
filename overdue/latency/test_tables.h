#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "overdue/base/attempt.h"
#include "overdue/base/check.h"
#include "overdue/latency/ending_row.h"
#include "overdue/latency/histogram.h"

// Ending tables written by hand, for tests.
namespace overdue::testing_tables {

struct Ended {
  Duration after{};
  Ending ending = Ending::replied;
  std::uint64_t count = 1;
};

inline std::uint64_t& count_of(EndingRow& row, Ending ending) {
  switch (ending) {
    case Ending::replied:
      return row.replied;
    case Ending::rejected:
      return row.rejected;
    case Ending::reset:
      return row.reset;
    case Ending::timed_out:
      return row.timed_out;
    case Ending::abandoned:
      return row.abandoned;
    case Ending::refused:
      break;
  }
  check_failed("a refused attempt is in no table");
}

inline EndingTable exact_table(const std::vector<Ended>& ended) {
  std::map<Duration, EndingRow> rows;
  for (const Ended& one : ended) {
    EndingRow& row = rows[one.after];
    row.low = row.mid = row.high = one.after;
    count_of(row, one.ending) += one.count;
  }
  EndingTable table;
  for (const auto& [after, row] : rows) table.push_back(row);
  return table;
}

inline EndingTable bucket_table(const std::vector<Ended>& ended) {
  std::map<std::uint32_t, EndingRow> rows;
  for (const Ended& one : ended) {
    const std::uint32_t bucket = LatencyHistogram::bucket_of(one.after);
    EndingRow& row = rows[bucket];
    row.low = LatencyHistogram::low_of(bucket);
    row.mid = LatencyHistogram::middle_of(bucket);
    row.high = LatencyHistogram::high_of(bucket);
    count_of(row, one.ending) += one.count;
  }
  EndingTable table;
  for (const auto& [bucket, row] : rows) table.push_back(row);
  return table;
}

// `count` replies at step, 2 step, ... count * step, and the others.
inline EndingTable evenly_replied(int count, Duration step, const std::vector<Ended>& others = {}) {
  std::vector<Ended> ended = others;
  for (int i = 1; i <= count; ++i) ended.push_back({i * step});
  return exact_table(ended);
}

}  // namespace overdue::testing_tables
