#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "overdue/latency/exact_counts.h"

namespace overdue {

// One ExactCounts added to another in steps, for who has a second thread: begin(), then add_rows() of every
// part, at the same time if one likes, then finish(). Between them nobody else may use either. What comes of
// it is ExactCounts::merge()'s. Threads: as said.
class ExactCounts::Merge {
 public:
  static constexpr std::size_t kParts = 2;

  // Both must outlive it.
  Merge(ExactCounts& ours, const ExactCounts& theirs, const std::vector<std::uint16_t>& to_series)
      : ours_(ours), theirs_(theirs), to_series_(to_series) {}
  void begin();
  void add_rows(std::size_t part);
  void finish();

 private:
  struct Left {
    std::uint32_t number;
    std::uint32_t count;
    std::uint16_t series;
  };
  std::uint16_t own_series(std::uint64_t series) const;
  void divide();
  void add_row(std::uint16_t series, const Row& theirs, std::vector<Left>& left);
  void add_pairs();

  ExactCounts& ours_;
  const ExactCounts& theirs_;
  const std::vector<std::uint16_t>& to_series_;
  std::vector<std::uint32_t> numbers_;            // By their number: ours.
  std::size_t second_from_ = 0;                   // Their rows from here on are of the second part,
  bool pairs_in_second_ = false;                  // and the pairs too, if these cannot make all be pooled.
  std::array<std::vector<Left>, kParts> left_{};  // What a low byte of ours cannot take.
};

}  // namespace overdue
