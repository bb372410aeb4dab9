#include "overdue/latency/later_than.h"

#include <algorithm>

#include "overdue/latency/histogram.h"

namespace overdue {

LaterThan::LaterThan(Duration threshold, const EndingTable& table, Of of, unsigned bucket_shift)
    : bucket_(LatencyHistogram::bucket_of(threshold) >> bucket_shift) {
  const Duration low = LatencyHistogram::low_of(bucket_ << bucket_shift);
  const Duration end = LatencyHistogram::low_of((bucket_ + 1) << bucket_shift);
  double later = 0;
  double all = 0;
  for (auto row = std::ranges::lower_bound(table, low, {}, &EndingRow::low);
       row != table.end() && row->low < end; ++row) {
    std::uint64_t count = row->replied;
    if (of == Of::all_calls) count += row->rejected + row->reset + row->gave_up();
    all += static_cast<double>(count);
    if (row->mid > threshold) later += static_cast<double>(count);
  }
  if (all > 0) share_ = later / all;
}

}  // namespace overdue
