#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "overdue/base/probability.h"
#include "overdue/base/time.h"
#include "overdue/latency/bucket_counts.h"
#include "overdue/latency/ending_row.h"
#include "overdue/latency/histogram.h"
#include "overdue/latency/measurement.h"

namespace overdue {

// The rules behind find_doubts(), one question each, as functions of plain lists. Each answers nullopt where
// the data is too little or shows nothing. Figures are STATISTICS 8's unless said; false alarms are on
// independent calls.

// Did the latency change during the log? The calls in 32 groups of about equal count; the largest cumulated
// deviation of the share above the median, then of that above the p90, against 1.73 deviations (found by
// differences between neighbours, which a step hardly moves), and the quantile itself by a quarter at least.
// Finds 1.5 times in 99 % of logs of 10,000 calls. False alarms 0.
//
// Neither a new limit nor callers that leave more often are a change: a call given up below a quantile counts
// above it with the share of the log's calls open then that were (Redistribution), and the quantiles before
// and after are of the two parts' curves. Where one part does not show its own, there is a change only if
// even what it does show is too far off.
struct Change {
  Quantile quantile;           // The one that moved.
  double after_share;          // The change comes after this share of the calls,
  std::size_t after_cell = 0;  // and before this cell.
  // The quantile before and after, or how far it was seen from below.
  struct At {
    std::uint32_t bucket = 0;
    bool seen = true;
  };
  At before;
  At after;
};
// Calls by bucket, of consecutive stretches of time, all in one mapping, in which `middle_of` gives a
// bucket's middle.
using CountsOverTime = std::span<const BucketCounts* const>;
struct WaitedOverTime {
  CountsOverTime replied;
  CountsOverTime gave_up;  // In the same stretches; none where nobody gave up.
};
std::optional<Change> find_change(const WaitedOverTime& cells, Duration (*middle_of)(std::uint32_t));

// Do late calls come together? Pearson's X over seconds against what independent calls would give, z > 3.5
// and dispersion at least 1.5. Needs 20 late calls in 10 seconds. False alarms 0.3 %; pauses every 20 s found
// in 96 % of 50 s. Seconds with under a quarter of the usual number of calls are left out at the log's start
// and end, where only long calls may reach into it, and taken together elsewhere: one late call, alone in its
// second, would be a burst.
struct Bursts {
  double dispersion = 0;  // X / (B - 1): 1 for independent calls.
  std::uint64_t late = 0;
  std::uint64_t cells_with_late = 0;
  std::uint64_t cells = 0;
};
struct LateOfCalls {
  double calls = 0;  // Those that could have been seen later than the threshold: SeenPast.
  double late = 0;   // As LaterThan counts them.
  double spread = 0;
};
std::optional<Bursts> find_bursts(std::span<const LateOfCalls> seconds);

// Do replies pile up at one latency? Windows of 3 cells of 1/32 octave against the larger of the two windows
// a cell away on either side: at least 10 and 3 times as many, Poisson P < 1e-7. Finds 1 % heaped at 200 ms
// in all logs of 10,000 calls. Two rules of ours beside: only where the lower neighbour reaches the
// median or lies above it, since the bulk of a fast or steady service is a heap of its own, however
// narrow; and only where a window is at least 2 ticks of the log's clock wide, else whole milliseconds look
// like heaps. False alarms 0.7 % at most.
struct Heap {
  Duration at{};  // The middle one of the replies in the window.
  std::uint64_t count = 0;
  double expected = 0;
  bool ladder = false;  // Another heap stands at 2 or 3 times it.
};
std::vector<Heap> find_heaps(const EndingTable& table);

// Did the measuring client stand still while it waited (C14)? Calls longer than max(10 medians, half the
// longest): in the union of their intervals fewer than half of the starts that were due (at least 10),
// Poisson P < 0.001. Due is the rate outside the intervals, within four lengths before each and after it, and
// the lower where the two differ by more than twice: a load that follows the hour has its slow calls at some
// hour. False alarms 0. Cannot see four or more workers of which one hangs. Rules of ours: not counted is an
// interval no longer than one and a half usual gaps between starts, in the whole log or around it (probes
// further apart than their timeout), nor what lies before the log's first other call (calls begun before a
// rotation); and there is no judgement where less than a tenth of the log lies outside, which tells no rate.
struct Omission {
  std::uint64_t long_calls = 0;
  Duration stood_still{};  // Length of the union.
  std::uint64_t started = 0;
  double expected = 0;
};
struct OmissionInput {
  const Measurement::Starts* starts;
  std::span<const Measurement::Interval> longest;
  std::optional<Duration> median;  // Of all calls; nullopt: beyond the longest wait.
  WallTime first_start{};
  WallTime last_end{};
};
std::optional<Omission> find_omission(const OmissionInput& input);

// Is it slower when busier? Over seconds of at least 20 calls, at least 20 of them: Spearman of calls and
// median, z > 2.576, and the median of medians in the busiest quarter at least 1.3 times that in the
// quietest. False alarms 0.
struct Load {
  std::uint64_t quiet_calls = 0;  // Calls a cell, median of the quarter.
  std::uint64_t busy_calls = 0;
  std::uint32_t quiet_median = 0;  // Buckets.
  std::uint32_t busy_median = 0;
};
std::optional<Load> find_load(CountsOverTime seconds, Duration (*middle_of)(std::uint32_t));

// Do callers give up at a value of their own (C22)? A window as for heaps that holds at least 5 and half of
// the abandoned; or, below nine tenths of the limit (named, else where timed-out calls pile up last), at
// least 5 and a fifth of those timed out. A pile at the limit in force is no news. Rule ours; 5 abandoned at
// random within a window of 7 % happen once in 10,000 logs.
struct CallerLimit {
  Duration at{};
  std::uint64_t count = 0;
  std::uint64_t of = 0;
  bool abandoned = false;
};
std::optional<CallerLimit> find_caller_limit(const EndingTable& table, std::optional<Duration> limit);

// Does one timeout fit every route? Among routes with at least 300 replies and 5 % of all: the quantile at 1
// - e (or the highest that the smallest of them supports) of one is at least 3 times another's and their 99 %
// intervals, shared among the routes, do not touch. Rule ours: at 3 times, one route waits 3 times too long
// or the other loses the slow tenth of its tail; intervals because the p99.9 of 300 calls is a matter of
// luck. Quantiles are of the route's curve (Redistribution) and no higher than it shows: of a route whose
// calls are cut off at 130 ms the replies are faster, and it is not. A route that shows little is compared
// last, so that it does not hide that others differ.
struct MixedRoutes {
  std::size_t slowest = 0;  // Indices into the input.
  std::size_t fastest = 0;
  Quantile quantile;
  Duration slowest_at{};
  Duration fastest_at{};
};
// `gave_up` in LatencyHistogram's buckets; shorter than `replies`: nobody did.
std::optional<MixedRoutes> find_mixed_routes(std::span<const LatencyHistogram> replies,
                                             std::span<const BucketCounts> gave_up, Probability accept_false);

}  // namespace overdue
