#pragma once

#include <cstdint>
#include <vector>

namespace overdue {

// BucketCount says how many calls fell into one bucket of some histogram mapping. The mapping does not matter
// where only the order of buckets does (ranks, medians, shares above).
struct BucketCount {
  std::uint32_t bucket = 0;
  std::uint64_t count = 0;
};

// Ascending by bucket, no bucket twice.
using SparseCounts = std::vector<BucketCount>;

}  // namespace overdue
