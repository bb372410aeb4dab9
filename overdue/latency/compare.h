#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "overdue/base/attempt.h"
#include "overdue/base/time.h"
#include "overdue/latency/bucket_count.h"

namespace overdue {

class Measurement;

// What the comparison says of one replica. The first that holds of failing, slow, slow_tail; differ: one of
// two replicas, or of two halves of a fleet, is slower and nothing says which of them is abnormal.
enum class ReplicaJudgement { usual, slow, slow_tail, failing, differ, too_few_calls };
inline constexpr std::array<std::string_view, 6> kReplicaJudgementNames = {
    "usual", "slow", "slow_tail", "failing", "differ", "too_few_calls"};
constexpr std::string_view name_of(ReplicaJudgement judgement) {
  return kReplicaJudgementNames[static_cast<std::size_t>(judgement)];
}

// What it says of the fleet: alone (fewer than two replicas), alike (no outlier), outliers (some rows say
// which), differ (two replicas, one slower), split (half of the fleet or more is slower than the rest).
enum class FleetJudgement { alone, alike, outliers, differ, split };

// ReplicaCalls is what the comparison needs of one replica. "Waited" calls are those that were replied to,
// timed out or were abandoned; the others ended for a reason that is no latency.
struct ReplicaCalls {
  // In place of a bucket: no reply at the common limit. Calls timed out or abandoned there or later, and
  // replies after it.
  static constexpr std::uint32_t kBeyondLimit = std::numeric_limits<std::uint32_t>::max();

  std::string name;
  std::uint16_t backend = 0;
  bool judged = true;  // Not set for a row that is no replica (the names past NameTable::kNamesMax).
  std::array<std::uint64_t, kEndingCount> endings{};
  // Of its waited calls at the common limit, by its curve (Redistribution) where some were given up before;
  // nullopt: beyond the limit or what was seen, or no such call.
  std::optional<Duration> median;
  std::optional<Duration> p95;
  // The mean of the middle half of them, in ns: of 25 ranks about the median; nullopt where one is as above.
  std::optional<double> middle;
  // Waited calls of each block of equal time with calls, but for `left`; one block where nothing is timed.
  std::vector<SparseCounts> blocks;
  // Those given up before the common limit, by when they were, of each block; empty where none was.
  std::vector<SparseCounts> left;
};

struct FleetCalls {
  bool timed = false;             // Blocks are blocks of time; else there is one.
  std::optional<Duration> limit;  // The least common limit, where some calls timed out.
  std::vector<ReplicaCalls> replicas;
};

// ReplicaTest is rule 1's test of "slower than all others": with start times a one-sided t-test on blocks,
// without them Mann-Whitney (then t is the normal score).
struct ReplicaTest {
  double mean_difference = 0;  // Mean score (mid-rank / n) of the replica less that of all others.
  double t = 0;                // Infinite where all blocks agree exactly.
  double p = 1;
};

struct ReplicaRow {
  std::string name;
  std::uint16_t backend = 0;
  std::uint64_t attempts = 0;                // Every ending.
  std::optional<Duration> median;            // As in ReplicaCalls.
  std::optional<double> times_fleet_median;  // nullopt where either median is.
  double timeout_rate = 0;                   // Share of its attempts that timed out.
  double failure_rate = 0;                   // Share rejected, reset or refused.
  std::optional<ReplicaTest> test;           // nullopt with too few calls, or nobody to compare with.
  double tail_share = 0;                     // Of its waited calls, later than the fleet's p95; see below.
  double tail_share_of_others = 0;
  // Every rule that holds; the judgement is the word for them together.
  bool slow = false;
  bool slow_tail = false;
  bool failing = false;
  ReplicaJudgement judgement = ReplicaJudgement::usual;
};

struct Comparison {
  std::vector<ReplicaRow> rows;  // In the order of the input; only replicas with attempts.
  FleetJudgement fleet = FleetJudgement::alone;
  std::optional<Duration> fleet_median;  // Lower median of the replicas' medians; nullopt: beyond the limit.
  std::optional<Duration> limit;
  std::vector<std::uint16_t> left_out;  // Backends the headline leaves out, ascending.

  // As Measurement::table() takes it; empty where nothing is left out.
  std::vector<bool> leave_out_mask() const;
};

// compare_replicas finds the replicas that are slower than the others or fail more often (STATISTICS 6).
//
// slow       mean score above the others' in blocks of equal time, p < 0.01 / N, and its median at least 1.25
// times the
//            fleet's (2 times below 200 calls). Blocks make it blind to what slows all at once. The mean of
//            its middle half must be 0.6 times as far above the fleet's: on a clock of whole milliseconds
//            medians of 1.49 and 1.51 ms are 1 and 2.
// slow_tail  the same test on the share later than the fleet's p95; at least 2 times the others' share and 2
//            points more, and its own p95 at least 1.25 times the fleet's: where latencies lie close
//            together, a tenth slower is a tenth of the calls above the p95 and no slow tail. Without start
//            times an exact binomial test on the two shares.
// failing    rejected + reset + refused attempts, exact binomial, p < 0.01 / N, at least 3, 2 times the
// others' rate and
//            1 point more. A refused connection never waited, but it is this backend that refused it. Needs
//            no minimum of calls, since a replica that rejects everything has no call that waited (C44 d).
// A call given up before the common limit says only that it had not replied by then: it is scored by what the
// fleet's calls that had not either were in the end (Redistribution). In the tail it counts with the share of
// them that were later than the p95. So a replica whose callers leave early is not slower for it.
// The first two need 50 waited calls and, with start times, 8 blocks with a call of it and one of others;
// with fewer than 8 blocks in all the log is compared as if it had no start times. Time in which nobody
// called is in no block.
//
// Two replicas where one is slow: differ, unless one has nine tenths of the calls and so is the fleet (C07).
// Half of the judged replicas or more slow: split, and the slow ones are called differ.
//
// left_out: failing, slow and slow_tail ones, so that one sick host does not set everybody's timeout; a tail
// of its own does that as surely as a slow median. Slow ones only while they are fewer than half (or, of two,
// a tenth of the calls): else nothing says which half is sick.
Comparison compare_replicas(const FleetCalls& fleet);

// The same from a measurement: its named backends with attempts, 16 blocks of equal time.
//
// Common limit: the time at which a quarter of the timed-out calls of a replica had ended, the least over
// replicas with at least 5 of them, else over the whole fleet. Not the very least: one odd give-up after 3 ms
// must not cut everybody's calls at 3 ms.
Comparison compare_replicas(const Measurement& measurement);

// What the second form hands to the first.
FleetCalls fleet_calls(const Measurement& measurement);

}  // namespace overdue
