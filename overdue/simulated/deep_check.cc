#include "overdue/simulated/deep_check.h"

#include <optional>

#include "overdue/base/check.h"
#include "overdue/latency/bounds.h"

namespace overdue {
namespace {

// Expected checks until kChecksInARow of them in a row come out with the given chance; nothing if they never
// do.
std::optional<double> wait_for_run(double chance) {
  if (chance <= 0) return std::nullopt;
  // Horner's form of (p^-r - 1) / (1 - p), which is also right at p = 1.
  double wait = 0;
  for (int i = 0; i < kChecksInARow; ++i) wait = (wait + 1) / chance;
  return wait;
}

CheckJudgement judged(const Rotation& rotation) {
  if (rotation.out_share >= 0.99) return CheckJudgement::caught;
  if (rotation.out_share < 0.01 && rotation.flaps_per_1000_checks < 1) return CheckJudgement::left_in;
  return CheckJudgement::flaps;
}

double share(std::uint64_t part, std::uint64_t whole) {
  return static_cast<double>(part) / static_cast<double>(whole);
}

}  // namespace

double check_failure_probability(std::uint64_t calls, double call_late) {
  return binomial_at_least(static_cast<double>(late_calls_to_fail(calls)), static_cast<double>(calls),
                           call_late);
}

Rotation rotation_of(double fails_when_in, double passes_when_out) {
  const auto checks_in = wait_for_run(fails_when_in);
  if (!checks_in) return {.out_share = 0, .flaps_per_1000_checks = 0};
  const auto checks_out = wait_for_run(passes_when_out);
  if (!checks_out) return {.out_share = 1, .flaps_per_1000_checks = 0};
  const double cycle = *checks_in + *checks_out;
  return {.out_share = *checks_out / cycle, .flaps_per_1000_checks = 1000 / cycle};
}

DeepRow deep_row(const DeepCheck& check, const DeepCounts& counts) {
  OVERDUE_CHECK(counts.calls > 0 && counts.probes > 0);
  constexpr double kMissOneSided = 0.025;
  const auto failed = static_cast<double>(counts.probes_failed);
  const auto probes = static_cast<double>(counts.probes);
  DeepRow row;
  row.counts = counts;
  row.call_late = share(counts.calls_above_fail, counts.calls);
  row.failed = share(counts.probes_failed, counts.probes);
  row.failed_low = rate_lower_bound(failed, probes, kMissOneSided);
  row.failed_high = rate_upper_bound(failed, probes, kMissOneSided);
  row.failed_expected = check_failure_probability(check.calls, row.call_late);
  const double above_back =
      check_failure_probability(check.calls, share(counts.calls_above_back, counts.calls));
  row.one_limit = rotation_of(row.failed_expected, 1 - row.failed_expected);
  row.two_limits = rotation_of(row.failed_expected, 1 - above_back);
  row.judgement = judged(row.one_limit);
  return row;
}

}  // namespace overdue
