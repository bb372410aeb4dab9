#pragma once

#include <cstdint>

namespace overdue {

// Redistribution goes up in time through calls that replied or were given up, and says how many of all would
// not have replied yet had nobody given up: the Kaplan-Meier curve, by letting each call that is given up
// hand its weight to those still watched (Efron, "The two sample problem with censored data", 1967). Exact
// whole numbers while nobody has given up. At equal times replies come first (STATISTICS 1).
//
// Requires: no more endings than calls. Threads: none.
class Redistribution {
 public:
  explicit Redistribution(std::uint64_t calls) : watched_(calls) {}

  void reply(std::uint64_t count) { watched_ -= count; }
  void give_up(std::uint64_t count) {
    if (count == 0) return;
    const std::uint64_t stay = watched_ - count;
    if (stay == 0) {
      left_ = still_open();
    } else {
      weight_ *= static_cast<double>(watched_) / static_cast<double>(stay);
    }
    watched_ = stay;
  }

  std::uint64_t watched() const { return watched_; }
  double weight() const { return weight_; }  // How many of all calls each watched one stands for.
  // How many would not have replied. Once the last watched ones gave up it stays: nobody can see further.
  double still_open() const { return static_cast<double>(watched_) * weight_ + left_; }

 private:
  std::uint64_t watched_;
  double weight_ = 1;
  double left_ = 0;
};

}  // namespace overdue
