#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "overdue/base/probability.h"
#include "overdue/base/time.h"
#include "overdue/latency/block_inflation.h"
#include "overdue/latency/survival_curve.h"

namespace overdue {

// What a quantile's interval is asked of a curve (STATISTICS 3).
struct IntervalQuestion {
  double quantile = 0;  // q.
  double alpha = 0.05;  // 1 - confidence.
  double vif = 1;
  double replied_ever_low = 1;   // R_inf for the low end: the least it can be.
  double replied_ever_high = 1;  // R_inf for the upper ends.
  // The share is of the calls that replied by last_row (a timeout's), and not of all calls (a quantile of all
  // calls).
  bool of_the_replied = false;
  std::size_t last_row = 0;  // Rows after it are not looked at.
};

// Rows of the curve's table where the ends lie. Low ends take the row's low edge, upper ends its high edge.
struct IntervalRows {
  std::optional<std::size_t> low;   // Two-sided low end.
  bool low_unbounded = false;       // No low end can be given: too few calls, it may be anything from 0.
  bool low_beyond = false;          // The low end lies beyond last_row.
  std::optional<std::size_t> high;  // Two-sided high end; none when the sample cannot give one.
  std::optional<std::size_t> high_one_sided;  // The same at the whole alpha.
};

// The ends come from exact binomial tests on effective replies: Greenwood's variance turned into the number
// of independent replies that would have it, divided by vif. With nothing cut off they are the order
// statistics.
IntervalRows interval_rows(const SurvivalCurve& curve, const IntervalQuestion& question);

// The number of independent replies that would know the share replied after `row` as well as this curve does
// (before division by vif). Requires: row <= last_row < curve.size().
double effective_replies_after(const SurvivalCurve& curve, std::size_t row, std::size_t last_row,
                               bool of_the_replied);
// The same just before the replies of `row`: what the tests at that row use. At the first replies: after
// them.
double effective_replies_before(const SurvivalCurve& curve, std::size_t row, std::size_t last_row,
                                bool of_the_replied);

// A quantile of what callers waited. Each optional that is empty has its reason in the field beside it.
struct QuantileOfAll {
  Quantile quantile;
  std::optional<Duration>
      replies_only;  // Plain rank over the replies: the dashboard's. None without replies.
  std::optional<Duration>
      all_calls;                   // Lost and cut-off calls counted; none: it lies beyond the longest wait.
  std::optional<Duration> beyond;  // Then the longest wait it lies beyond.
  std::optional<Duration> low;     // Low edge; none: low_beyond, or too few calls to bound it from below.
  bool low_beyond = false;
  std::optional<Duration> high;  // High edge; none: the sample gives no upper end.
  double vif = 1;
};

// All-calls quantiles leave rejections out of the denominator. `tails` may be empty: dependence is then
// unknown and taken as none. Returns one entry a quantile, in the order asked.
std::vector<QuantileOfAll> quantiles_of_all(const SurvivalCurve& curve, const TailByBlock& tails,
                                            const std::vector<Quantile>& quantiles, Probability confidence);

// 0.5, 0.9, 0.95, 0.99, 0.999, 0.9999.
const std::vector<Quantile>& reported_quantiles();

// The value at 1-based rank ceil(q * replies) of the replies, a bucket's mid. None without replies.
std::optional<Duration> reply_quantile(const SurvivalCurve& curve, Quantile quantile);

}  // namespace overdue
