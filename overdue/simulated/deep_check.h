#pragma once

#include <array>
#include <cstdint>
#include <vector>

namespace overdue {

// A deep health check calls the replica as its users do, several times, and fails when the median of those
// calls is above `fail_above` times the fleet's median. A lost call is infinitely slow. Of an even number of
// calls the upper of the two middle ones is the median.
struct DeepCheck {
  std::uint64_t calls = 5;  // Requires: >= 1.
  double fail_above = 3;    // Times the fleet's median.
};

// A replica leaves the rotation after this many failures in a row, and comes back after as many passes.
inline constexpr int kChecksInARow = 3;
// Coming back asks for a better median than staying in: this share of fail_above, so 2 x for the usual 3 x.
inline constexpr double kBackBelowShare = 2.0 / 3.0;
inline constexpr std::uint64_t kProbes = 10'000;
inline constexpr std::array<double, 10> kProbedFactors = {1, 2, 2.5, 3, 3.5, 4, 5, 6, 7, 8};

// How a replica fares in the long run under checks that fail independently of each other.
struct Rotation {
  double out_share = 0;              // Of the time, out of the rotation.
  double flaps_per_1000_checks = 0;  // Trips out and back.
};

// What many checks of replicas slower by one factor gave.
struct DeepCounts {
  double slow_factor = 1;
  std::uint64_t calls = 0;
  std::uint64_t calls_above_fail = 0;
  std::uint64_t calls_above_back = 0;
  std::uint64_t probes = 0;
  std::uint64_t probes_failed = 0;
};

enum class CheckJudgement {
  left_in,  // Out under 1 % of the time and under one flap in 1,000 checks.
  flaps,    // Neither.
  caught,   // Out at least 99 % of the time.
};

struct DeepRow {
  DeepCounts counts;
  double call_late = 0;  // Share of single calls above the limit.
  double failed = 0;     // Share of checks that failed, with its exact 95 % interval.
  double failed_low = 0;
  double failed_high = 0;
  double failed_expected = 0;                          // What `call_late` makes of it, by the binomial.
  Rotation one_limit;                                  // Back after passes of the same limit.
  Rotation two_limits;                                 // Back only after medians below the lower limit.
  CheckJudgement judgement = CheckJudgement::left_in;  // Of the check with one limit.
};

struct DeepFigures {
  DeepCheck check;
  double back_below = 2;
  double limit_ms = 0;
  std::vector<DeepRow> rows;
};

// Late calls that put the median above the limit.
constexpr std::uint64_t late_calls_to_fail(std::uint64_t calls) { return calls - calls / 2; }

// P(Bin(calls, call_late) >= late_calls_to_fail(calls)).
double check_failure_probability(std::uint64_t calls, double call_late);

// Runs of kChecksInARow decide both ways: the waiting time for r successes in a row of chance p is
// (p^-r - 1) / (1 - p) (Feller, An Introduction to Probability Theory I, XIII.7), and out and in alternate.
// Requires: both in [0, 1].
Rotation rotation_of(double fails_when_in, double passes_when_out);

DeepRow deep_row(const DeepCheck& check, const DeepCounts& counts);

}  // namespace overdue
