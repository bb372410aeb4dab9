#include "overdue/latency/seen_past.h"

#include <algorithm>

#include "overdue/base/attempt.h"
#include "overdue/latency/histogram.h"
#include "overdue/latency/measurement.h"

namespace overdue {
namespace {

struct Ended {
  double replied = 0;
  double other = 0;  // Reset or rejected.
  double gave_up = 0;
};

double& part_of(Ended& ended, Ending ending) {
  switch (ending) {
    case Ending::replied:
      return ended.replied;
    case Ending::timed_out:
    case Ending::abandoned:
      return ended.gave_up;
    case Ending::rejected:
    case Ending::reset:
    case Ending::refused:
      break;
  }
  return ended.other;
}

}  // namespace

SeenPast::SeenPast(Duration threshold, const EndingTable& table)
    : bucket_(LatencyHistogram::bucket_of(threshold)) {
  const auto first = std::ranges::find_if(table, [](const EndingRow& row) { return row.gave_up() > 0; });
  any_gave_up_ = first != table.end() && first->mid < threshold;
  const Duration own = LatencyHistogram::low_of(bucket_);
  const Duration next = LatencyHistogram::low_of(bucket_ + 1);
  double replies = 0, early_replies = 0, gave_up = 0, early_gave_up = 0;
  for (auto row = std::ranges::lower_bound(table, own, {}, &EndingRow::low);
       row != table.end() && row->low < next; ++row) {
    replies += static_cast<double>(row->replied);
    gave_up += static_cast<double>(row->gave_up());
    if (row->mid <= threshold) early_replies += static_cast<double>(row->replied);
    if (row->mid < threshold) early_gave_up += static_cast<double>(row->gave_up());
  }
  if (replies > 0) replies_share_ = early_replies / replies;
  if (gave_up > 0) gave_up_share_ = early_gave_up / gave_up;
}

SeenPast::Told SeenPast::told_by(const TimeGrid& blocks, std::uint32_t first, std::uint32_t last,
                                 const std::vector<std::uint16_t>& backends) const {
  std::vector<Ended> ended(bucket_ + 1);
  std::uint64_t all_calls = 0;
  for (const std::uint16_t backend : backends) {
    for (std::uint32_t kind = 0; kind < kEndingCount; ++kind) {
      const auto ending = static_cast<Ending>(kind);
      const std::uint32_t series = Measurement::series_of(backend, ending);
      if (series >= blocks.series_count()) continue;
      for (std::uint32_t block = first; block <= last; ++block) {
        blocks.at(series, block).for_each([&](std::uint32_t bucket, std::uint64_t calls) {
          all_calls += calls;
          if (bucket < ended.size()) part_of(ended[bucket], ending) += static_cast<double>(calls);
        });
      }
    }
  }
  // The threshold's own bucket is two: what ended by the threshold, and after it.
  ended[bucket_].replied *= replies_share_;
  ended[bucket_].gave_up *= gave_up_share_;
  auto watched = static_cast<double>(all_calls);
  double early = 0;
  double last_ones = 0;
  for (const Ended& here : ended) {
    watched -= here.replied + here.other;
    early += here.replied + here.other;
    if (!(here.gave_up > 0)) continue;
    early *= watched > here.gave_up ? 1 - here.gave_up / watched : 0;
    watched -= here.gave_up;
    last_ones = here.gave_up;
  }
  watched = std::max(watched, 0.0);
  return {.count = {.calls = early + watched, .all_calls = all_calls},
          .by = watched > 0 ? watched
                : early > 0 ? 0
                            : last_ones};
}

SeenPast::Count SeenPast::in(const TimeGrid& blocks, std::uint32_t block,
                             const std::vector<std::uint16_t>& backends) const {
  constexpr double kEnough = 5;
  constexpr std::uint32_t kAroundMax = 31;
  const Count own = told_by(blocks, block, block, backends).count;
  if (!any_gave_up_ || own.all_calls == 0) return own;
  Told told;
  for (std::uint32_t around = 0; around <= kAroundMax; around = 2 * around + 1) {
    const std::uint32_t first = block - std::min(block, around);
    const std::uint32_t last = std::min(block + around, blocks.block_count() - 1);
    told = told_by(blocks, first, last, backends);
    if (told.by >= kEnough) break;
  }
  const double share = told.count.calls / static_cast<double>(told.count.all_calls);
  return {.calls = share * static_cast<double>(own.all_calls), .all_calls = own.all_calls};
}

}  // namespace overdue
