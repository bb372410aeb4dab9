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

double endings_of(const EndingRow& row) {
  return static_cast<double>(row.replied + row.rejected + row.reset + row.gave_up());
}

// Goes down the curve: who is still watched, and for how many at the beginning each stands.
struct Watched {
  double calls = 0;
  double share = 1;

  void pass(const EndingRow& row) {
    calls -= static_cast<double>(row.replied + row.rejected + row.reset);
    const auto gave_up = static_cast<double>(row.gave_up());
    if (!(gave_up > 0)) return;
    share = calls > gave_up ? share * calls / (calls - gave_up) : 0;
    calls -= gave_up;
  }
};

}  // namespace

GiveUps::GiveUps(const EndingTable& table) : table_(&table) {
  Watched watched;
  Duration last = Duration::min();
  for (const EndingRow& row : table) {
    watched.calls += endings_of(row);
    if (row.replied > 0) {
      last_before_a_reply_ = last;
      last_reply_ = row.mid;
    }
    if (row.gave_up() == 0) continue;
    first_ = std::min(first_, row.mid);
    last = row.mid;
  }
  if (last_before_a_reply_ == Duration::min()) return;
  for (std::size_t at = 0; at < table.size(); ++at) {
    const EndingRow& row = table[at];
    const std::uint32_t bucket = LatencyHistogram::bucket_of(row.low);
    if (parts_.empty() || parts_.back().bucket != bucket)
      parts_.push_back({.bucket = bucket, .first_row = at, .watched = watched.calls, .share = watched.share});
    parts_.back().replied += static_cast<double>(row.replied) * watched.share;
    watched.pass(row);
  }
}

double GiveUps::replied_later(const Part& part, Duration threshold) const {
  Watched watched{.calls = part.watched, .share = part.share};
  double replied = 0;
  for (std::size_t at = part.first_row; at < table_->size(); ++at) {
    const EndingRow& row = (*table_)[at];
    if (LatencyHistogram::bucket_of(row.low) != part.bucket) break;
    if (row.mid > threshold && row.replied > 0) replied += static_cast<double>(row.replied) * watched.share;
    watched.pass(row);
  }
  return replied;
}

SeenPast::SeenPast(Duration threshold, const GiveUps& give_ups)
    : bucket_(LatencyHistogram::bucket_of(threshold)),
      any_gave_up_(give_ups.first_ < threshold),
      any_gave_up_later_(give_ups.last_reply_ > threshold && give_ups.last_before_a_reply_ >= threshold) {
  const Duration own = LatencyHistogram::low_of(bucket_);
  const Duration next = LatencyHistogram::low_of(bucket_ + 1);
  double replies = 0, early_replies = 0, gave_up = 0, early_gave_up = 0;
  for (auto row = std::ranges::lower_bound(*give_ups.table_, own, {}, &EndingRow::low);
       row != give_ups.table_->end() && row->low < next; ++row) {
    replies += static_cast<double>(row->replied);
    gave_up += static_cast<double>(row->gave_up());
    if (row->mid <= threshold) early_replies += static_cast<double>(row->replied);
    if (row->mid < threshold) early_gave_up += static_cast<double>(row->gave_up());
  }
  if (replies > 0) replies_share_ = early_replies / replies;
  if (gave_up > 0) gave_up_share_ = early_gave_up / gave_up;
  if (!any_gave_up_later_) return;
  for (auto part = std::ranges::lower_bound(give_ups.parts_, bucket_, {}, &GiveUps::Part::bucket);
       part != give_ups.parts_.end(); ++part) {
    const double replied = part->bucket == bucket_ ? give_ups.replied_later(*part, threshold) : part->replied;
    if (!(replied > 0)) continue;
    later_.resize(part->bucket - bucket_ + 1);
    later_.back() = replied;
  }
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
