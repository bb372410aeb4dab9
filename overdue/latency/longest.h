#pragma once

#include <algorithm>
#include <compare>
#include <cstddef>
#include <vector>

#include "overdue/base/time.h"

namespace overdue {

// Longest keeps the kMax longest attempts of a log; of equally long ones the earlier. In which order they
// come does not matter. An attempt that is not among them costs two comparisons; keeping one costs a constant
// on average. Threads: none.
class Longest {
 public:
  static constexpr std::size_t kMax = 4096;
  struct Interval {
    WallTime start{};
    Duration elapsed{};
    auto operator<=>(const Interval&) const = default;
  };

  void add(const Interval& interval) {
    if (interval.elapsed < floor_.elapsed) [[likely]]
      return;
    if (floor_.elapsed == interval.elapsed && is_longer(floor_, interval)) return;
    kept_.push_back(interval);
    if (kept_.size() == 2 * kMax) forget_shorter();
  }
  // False where nothing this long can be kept.
  bool may_keep(Duration elapsed) const { return elapsed >= floor_.elapsed; }
  void merge(const Longest& other) {
    for (const Interval& interval : other.kept_) add(interval);
  }
  // Longest first.
  std::vector<Interval> sorted() const {
    std::vector<Interval> all = kept_;
    std::ranges::sort(all, is_longer);
    all.resize(std::min(all.size(), kMax));
    return all;
  }

 private:
  static bool is_longer(const Interval& left, const Interval& right) {
    return left.elapsed != right.elapsed ? left.elapsed > right.elapsed : left.start < right.start;
  }
  void forget_shorter() {
    std::ranges::nth_element(kept_, kept_.begin() + (kMax - 1), is_longer);
    kept_.resize(kMax);
    floor_ = kept_.back();
  }

  std::vector<Interval> kept_;
  Interval floor_{WallTime::max(),
                  Duration(0)};  // Nothing shorter, or as long and later, can be among the longest.
};

}  // namespace overdue
