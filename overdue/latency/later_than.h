#pragma once

#include <cstdint>

#include "overdue/base/time.h"
#include "overdue/latency/bucket_counts.h"
#include "overdue/latency/ending_row.h"

namespace overdue {

// LaterThan counts what is later than a threshold in the histograms of parts of a log (blocks, seconds),
// where the threshold lies within a bucket: all that is in the buckets above, and of the threshold's own the
// share that is later in the whole log. Which entries these are a histogram does not say; taken at random,
// their number in a part has the variance `spread`, and what is asked of the parts' unevenness must count it
// in (STATISTICS 5 and 8).
//
// Threads: const and shared.
class LaterThan {
 public:
  enum class Of { replies, all_calls };
  // `table` is of the whole log. The histograms' buckets are LatencyHistogram's, 2^bucket_shift together.
  LaterThan(Duration threshold, const EndingTable& table, Of of, unsigned bucket_shift = 0);

  struct Count {
    double expected = 0;
    double spread = 0;
  };
  Count in(const BucketCounts& counts) const {
    const auto own = static_cast<double>(counts.count_at(bucket_));
    return {static_cast<double>(counts.count_from(bucket_ + 1)) + share_ * own, share_ * (1 - share_) * own};
  }

 private:
  std::uint32_t bucket_;
  double share_ = 0;  // Of the entries of its bucket.
};

}  // namespace overdue
