#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "overdue/base/time.h"
#include "overdue/latency/ending_row.h"

namespace overdue {

// SurvivalCurve says what share of calls have replied by each latency of a table, when some were given up
// before they could show it. At every row
//     1 = replied + open + reset + rejected.
// A give-up is right-censored where it ended; a call that was reset or rejected never replies and stays at
// risk with the weight of STATISTICS 1, which makes `replied` equal the Aalen-Johansen estimate.
//
// Algorithm: a give-up hands its share to the calls still watched (Efron 1967, "redistribute to the right"),
// so every ending between two give-ups carries one share, 1 / (n G), and all sums are that share times a
// count. No long product of factors is formed: with nothing cut off the shares are counts over n.
//
// Only every kStride-th state is kept, since memory that is written to for the first time costs more than
// going through a few rows again: a row is had in constant time, and a loop over all rows that asks for a few
// points is cheap.
//
// Requires: the table ascends, and lives as long as the curve. Threads: any may read.
class SurvivalCurve {
 public:
  // The state after everything that ended in the row of the same index.
  struct Point {
    double replied = 0;    // R: share of calls that have replied.
    double open = 0;       // A: share neither replied nor otherwise ended.
    double reset = 0;      // J_reset.
    double rejected = 0;   // J_rejected.
    double greenwood = 0;  // V: the sum that gives the variance of S as S^2 V. Infinite once S is 0.
    std::uint64_t watched_after = 0;  // Calls still watched after the row.
    std::uint64_t replies = 0;        // Replies up to and with the row.

    double unreplied() const { return open + reset + rejected; }  // S.
  };

  explicit SurvivalCurve(const EndingTable& table);
  explicit SurvivalCurve(const EndingTable&& table) = delete;  // It would not live as long.

  const EndingTable& table() const { return *table_; }
  std::size_t size() const { return table_->size(); }
  bool empty() const { return table_->empty(); }
  Point operator[](std::size_t row) const;        // Requires: row < size().
  const Point& back() const { return end_; }      // Requires: !empty().
  std::uint64_t calls() const { return calls_; }  // n: every row of the table.

  // The last row whose mid is at or below t; nothing where all lie above.
  std::optional<std::size_t> row_at(Duration t) const;
  // The state at t; before the first row everything is open.
  Point at(Duration t) const;
  // The first row with replied >= share (within 1e-12 of it, so that rounding cannot move a rank); none when
  // the curve up to and with `last_row` does not get there.
  std::optional<std::size_t> first_row_reaching(double share, std::size_t last_row) const;
  // The row with the reply of this rank. Requires: 1 <= rank <= back().replies.
  std::size_t row_of_reply(std::uint64_t rank) const;

 private:
  static constexpr std::size_t kStride = 16;

  // What stands between two rows: the point where calls were last given up, and counts since. Sums are the
  // share of one watched call times a count, so that rounding does not grow with the rows.
  class State {
   public:
    explicit State(std::uint64_t calls);
    void take(const EndingRow& row);
    Point point() const;

   private:
    void give_up(std::uint64_t count);

    Point base_;
    double share_ = 0;      // 1 / (n G).
    double effective_ = 0;  // Y* of STATISTICS 1, at the base.
    std::uint64_t watched_ = 0;
    std::uint64_t replied_ = 0;
    std::uint64_t reset_ = 0;
    std::uint64_t rejected_ = 0;
    bool all_gave_up_ = false;  // Their share stays open, whatever empty rows follow.
  };

  const EndingTable* table_;
  std::uint64_t calls_ = 0;
  std::vector<State> before_;  // Before row 0, kStride, 2 kStride ...
  Point end_;
};

}  // namespace overdue
