#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "overdue/base/probability.h"
#include "overdue/base/time.h"
#include "overdue/latency/block_inflation.h"
#include "overdue/latency/ending_row.h"
#include "overdue/latency/survival_curve.h"
#include "overdue/timeout/open_calls.h"

namespace overdue {

struct AdviceOptions {
  Probability accept_false{0.001};  // The share of calls that would have replied we agree to cut off.
  Probability confidence{0.95};
  std::optional<double>
      headroom;  // 0.2: advise the point plus 20 % instead of the upper end of its interval.
};

// How far the answer would move if the callers who left were all of one kind: it cannot be tested (STATISTICS
// 1).
struct AbandonmentRange {
  std::uint64_t abandoned_before = 0;  // Callers who left before the advised timeout.
  double share = 0;                    // Of the calls not rejected.
  bool matters = false;                // The share exceeds accept_false; the rest is set only then.
  double false_rate_if_lost = 0;       // Of the advised timeout, had none of them ever got a reply.
  double false_rate_if_slow = 0;       // Had each got one, later than the timeout.
  std::optional<Duration> timeout_if_lost;
  std::optional<Duration> timeout_if_slow;  // None: no timeout up to the longest wait would do.
};

// TimeoutAdvice is a request timeout for an accepted false-timeout rate, with all that can be said against
// it.
//
// The timeout is the least t with replied(t) >= (1 - accept_false) * replied_ever; what is advised is the
// upper end of its one-sided interval, so that fresh traffic keeps the accepted rate with `confidence`.
// Shares are of calls that were not rejected, unless they say otherwise. Durations are values of the table:
// low end a bucket's low edge, point its mid, upper ends its high edge; only request_timeout is rounded.
struct TimeoutAdvice {
  // "": advised. Else "no_calls", "no_replies", "too_many_untimed", "not_identifiable", "too_few_calls".
  std::string declined;
  std::optional<Duration>
      request_timeout;  // `recommended` (or point with headroom) rounded up; none when declined.
  std::optional<Duration> recommended;
  std::optional<Duration> point;
  std::optional<Duration> low;
  std::optional<Duration> high;  // Two-sided: needs 368 calls at 1 % where the one-sided end needs 299.
  bool low_beyond = false;       // The low end lies beyond the longest wait.

  OpenCalls open;                        // What the data says of the calls still open, and by which figures.
  std::optional<Duration> if_open_lost;  // The point, had none of the open calls ever replied.
  std::optional<Duration> if_open_slow;  // Had all of them: none when no t up to the longest wait does.
  double replied_ever = 0;               // R_inf, of all calls: what would have replied, given time.

  double vif = 1;
  bool vif_known = false;
  std::uint64_t late_calls = 0;     // Replies later than the point.
  double effective_late_calls = 0;  // late_calls / vif.
  std::uint64_t blocks_with_replies = 0;
  double effective_replies = 0;  // Behind the interval, after vif.
  // For advice at this accept_false in traffic like this; 0 where more calls like these would not help.
  std::uint64_t calls_needed = 0;

  // At request_timeout, or at the point where declined.
  double false_timeout_rate = 0;  // Of the calls that would have replied.
  double lost_rate = 0;
  double reset_rate = 0;            // Resets before it: errors the caller sees at once, not timeouts.
  double visible_timeout_rate = 0;  // False ones and lost ones: what callers will see.

  std::uint64_t calls = 0;
  std::uint64_t replies = 0;
  std::uint64_t untimed_give_ups = 0;  // Give-ups at 0: they ended, nobody knows when.
  AbandonmentRange abandonment;
};

// `tails` may be empty (no start times): vif_known is then false and calls are taken as independent.
TimeoutAdvice advise_timeout(const SurvivalCurve& curve, const TailByBlock& tails,
                             const AdviceOptions& options);
TimeoutAdvice advise_timeout(const EndingTable& table, const TailByBlock& tails,
                             const AdviceOptions& options);

// What callers see time out at the time of that point, of the calls that were not rejected by then. Those
// that would be rejected later time out for them too, so here they count, above the line and below it.
double visible_timeout_rate(const SurvivalCurve::Point& then);

// What a timeout would do to the calls of a log: shares of the calls that were not rejected.
// answered + cut_off + never_answered + reset = 1 (more, by the rejections that would have come after it).
struct RatesAt {
  double answered = 0;
  double cut_off = 0;         // Would have replied, later.
  double never_answered = 0;  // Lost: no timeout helps.
  double reset = 0;           // Reset before the timeout.
  double visible_timeout_rate = 0;
  double false_timeout_rate = 0;  // cut_off of the calls that would have replied.
  bool known = true;
};
// Beyond the longest wait the rates are those at it. That is what is known there if the calls still open do
// not matter, or are lost; else they are not known: replies may come that nobody waited for.
RatesAt rates_at(const SurvivalCurve& curve, const TimeoutAdvice& advice, Duration timeout);

// Does a log support a timeout that was chosen without it? For `overdue check`.
struct TimeoutCheck {
  RatesAt rates;
  double false_rate_upper =
      1;  // Exact one-sided bound at `confidence`; the open ones counted slow where unclear.
  double effective_replies = 0;
  std::uint64_t replies_above = 0;  // "0 of 20 above".
  std::uint64_t replies = 0;
  bool beyond_longest_wait = false;
};
TimeoutCheck check_timeout(const SurvivalCurve& curve, const TimeoutAdvice& advice, Duration timeout,
                           Probability confidence);

// Up to a whole millisecond, below 10 ms to a hundredth of one, below 1 ms to a microsecond, and never 0
// (which other systems read as "none").
Duration round_up_timeout(Duration timeout);

}  // namespace overdue
