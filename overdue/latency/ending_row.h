#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "overdue/base/attempt.h"
#include "overdue/base/probability.h"
#include "overdue/base/time.h"

namespace overdue {

// EndingRow says how many attempts ended, and how, at one latency: an exact value, or one bucket of a
// histogram. Everything the survival curve and the timeout need of a log is a list of these in ascending
// order.
//
// Exact value: low == mid == high. Bucket: low is its least value, high its greatest, mid the midpoint
// (within 1/129 of every value in it). Interval ends take low or high, points take mid.
// At equal times replies come first, then resets and rejections, then give-ups (STATISTICS 1).
struct EndingRow {
  Duration low{};
  Duration mid{};
  Duration high{};
  std::uint64_t replied = 0;
  std::uint64_t rejected = 0;
  std::uint64_t reset = 0;
  std::uint64_t timed_out = 0;
  std::uint64_t abandoned = 0;

  std::uint64_t gave_up() const { return timed_out + abandoned; }
  bool is_empty() const { return replied + rejected + reset + gave_up() == 0; }
  // A refused attempt never waited and is in no row.
  void add(Ending ending, std::uint64_t count);
  std::uint64_t count_of(Ending ending) const;  // Of refused: 0.
};

// Ascending by low, no two rows with the same low.
using EndingTable = std::vector<EndingRow>;
// Where rows are handed over one by one, in the order of a table, none of them empty.
using VisitRow = std::function<void(const EndingRow&)>;

// The row with the nearest-rank quantile of the replies alone, 1-based rank ceil(q * replies): what a
// dashboard shows. nullopt without replies.
std::optional<EndingRow> reply_at(const EndingTable& table, Quantile q);

}  // namespace overdue
