#include "overdue/latency/starts.h"

#include <algorithm>
#include <bit>
#include <utility>

namespace overdue {
namespace {

constexpr std::size_t kRingSizeMin = 64;

}  // namespace

void StartCells::add(std::span<const WallTime> starts) {
  for (std::size_t index = 0; index < starts.size();) {
    if (!is_in_cell(starts[index])) move_to(starts[index]);
    // Logs are nearly sorted by time: count those of one cell before touching it.
    std::uint32_t together = 1;
    for (++index; index < starts.size() && is_in_cell(starts[index]); ++index) ++together;
    add_to(cells_[slot_], together);
  }
}

void StartCells::move_to(WallTime at) {
  const BlockRange before = range_;
  const unsigned doublings = range_.include(at);
  refit(before, doublings);
  const std::int64_t cell = range_.block_of(at);
  cell_start_ = static_cast<std::uint64_t>(range_.start_of(cell));
  cell_span_ = static_cast<std::uint64_t>(range_.length().count());
  slot_ = slot_of(cell);
}

void StartCells::refit(const BlockRange& before, unsigned doublings) {
  const std::size_t size_needed = std::max<std::size_t>(kRingSizeMin, std::bit_ceil(range_.count()));
  if (doublings == 0 && size_needed <= cells_.size()) return;
  std::vector<std::uint32_t> old(std::max(cells_.size(), size_needed));
  old.swap(cells_);
  for (std::int64_t cell = before.first(); cell <= before.last(); ++cell) {
    add_to(cells_[slot_of(cell >> doublings)],
           old[static_cast<std::size_t>(static_cast<std::uint64_t>(cell) & (old.size() - 1))]);
  }
  cell_span_ = 0;  // The remembered cell is another now.
}

void StartCells::expect(WallTime first, WallTime last) {
  cells_.assign(std::max<std::size_t>(kRingSizeMin, std::bit_ceil(range_.expect(first, last))), 0);
}

void StartCells::merge(const StartCells& other) {
  if (other.empty()) return;
  const BlockRange before = range_;
  const unsigned doublings = range_.include(other.range_);
  refit(before, doublings);
  const int coarser =
      std::countr_zero(static_cast<std::uint64_t>(range_.length().count() / other.range_.length().count()));
  for (std::int64_t cell = other.range_.first(); cell <= other.range_.last(); ++cell) {
    add_to(cells_[slot_of(cell >> coarser)], other.cells_[other.slot_of(cell)]);
  }
}

WallTime StartCells::first_cell_start() const {
  OVERDUE_CHECK(!empty());
  return WallTime(Duration(range_.start_of(range_.first())));
}

std::vector<std::uint32_t> StartCells::counts() const {
  std::vector<std::uint32_t> counts;
  counts.reserve(range_.count());
  for (std::int64_t cell = range_.first(); cell <= range_.last(); ++cell)
    counts.push_back(cells_[slot_of(cell)]);
  return counts;
}

}  // namespace overdue
