#include "overdue/latency/would_reply.h"

#include "overdue/latency/histogram.h"

namespace overdue {

WouldReply::WouldReply(const SurvivalCurve& curve) : curve_(&curve) {
  if (curve.empty()) return;
  const double ever = curve.back().replied;
  const EndingTable& table = curve.table();
  std::uint64_t to_come = curve.back().replies;
  for (std::size_t row = 0; row < table.size() && (to_come -= table[row].replied) > 0; ++row) {
    if (table[row].gave_up() == 0) continue;
    const auto gave_up = static_cast<double>(table[row].gave_up());
    const SurvivalCurve::Point then = curve[row];
    if (!(then.open > 0)) continue;
    const std::uint32_t bucket = LatencyHistogram::bucket_of(table[row].low);
    if (parts_.empty() || parts_.back().bucket != bucket)
      parts_.push_back({.bucket = bucket, .first_row = row});
    Part& part = parts_.back();
    part.calls += gave_up;
    part.of_open += gave_up / then.open;
    part.replied += gave_up * (ever - then.replied) / then.open;
  }
}

std::vector<WouldReply::Chance> WouldReply::chances(Duration threshold) const {
  std::vector<Chance> chances;
  if (is_none()) return chances;
  chances.resize(parts_.back().bucket - first_bucket() + 1);
  const std::uint32_t own = LatencyHistogram::bucket_of(threshold);
  const double late = curve_->back().replied - curve_->at(threshold).replied;
  const EndingTable& table = curve_->table();
  for (const Part& part : parts_) {
    Chance& chance = chances[part.bucket - first_bucket()];
    chance.replied = part.replied / part.calls;
    chance.late = part.bucket > own ? chance.replied : late * part.of_open / part.calls;
    if (part.bucket != own) continue;
    // Whoever gave up after the threshold has nothing but late replies before him.
    double sum = 0;
    for (std::size_t row = part.first_row; row < table.size(); ++row) {
      if (LatencyHistogram::bucket_of(table[row].low) != own) break;
      if (table[row].gave_up() == 0) continue;
      const SurvivalCurve::Point then = (*curve_)[row];
      if (!(then.open > 0)) continue;
      const double later = table[row].mid < threshold ? late : curve_->back().replied - then.replied;
      sum += static_cast<double>(table[row].gave_up()) * later / then.open;
    }
    chance.late = sum / part.calls;
  }
  return chances;
}

}  // namespace overdue
