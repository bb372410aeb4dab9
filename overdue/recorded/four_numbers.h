#pragma once

#include <cstddef>
#include <cstdint>

#include "overdue/base/time.h"
#include "overdue/recorded/block_fields.h"

namespace overdue {

// Numbers of one column of a block, four rows at a time, where the processor can (AVX2) and they are plain.
// What is not read this way is the caller's to read one by one. Requires: 8 readable bytes at each field.

// Whether four_*() ever read anything here.
bool reads_four_at_once();

// From `row` on, as long as four rows in turn hold decimals above 0 of up to 8 characters with at most
// `power` digits behind the point: their values times 10^power. Returns the row it came to. Requires: power
// is at most 9.
std::size_t four_decimals(const BlockFields& block, std::uint32_t field, unsigned power, std::size_t row,
                          Duration* values);

// Whole numbers that begin with the same eight characters: their worth in nanoseconds.
struct CommonBeginning {
  std::uint64_t first_eight = 0;  // As load_eight() has them.
  std::uint32_t size = 0;         // Of the numbers, 9 to 16; 0: of none.
  std::int64_t base = 0;          // What they are worth that end in eight zeros,
  std::int64_t unit = 0;          // and each of what their last eight digits count; at most a second.
};
// The same for whole numbers with this beginning.
std::size_t four_times(const BlockFields& block, std::uint32_t field, const CommonBeginning& beginning,
                       std::size_t row, WallTime* times);

}  // namespace overdue
