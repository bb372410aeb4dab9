#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "overdue/base/probability.h"
#include "overdue/base/run_both.h"
#include "overdue/base/time.h"

namespace overdue {

class Measurement;
struct Comparison;
struct EndingRow;

// Doubt is a reason not to take the advice as it stands: a code that scripts branch on (--fail-on) and one or
// two sentences with the numbers and what to do about it.
struct Doubt {
  std::string code;
  std::string text;
};

// Every code there is, the gravest first.
inline constexpr std::array<std::string_view, 18> kDoubtCodes = {
    "unit_mismatch",       "clock_step",   "zero_latency",    "set_aside", "slow_or_lost",
    "abandonment_matters", "slow_replica", "failing_replica", "change",    "coordinated_omission",
    "caller_limit",        "heaping",      "bursts",          "load",      "few_episodes",
    "short_log",           "mixed_routes", "server_side_log"};

// Rows of the log that may have been calls and are not in the measurement.
struct RowsSetAside {
  std::uint64_t count = 0;
  std::uint64_t all = 0;  // Rows, these included.
  std::string reason;     // Of the most of them.
};

// DoubtContext is what the measurement alone does not know. Everything is optional in effect: a default
// context gives the doubts that the log alone supports.
struct DoubtContext {
  // What the open calls (no reply by the longest wait) were read as; STATISTICS 2.
  enum class OpenCalls { not_judged, enough, lost, slow, cannot_tell };

  Probability accept_false = Probability(0.001);
  std::optional<Duration> point;        // Of the advice, before its upper end is taken.
  std::optional<Duration> recommended;  // The advised timeout.
  std::optional<Duration> pooled;       // The advised timeout with no replica left out.
  OpenCalls open_calls = OpenCalls::not_judged;
  double open_share = 0;  // Of calls, without a reply at the longest wait.
  std::optional<Duration> longest_wait;
  double vif = 1;                   // Variance inflation by dependence; STATISTICS 5.
  double effective_late_calls = 0;  // K / VIF.
  // The timeout if every abandoned call was lost, and if every one was slower than the timeout (nullopt: none
  // fits).
  std::optional<Duration> timeout_if_abandoned_lost;
  std::optional<Duration> timeout_if_abandoned_slow;
  const Comparison* comparison = nullptr;
  const std::vector<EndingRow>* table = nullptr;  // Measurement::table(), if it is at hand already.
  bool server_side = false;                       // The log was written by the server that is called.
  bool filled_in = false;        // --expected-interval was given: omitted calls are in the measurement.
  bool outcome_unknown = false;  // The source has neither status nor ending: every row was read as a reply.
  std::uint64_t without_latency = 0;  // Rows set aside for it, where the outcome is unknown.
  RowsSetAside set_aside;             // Those with a doubt of their own not among them.
  std::optional<Duration> limit;      // As named with --limit.
  std::string unit_doubt;             // From the reader; empty: none.
};

// find_doubts lists the reasons to doubt what was measured, in the order of kDoubtCodes. The rules that need
// a statistic are in doubt_rules.h; these need none:
//
// - unit_mismatch: the reader's word for it.
// - clock_step: rows with a negative latency were set aside.
// - zero_latency: replies of exactly 0, or rows without a latency, in a source that does not say how rows
// ended (C18).
// - set_aside: of rows more than the accepted share, and 5 at least: if they were calls that failed, the
//   figures are not of all calls.
// - slow_or_lost: open calls matter to the answer: they were not "enough".
// - abandonment_matters: the share abandoned before the timeout exceeds the accepted one (STATISTICS 1).
// - slow_replica, failing_replica: compare_replicas() says so. Differing ones are a slow_replica too.
// - few_episodes: fewer than 10 effective late calls and VIF >= 2.5. Few but independent late calls are no
// doubt:
//   the interval counts them.
// - short_log: less than 5 minutes, or fewer than 32 of 256 equal stretches hold a call.
// - server_side_log: the caller of this function says so.
//
// On independent calls each of the others fires in at most 1 % of logs; doubt_false_alarm_test.cc counts.
// Errors: none; an empty, one-row or untimed measurement raises what still makes sense of it.
std::vector<Doubt> find_doubts(const Measurement& measurement, const DoubtContext& context);

// The same in two parts, of which the first needs no advice: its doubts and then, with them, all. `run_both`
// may lend a second thread. Of the context the first takes the limit, and whether calls were filled in.
// Requires of both: context.table.
std::vector<Doubt> doubts_without_advice(const Measurement& measurement, const DoubtContext& context);
std::vector<Doubt> find_doubts(const Measurement& measurement, const DoubtContext& context,
                               std::vector<Doubt> without_advice, const RunBoth& run_both);

}  // namespace overdue
