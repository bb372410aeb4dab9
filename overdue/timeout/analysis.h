#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "overdue/base/attempt.h"
#include "overdue/base/run_both.h"
#include "overdue/base/time.h"
#include "overdue/latency/compare.h"
#include "overdue/latency/doubt.h"
#include "overdue/latency/measurement.h"
#include "overdue/latency/quantile_interval.h"
#include "overdue/timeout/advice.h"
#include "overdue/timeout/connect_advice.h"

namespace overdue {

// What the user and the reader know besides the measurement.
struct AnalysisOptions {
  AdviceOptions advice;
  std::optional<Duration> promise;  // --promise: what our own callers were promised.
  std::optional<Duration> limit;    // --limit: the limit in force when the log was written.
  bool server_side = false;
  bool rate_unknown = false;          // Only some sources say when calls began.
  bool filled_in = false;             // --expected-interval was given.
  bool outcome_unknown = false;       // Neither status nor ending in the source.
  std::uint64_t without_latency = 0;  // Rows set aside for it where the outcome is unknown.
  RowsSetAside set_aside;             // Of all sources.
  std::string unit_doubt;             // Not empty: no advice, "unit_unclear".
  RunBoth run_both = run_in_turn;
  // Called before large tables are made; may give back what is free. Nothing: nothing is done.
  std::function<void()> make_room = {};
};

// One timeout somebody may think of, and what it would do.
struct Candidate {
  std::string label;  // "p90" of the replies, "advised", "promise", "today" (or "longest" without --limit).
  Duration timeout{};
  RatesAt rates;
  // Nothing where the log has no start times, for there is no rate then, or where `rates` are not known.
  std::optional<double> held_calls;            // Calls waiting at a time for replies that never come.
  std::optional<double> extra_attempts_per_s;  // If every timed-out call is retried once.
};

struct BackendAnalysis {
  ReplicaRow row;
  bool left_out = false;
  std::optional<double> over_advised;  // Share of its calls without a reply by the advised timeout.
};

struct PromiseAnalysis {
  Duration promise{};
  bool fits = false;   // The advised timeout is within the promise.
  TimeoutCheck check;  // What cutting at the promise itself would do.
};

// Analysis is everything `overdue advise` says of one group of a log.
//
// The headline (advice, candidates) leaves out the replicas judged slow or failing, so that one sick host
// does not set everybody's timeout; pooled says what it would have been with them. Endings, quantiles and
// backends are of all.
struct Analysis {
  std::uint64_t calls = 0;
  std::uint64_t attempts = 0;
  std::uint64_t untimed_give_ups = 0;
  std::uint64_t negative_elapsed = 0;
  std::array<std::uint64_t, kEndingCount> endings{};
  Measurement::Resolution resolution = Measurement::Resolution::exact;
  std::optional<WallTime> first_start;
  std::optional<WallTime> last_start;
  std::optional<double> attempts_per_second;

  std::vector<QuantileOfAll> quantiles;
  std::vector<QuantileOfAll> quantiles_kept;  // Without the replicas left out; empty where none is.
  TimeoutAdvice advice;
  std::optional<TimeoutAdvice> pooled;  // Only where a replica is left out.
  std::optional<double>
      visible_rate_pooled;               // What callers see at the advised timeout until they are mended.
  std::optional<ConnectAdvice> connect;  // Where the log has connect times.
  std::vector<Candidate> candidates;     // Ascending by timeout.
  std::vector<BackendAnalysis> backends;
  Comparison comparison;
  std::optional<PromiseAnalysis> promise;
  std::vector<Doubt> doubts;
};

Analysis analyse(const Measurement& measurement, const AnalysisOptions& options);

// The replied and late calls of each block of time, over the backends not left out, whose curve it is. Empty
// without start times. Refers to `measurement` and `curve`, which must outlive it.
TailByBlock tails_of(const Measurement& measurement, const std::vector<bool>& leave_out,
                     const SurvivalCurve& curve);

}  // namespace overdue
