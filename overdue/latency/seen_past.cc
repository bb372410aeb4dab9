#include "overdue/latency/seen_past.h"

#include <algorithm>
#include <span>

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
  const Duration own = LatencyHistogram::low_of(bucket_);
  const Duration next = LatencyHistogram::low_of(bucket_ + 1);
  double watched = 0, replies = 0, early_replies = 0, give_ups = 0, early_give_ups = 0;
  for (const EndingRow& row : table)
    watched += static_cast<double>(row.replied + row.rejected + row.reset + row.gave_up());
  double share = 1;  // Of one watched call in the curve (SurvivalCurve), as it was at the beginning.
  bool any_later = false;
  for (const EndingRow& row : table) {
    const auto replied = static_cast<double>(row.replied);
    const auto gave_up = static_cast<double>(row.gave_up());
    const bool is_before = row.mid < threshold;
    if (row.mid > threshold && replied > 0) {
      later_.resize(LatencyHistogram::bucket_of(row.low) - bucket_ + 1);
      later_.back() += replied * share;
      any_gave_up_later_ = any_later;
    }
    watched -= replied + static_cast<double>(row.rejected + row.reset);
    if (gave_up > 0) {
      (is_before ? any_gave_up_ : any_later) = true;
      share = watched > gave_up ? share * watched / (watched - gave_up) : 0;
      watched -= gave_up;
    }
    if (row.low < own || row.low >= next) continue;
    replies += replied;
    give_ups += gave_up;
    if (row.mid <= threshold) early_replies += replied;
    if (is_before) early_give_ups += gave_up;
  }
  if (replies > 0) replies_share_ = early_replies / replies;
  if (give_ups > 0) gave_up_share_ = early_give_ups / give_ups;
}

SeenPast::Count SeenPast::in(const TimeGrid& blocks, std::uint32_t block,
                             const std::vector<std::uint16_t>& backends) const {
  std::vector<Ended> ended(bucket_ + std::max<std::size_t>(later_.size(), 1));
  Count count;
  for (const std::uint16_t backend : backends) {
    for (std::uint32_t kind = 0; kind < kEndingCount; ++kind) {
      const auto ending = static_cast<Ending>(kind);
      const std::uint32_t series = Measurement::series_of(backend, ending);
      if (series >= blocks.series_count()) continue;
      blocks.at(series, block).for_each([&](std::uint32_t bucket, std::uint64_t calls) {
        count.all_calls += calls;
        if (bucket < ended.size()) part_of(ended[bucket], ending) += static_cast<double>(calls);
      });
    }
  }
  // The threshold's own bucket is two: what ended by the threshold, and after it.
  Ended& own = ended[bucket_];
  const Ended after{.replied = own.replied * (1 - replies_share_),
                    .gave_up = own.gave_up * (1 - gave_up_share_)};
  own.replied -= after.replied;
  own.gave_up -= after.gave_up;
  auto watched = static_cast<double>(count.all_calls);
  // Returns what share of those still watched stay so.
  const auto stays = [&watched](const Ended& here) {
    watched -= here.replied + here.other;
    if (!(here.gave_up > 0)) return 1.0;
    const double share = watched > here.gave_up ? 1 - here.gave_up / watched : 0;
    watched -= here.gave_up;
    return share;
  };
  double early_others = 0;
  for (const Ended& here : std::span(ended).first(bucket_ + 1)) {
    const double stayed = stays(here);
    count.early_replies = (count.early_replies + here.replied) * stayed;
    early_others = (early_others + here.other) * stayed;
  }
  count.calls = count.early_replies + early_others + std::max(watched, 0.0);
  if (!any_gave_up_later_) return count;
  double all = 0;
  double seen = 0;
  double still = 1;
  for (std::size_t i = 0; i < later_.size(); ++i) {
    all += later_[i];
    seen += later_[i] * still;
    still *= stays(i == 0 ? after : ended[bucket_ + i]);
  }
  count.seen_share = seen / all;
  return count;
}

}  // namespace overdue
