#include "overdue/timeout/open_calls.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "overdue/base/check.h"
#include "overdue/base/quantity.h"
#include "overdue/latency/bounds.h"

namespace overdue {
namespace {

constexpr std::uint64_t kWatchedMin = 5;  // One reply among two watched calls must not decide.

// What a tail that falls like t^-index beyond T holds, as a multiple of what it held between u and T:
// 1 / ((T / u)^index - 1).
constexpr double kIndexOneFromHalf = 1.0;
constexpr double kIndexOneFromFifth = 4.0;
const double kIndexHalfFromHalf = 1.0 + std::sqrt(2.0);
const double kIndexHalfFromFifth = 1.0 / (std::sqrt(1.25) - 1.0);

std::uint64_t calls_in(const EndingRow& row) {
  return row.replied + row.rejected + row.reset + row.gave_up();
}

std::size_t row_of_longest_wait(const SurvivalCurve& curve) {
  const EndingTable& table = curve.table();
  std::size_t longest = 0;
  std::optional<std::size_t> first_cut;
  std::optional<std::size_t> last_watched;
  std::uint64_t watched = curve.calls();
  for (std::size_t row = 0; row < table.size(); ++row) {
    const std::uint64_t ended = calls_in(table[row]);
    if (ended == 0) continue;
    longest = row;
    if (!first_cut && table[row].gave_up() > 0) first_cut = row;
    if (watched >= kWatchedMin) last_watched = row;
    watched -= ended;
  }
  const bool cut_earlier = first_cut && *first_cut < longest;
  return cut_earlier && last_watched ? *last_watched : longest;
}

LastStretch stretch_from(const SurvivalCurve& curve, Duration from, std::size_t last_row) {
  const SurvivalCurve::Point start = curve.at(from);
  return {.from = from,
          .watched = start.watched_after,
          .replies = curve[last_row].replies - start.replies,
          .open = start.open};
}

double replied_of(const LastStretch& stretch) {
  return stretch.watched == 0 ? 0.0
                              : static_cast<double>(stretch.replies) / static_cast<double>(stretch.watched);
}

double most_replied_of(const LastStretch& stretch) {
  if (stretch.watched == 0) return 1.0;
  return rate_upper_bound(static_cast<double>(stretch.replies), static_cast<double>(stretch.watched), 0.025);
}

double least_replied_of(const LastStretch& stretch) {
  if (stretch.watched == 0) return 0.0;
  return rate_lower_bound(static_cast<double>(stretch.replies), static_cast<double>(stretch.watched), 0.05);
}

WaitVerdict verdict_of(const OpenCalls& open) {
  if (open.open_share <= open.threshold) return WaitVerdict::enough;
  if (open.tail_bound <= open.threshold) return WaitVerdict::lost;
  if (open.tail_least > open.threshold) return WaitVerdict::slow;
  return WaitVerdict::cannot_tell;
}

}  // namespace

std::string_view name_of(WaitVerdict verdict) {
  switch (verdict) {
    case WaitVerdict::enough:
      return "enough";
    case WaitVerdict::lost:
      return "lost";
    case WaitVerdict::slow:
      return "slow";
    case WaitVerdict::cannot_tell:
      return "cannot_tell";
  }
  return "cannot_tell";
}

OpenCalls judge_open_calls(const SurvivalCurve& curve, double accept_false) {
  OVERDUE_CHECK(!curve.empty());
  OpenCalls open;
  open.last_row = row_of_longest_wait(curve);
  const EndingRow& last = curve.table()[open.last_row];
  const SurvivalCurve::Point end = curve[open.last_row];
  open.longest_wait = last.mid;
  open.open_calls = end.watched_after + last.gave_up();
  open.replied_share = end.replied;
  open.open_share = end.open;
  open.reset_share = end.reset;
  open.rejected_share = end.rejected;
  open.last_half = stretch_from(curve, last.mid / 2, open.last_row);
  open.last_fifth = stretch_from(curve, last.mid - last.mid / 5, open.last_row);

  const LastStretch& half = open.last_half;
  const LastStretch& fifth = open.last_fifth;
  open.tail_point = std::min(kIndexOneFromHalf * half.open * replied_of(half),
                             kIndexOneFromFifth * fifth.open * replied_of(fifth));
  open.tail_bound = std::min(kIndexHalfFromHalf * half.open * most_replied_of(half),
                             kIndexHalfFromFifth * fifth.open * most_replied_of(fifth));
  open.tail_least = kIndexOneFromFifth * fifth.open * least_replied_of(fifth);
  const double kept = 1.0 - accept_false;
  open.threshold = kept > 0.0 ? accept_false * end.replied / kept : std::numeric_limits<double>::infinity();
  open.verdict = verdict_of(open);

  open.replied_ever = end.replied + std::min(open.open_share, open.tail_point);
  const bool advisable = open.verdict == WaitVerdict::enough || open.verdict == WaitVerdict::lost;
  if (advisable) open.replied_ever = std::min(open.replied_ever, end.replied + open.threshold);
  return open;
}

std::string describe(const OpenCalls& open) {
  const std::string wait = format_duration(open.longest_wait);
  if (open.open_calls == 0) return fmt::format("no call was still open after the longest wait of {}", wait);
  std::string seen = fmt::format(
      "{} calls were open after {}; of {} still waiting at {}, {} replied in the last half of the wait",
      format_count(open.open_calls), wait, format_count(open.last_half.watched),
      format_duration(open.last_half.from), format_count(open.last_half.replies));
  switch (open.verdict) {
    case WaitVerdict::enough:
      return fmt::format("{} calls were open after {}: too few to matter, lost or slow",
                         format_count(open.open_calls), wait);
    case WaitVerdict::lost:
      return fmt::format(
          "{}: the open ones look lost, as far as the longest wait of {} shows (a second try of a SYN after "
          "1, 3 or 7 s "
          "or a lock wait would show later)",
          seen, wait);
    case WaitVerdict::slow:
      return fmt::format(
          "{}: replies were still coming when the waiting ended, so they look slow; a longer limit, for "
          "a sample of the calls, would show when they come",
          seen);
    case WaitVerdict::cannot_tell:
      return fmt::format("{}: too little to say whether the open ones are lost or slow; {}", seen,
                         open.last_half.replies == 0 ? "more calls or a longer limit would tell"
                                                     : "a longer limit would tell");
  }
  return seen;
}

}  // namespace overdue
