#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "overdue/base/time.h"
#include "overdue/latency/block_range.h"

namespace overdue {

// StartCells counts the starts in each of at most 65,536 equal cells of time, aligned like the blocks of a
// TimeGrid and as independent of order. The least length of a cell is a millisecond. Errors: a cell stops at
// 2^32 - 1, never wraps. Threads: none.
class StartCells {
 public:
  static constexpr std::uint32_t kCellsMax = 65'536;

  void add(std::span<const WallTime> starts);
  void merge(const StartCells& other);
  // As TimeGrid::expect(). Requires: empty().
  void expect(WallTime first, WallTime last);

  bool empty() const { return range_.empty(); }
  Duration cell_length() const { return range_.length(); }
  WallTime first_cell_start() const;          // Requires: !empty().
  std::vector<std::uint32_t> counts() const;  // From the first cell with a start to the last.

 private:
  static void add_to(std::uint32_t& cell, std::uint32_t count) {
    if (__builtin_add_overflow(cell, count, &cell)) [[unlikely]]
      cell = 0xffff'ffff;
  }
  std::size_t slot_of(std::int64_t cell) const {
    return static_cast<std::size_t>(static_cast<std::uint64_t>(cell) & (cells_.size() - 1));
  }
  void move_to(WallTime at);
  bool is_in_cell(WallTime at) const {
    return static_cast<std::uint64_t>(at.time_since_epoch().count()) - cell_start_ < cell_span_;
  }
  void refit(const BlockRange& before, unsigned doublings);

  BlockRange range_{std::chrono::milliseconds(1), kCellsMax};
  std::vector<std::uint32_t> cells_;  // A ring, as in TimeGrid.
  std::uint64_t cell_start_ = 0;
  std::uint64_t cell_span_ = 0;
  std::size_t slot_ = 0;
};

}  // namespace overdue
