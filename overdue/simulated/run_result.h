#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "overdue/base/attempt.h"
#include "overdue/base/probability.h"
#include "overdue/base/time.h"
#include "overdue/simulated/write_counts.h"

namespace overdue {

// What one run of a scenario yields, as plain data: the world fills it, expectations and reports read it.
// Counts are exact; a call, an attempt and an execution are each counted once. Memory is bounded by the
// scenario's size, never by the run's length or the number of calls.

// Verdicts of clients' calls (not of the calls services make).
// total = answered + rejected + not_sent + unknown + open.
struct CallCounts {
  std::uint64_t total = 0;
  std::uint64_t answered = 0;
  std::uint64_t rejected = 0;  // Not applied: an explicit error was the last word.
  std::uint64_t not_sent = 0;  // Not applied: no attempt ever left (refused, no connection, no time).
  std::uint64_t unknown = 0;   // The deadline came, or the attempts ran out, and nobody can tell.
  std::uint64_t open = 0;      // The run ended first.
};

// What the server side really did, per intent: one intent a call of a client. A caller who was told no and
// ordered again for the same intent (`orders_again`) is held to what it was told then.
// intents = applied_once + duplicates + lost. Judged at the end of the run, so what is still being worked on
// then counts as not applied.
struct LedgerCounts {
  std::uint64_t intents = 0;
  std::uint64_t applied_once = 0;
  std::uint64_t duplicates = 0;             // Intents whose effect happened more than once.
  std::uint64_t lost = 0;                   // Intents whose effect never happened.
  std::uint64_t timed_out_applied = 0;      // Verdict unknown, and it had happened (or did later).
  std::uint64_t timed_out_not_applied = 0;  // Verdict unknown, and it never did.
  std::uint64_t executions = 0;             // Pieces of work at ledger_at that reached their effect.
  std::uint64_t failed_applied = 0;  // Verdict rejected or not sent, and it did happen: reads, or a lie.
};

// The value at rank ceil(q * n). all_calls: n counts every call that is not open, one without an answer as
// longer than all answers; none where the rank falls among those. answered: n counts answers alone, as a
// dashboard does.
struct LatencyQuantile {
  Quantile quantile;
  std::optional<Duration> all_calls;
  std::optional<Duration> answered;
};

struct ClientResult {
  std::string name;
  CallCounts calls;
  LedgerCounts ledger;
  std::vector<LatencyQuantile> latency;  // 0.5, 0.9, 0.95, 0.99, 0.999.
  std::optional<Duration> latency_mean;  // Of the answered.
  std::optional<WriteCounts> writes;     // Of a client with a journal,
  CheckCounts checker;                   // and what was found of it.
};

// Attempts to one dependency, whoever made them. attempts = the sum of endings + open.
struct LinkResult {
  std::string name;
  std::uint64_t calls = 0;     // Operations, those of services too, and those taken over or begun anew.
  std::uint64_t answered = 0;  // Of those.
  std::uint64_t attempts = 0;
  std::uint64_t retries = 0;         // attempts - first attempts.
  std::uint64_t retries_denied = 0;  // By the retry budget.
  std::array<std::uint64_t, kEndingCount> endings{};
  std::uint64_t open = 0;            // Attempts that were waited for when the run ended.
  std::uint64_t questions = 0;       // Asked about writes whose end is unknown, beside the attempts.
  std::uint64_t taken_over = 0;      // Of the calls: writes that another process goes on with,
  std::uint64_t ordered_again = 0;   // and those begun anew for an intent whose write was not applied.
  std::uint64_t false_timeouts = 0;  // Timed out while a reply was on its way or still to come: it came late.
  std::uint64_t connect_failures = 0;              // Refused, or ended by the connect timeout.
  std::optional<Duration> connect_failure_median;  // How long those took to notice.
  std::optional<Duration> pool_wait_mean;          // Over all attempts. None without a pool.
};

struct ServiceResult {
  std::string name;
  std::uint64_t arrivals = 0;  // Requests that reached a replica.
  std::uint64_t started = 0;
  std::uint64_t executions = 0;       // Reached their effect.
  std::uint64_t refused_full = 0;     // Queue full, told so or dropped.
  std::uint64_t refused_expired = 0;  // Deadline had passed, before starting or before committing.
  std::uint64_t refused_late = 0;     // Would have ended past it: shed on arrival.
  std::uint64_t stopped = 0;          // Found its cancellation and stopped.
  std::uint64_t failed = 0;           // Ended in an explicit error.
  std::uint64_t stored_replies = 0;   // Repeats of a remembered key.
  std::optional<double> utilisation;  // Busy worker time over worker time. None with unbounded workers.
  // Worker time spent on requests whose attempt had ended for its caller by the time the work did, over all
  // worker time spent.
  double wasted_work = 0;
  double executions_per_intent = 0;  // Of all clients' intents.
  // Of the work that was started: closed forms speak of these.
  double wait_probability = 0;
  std::optional<Duration> wait_mean;
  std::optional<Duration> wait_p99;
  std::optional<Duration> response_mean;  // Waiting and service, at the replica.
  std::uint32_t queue_max = 0;
};

struct ReplicaResult {
  std::string service;
  std::string name;
  std::optional<bool> probe_ok;  // The last probe. None: no probe is configured.
  std::optional<double> probe_pass_rate;
  std::optional<Duration> median;      // Of replies, as the attempts' callers saw them.
  std::optional<double> timeout_rate;  // Of its ended attempts. None without any.
  double traffic_share = 0;            // Of the attempts to its service.
  std::uint64_t attempts = 0;
  std::uint64_t rejected = 0;
  std::optional<double> utilisation;
  std::uint32_t queue_max = 0;
  std::optional<Duration> ejected_at;  // The first time.
};

// One second of the run. Of calls that began in it: offered, goodput. What happened in it: all the rest.
struct TimelineRow {
  std::uint32_t second = 0;
  std::uint64_t offered = 0;
  std::uint64_t goodput = 0;  // Answered within their deadline, whenever that was.
  std::uint64_t rejected = 0;
  std::uint64_t unknown = 0;
  std::uint64_t attempts = 0;
  std::uint64_t timeouts = 0;  // Attempts that ended timed out.
  std::uint64_t retries = 0;
  std::uint64_t executions = 0;
  std::uint64_t queue = 0;  // Longest it was, the queues of all replicas together.

  // Counts the other's in: they are one row from now on.
  void join(const TimelineRow& later) {
    offered += later.offered;
    goodput += later.goodput;
    rejected += later.rejected;
    unknown += later.unknown;
    attempts += later.attempts;
    timeouts += later.timeouts;
    retries += later.retries;
    executions += later.executions;
    queue = std::max(queue, later.queue);
  }
};
// A run of so many seconds has a row for each; of a longer one neighbours are joined until they are no more.
inline constexpr std::size_t kTimelineMax = 16'384;

// So many calls, or attempts, may be under way at once, those whose server is still at work included.
inline constexpr std::uint32_t kInUseMax = 15'000'000;

struct RunResult {
  std::string scenario;
  std::uint64_t seed = 0;
  std::uint64_t hash = 0;  // Of every event: equal for equal scenario and seed, whatever the machine does.
  std::uint64_t events = 0;
  Duration ended_at{};
  bool interrupted = false;
  bool too_many = false;  // Came to more than kInUseMax and was ended: no result.
  // Events followed each other without end and time did not pass, as where callers without a pause are
  // refused at once: no result.
  bool stands_still = false;
  CallCounts calls;
  LedgerCounts ledger;
  std::optional<WriteCounts> writes;  // None: no client has a journal.
  CheckCounts checker;
  double offered_per_second = 0;  // Over `duration`.
  double attempts_per_call = 0;   // Attempts of clients over clients' calls.
  double goodput = 0;             // Answered over all calls that are not open.
  double wasted_work = 0;         // As in ServiceResult, over all services.
  std::optional<Duration> latency_mean;
  std::vector<LatencyQuantile> latency;
  std::vector<ClientResult> clients;  // In the scenario's order, like all that follow.
  std::vector<LinkResult> links;
  std::vector<ServiceResult> services;
  std::vector<ReplicaResult> replicas;
  // From 0, without gaps, up to the last with anything; a row is so many seconds.
  std::vector<TimelineRow> timeline;
  std::uint32_t timeline_row_seconds = 1;
  bool fault_came = false;             // Some fault began; one that is drawn may not.
  std::optional<Duration> faults_end;  // When the last fault was over; none: there was none, or it never is.
};

enum class FieldUnit : std::uint8_t { count, share, milliseconds, seconds, number, flag };

// What became of one [[expect]] row.
struct ExpectationResult {
  std::string text;  // "timeline.goodput_share >= 95% from 16 s to 30 s".
  bool held = false;
  std::optional<double> value;  // In the field's unit; none: there is none in this run.
  std::string shown;            // The value for people: "99.2 %", "12 ms", "never".
  std::string why;
  FieldUnit unit = FieldUnit::count;
};

}  // namespace overdue
