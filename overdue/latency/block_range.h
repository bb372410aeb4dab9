#pragma once

#include <bit>
#include <cstdint>

#include "overdue/base/check.h"
#include "overdue/base/time.h"

namespace overdue {

// BlockRange divides time into equal blocks that start at whole multiples of their length since 1970, and
// keeps the least length, of length_min times a power of two, at which everything included fits in blocks_max
// blocks.
//
// Why it is independent of order: two blocks join exactly when the same multiples are halved, and a length
// once too short stays too short whatever else is included. Times further than 146 years from 1970 count as
// just that far. Threads: none.
class BlockRange {
 public:
  // Requires: length_min > 0, blocks_max >= 2.
  BlockRange(Duration length_min, std::uint32_t blocks_max)
      : length_(length_min.count()), blocks_max_(blocks_max) {
    OVERDUE_CHECK(length_min > Duration(0) && length_min.count() <= kTimeMax);
    OVERDUE_CHECK(blocks_max >= 2);
  }

  bool empty() const { return last_ < first_; }
  Duration length() const { return Duration(length_); }
  std::uint32_t blocks_max() const { return blocks_max_; }
  // Numbers of the first and last block with something in it. Requires: !empty().
  std::int64_t first() const { return first_; }
  std::int64_t last() const { return last_; }
  std::uint32_t count() const { return empty() ? 0 : static_cast<std::uint32_t>(last_ - first_ + 1); }
  std::int64_t start_of(std::int64_t block) const { return block * length_; }

  std::int64_t block_of(WallTime at) const {
    std::int64_t ns = at.time_since_epoch().count();
    ns = ns > kTimeMax ? kTimeMax : (ns < -kTimeMax - 1 ? -kTimeMax - 1 : ns);
    return ns >= 0 ? ns / length_ : -((-(ns + 1)) / length_) - 1;  // Rounded down.
  }

  // Makes room for `at`. Returns how many times the length doubled: each time, block b became b >> 1.
  unsigned include(WallTime at) {
    const std::int64_t block = block_of(at);
    return widen(block, block);
  }
  // Makes room for another range's blocks and takes the greater length. Requires: made with the same
  // length_min.
  unsigned include(const BlockRange& other) {
    if (other.empty()) return 0;
    unsigned doublings = 0;
    for (; length_ < other.length_; ++doublings) double_length();
    const int coarser = std::countr_zero(static_cast<std::uint64_t>(length_ / other.length_));
    return doublings + widen(other.first_ >> coarser, other.last_ >> coarser);
  }
  // Takes the length that both will need, and does not include them. Requires: empty(). Returns how many
  // blocks they and what is between them will be.
  std::uint32_t expect(WallTime one, WallTime other) {
    OVERDUE_CHECK(empty());
    include(one);
    include(other);
    const std::uint32_t blocks = count();
    first_ = 0;
    last_ = -1;
    return blocks;
  }
  // Requires: blocks_max >= 2.
  unsigned limit(std::uint32_t blocks_max) {
    OVERDUE_CHECK(blocks_max >= 2);
    blocks_max_ = blocks_max;
    return empty() ? 0 : widen(first_, last_);
  }

 private:
  static constexpr std::int64_t kTimeMax = (std::int64_t{1} << 62) - 1;

  unsigned widen(std::int64_t first, std::int64_t last) {
    const bool was_empty = empty();
    first_ = was_empty || first < first_ ? first : first_;
    last_ = was_empty || last > last_ ? last : last_;
    unsigned doublings = 0;
    for (; last_ - first_ >= static_cast<std::int64_t>(blocks_max_); ++doublings) double_length();
    return doublings;
  }
  void double_length() {
    OVERDUE_CHECK(length_ <= kTimeMax);  // At 2^62 two blocks hold all times there are.
    length_ *= 2;
    if (empty()) return;
    first_ >>= 1;
    last_ >>= 1;
  }

  std::int64_t length_;
  std::int64_t first_ = 0;
  std::int64_t last_ = -1;
  std::uint32_t blocks_max_;
};

}  // namespace overdue
