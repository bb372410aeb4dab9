#include "overdue/recorded/unit_doubt.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <utility>
#include <vector>

#include "overdue/base/quantity.h"
#include "overdue/latency/ending_row.h"

namespace overdue {
namespace {

constexpr Duration kTooLong = std::chrono::seconds(30);
constexpr Duration kTooShort = std::chrono::microseconds(2);

bool is_ordinary(const EndingRow& row) { return row.low >= kTooShort && row.high <= kTooLong; }

// The middle of all lies between the least and the greatest middle of the parts: where those are ordinary, it
// is. Zeros are left out of what is judged, and so say nothing here.
bool every_backend_is_ordinary(const Measurement& measurement) {
  if (measurement.exact_zeros() > 0) return false;
  for (std::size_t id = 0; id < measurement.backends().size(); ++id) {
    const auto backend = static_cast<std::uint16_t>(id);
    const std::uint64_t replied = measurement.endings_of(backend)[static_cast<std::size_t>(Ending::replied)];
    if (replied == 0) continue;
    // The lower and the upper middle, so that none lies beyond both ends.
    const std::array<std::uint64_t, 2> ranks = {(replied + 1) / 2, replied / 2 + 1};
    for (const auto& row : measurement.reply_rows_of(backend, ranks)) {
      if (!row || !is_ordinary(*row)) return false;
    }
  }
  return true;
}

// The upper middle of the replies above 0; nothing where they are fewer than three.
std::optional<Duration> median_of(const std::map<std::string, Measurement>& groups) {
  std::vector<std::pair<Duration, std::uint64_t>> replies;
  std::uint64_t all = 0;
  for (const auto& [key, measurement] : groups) {
    std::uint64_t zeros = measurement.exact_zeros();
    for (const EndingRow& row : measurement.table()) {
      // Those of 0 are in the first row or rows.
      const std::uint64_t without = std::min(zeros, row.replied);
      zeros -= without;
      if (row.replied == without) continue;
      replies.emplace_back(row.mid, row.replied - without);
      all += row.replied - without;
    }
  }
  if (all < 3) return std::nullopt;
  std::ranges::sort(replies);
  std::uint64_t below = 0;
  for (const auto& [latency, count] : replies) {
    below += count;
    if (below > all / 2) return latency;
  }
  return std::nullopt;
}

}  // namespace

std::string unit_doubt_of(Duration median, const UnitClaim& claim) {
  const bool too_long = median > kTooLong && claim.unit != TimeUnit::nanoseconds;
  const bool too_short = median < kTooShort && claim.unit != TimeUnit::seconds;
  if (!too_long && !too_short) return {};
  const auto likely = static_cast<TimeUnit>(static_cast<int>(claim.unit) + (too_long ? -3 : 3));
  const Duration as_likely = too_long ? median / 1000 : median * 1000;
  const std::string remedy =
      claim.by_format
          ? fmt::format("--unit {} says that it is so", name_of(claim.unit))
          : fmt::format("--unit {} or --unit {} settles it", name_of(likely), name_of(claim.unit));
  return fmt::format("likely {} recorded as {} ({}): half of '{}' is {} {}; {}", name_of(likely),
                     name_of(claim.unit), format_duration(as_likely), claim.name,
                     too_long ? "above" : "below", format_duration(median), remedy);
}

std::string unit_doubt_of(const std::map<std::string, Measurement>& groups, const UnitClaim& claim) {
  const auto ordinary = [](const auto& group) { return every_backend_is_ordinary(group.second); };
  if (std::ranges::all_of(groups, ordinary)) return {};
  const auto median = median_of(groups);
  return median ? unit_doubt_of(*median, claim) : std::string();
}

}  // namespace overdue
