#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "overdue/latency/byte_sums.h"

namespace overdue {

// CounterRow is counters of 16 bits in a row. Their low bytes lie together, and the high ones only come to be
// when one is needed: most counters of a long row stay small, and twice as many fit the nearest caches.
// Threads: none.
class CounterRow {
 public:
  bool empty() const { return low_.empty(); }
  std::size_t size() const { return low_.size(); }
  std::size_t capacity() const { return low_.capacity(); }
  // New counters are 0.
  void resize(std::size_t size) {
    low_.resize(size);
    if (!high_.empty()) high_.resize(size);
  }
  void reserve(std::size_t size) { low_.reserve(size); }

  std::uint32_t operator[](std::size_t at) const {
    return low_[at] | (high_.empty() ? 0U : std::uint32_t{high_[at]} << 8);
  }
  // Keeps the low 16 bits of `count`.
  void set(std::size_t at, std::uint64_t count) {
    low_[at] = static_cast<std::uint8_t>(count);
    const auto high = static_cast<std::uint8_t>(count >> 8);
    if (high == 0 && high_.empty()) return;
    if (high_.empty()) {
      high_.reserve(low_.capacity());
      high_.resize(low_.size());
    }
    high_[at] = high;
  }
  std::uint64_t sum(std::size_t from, std::size_t to) const {
    const auto of = [=](const std::vector<std::uint8_t>& bytes) {
      return sum_of_bytes(std::span(bytes).subspan(from, to - from));
    };
    return of(low_) + (high_.empty() ? 0 : of(high_) << 8);
  }
  // Its counters in another order: the first is that at order[0]. What lies past its end is 0.
  CounterRow in_order(std::span<const std::uint32_t> order) const {
    CounterRow row;
    const auto reorder = [&](const std::vector<std::uint8_t>& from, std::vector<std::uint8_t>& to) {
      to.resize(order.size());
      for (std::size_t at = 0; at < order.size(); ++at)
        to[at] = order[at] < from.size() ? from[order[at]] : 0;
    };
    reorder(low_, row.low_);
    if (!high_.empty()) reorder(high_, row.high_);
    return row;
  }
  // Adds each counter to what stands at its place. Requires: no fewer sums than counters.
  void add_to(std::span<std::uint32_t> sums) const {
    std::size_t at = 0;
    // A number of them that the compiler knows, and no sum among them for all it knows: added side by side.
    std::array<std::uint8_t, 64> some;
    for (; at + some.size() <= low_.size(); at += some.size()) {
      std::memcpy(some.data(), low_.data() + at, some.size());
      for (std::size_t index = 0; index < some.size(); ++index) sums[at + index] += some[index];
    }
    for (; at < low_.size(); ++at) sums[at] += low_[at];
    for (at = 0; at < high_.size(); ++at) sums[at] += std::uint32_t{high_[at]} << 8;
  }
  // For one who adds many: where one may be added while it is not at kLowMax.
  static constexpr std::uint8_t kLowMax = 0xff;
  std::uint8_t* low(std::size_t at) { return &low_[at]; }

 private:
  std::vector<std::uint8_t> low_;
  std::vector<std::uint8_t> high_;  // As long, or empty: all are 0.
};

}  // namespace overdue
