#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "overdue/base/attempt.h"
#include "overdue/base/time.h"
#include "overdue/call/call_policy.h"
#include "overdue/call/deadline.h"
#include "overdue/call/retry_budget.h"
#include "overdue/latency/histogram.h"

namespace overdue {

// Sums since the dependency was made.
struct DependencyCounts {
  std::uint64_t calls = 0;                            // First attempts.
  std::uint64_t retries = 0;                          // Further ones.
  std::uint64_t retries_denied = 0;                   // Wanted, and the budget was spent.
  std::uint64_t late_answers = 0;                     // Of attempts that had been given up.
  std::array<std::uint64_t, kEndingCount> endings{};  // Of attempts, by Ending.
};

// An answer as the dependency learns of it.
struct AnswerSeen {
  Ending ending = Ending::replied;  // replied or rejected.
  Duration elapsed{};               // Since its attempt's start, however late.
  bool late = false;                // Its attempt had been given up.
  std::optional<Duration> way;      // Of the trip beside the server's time, where that is known.
};

// Dependency is what all operations to one dependency share on one event loop: the policy, the retry budget,
// the live estimate of latency and of the way. Operations tell it what they see; it decides nothing by
// itself. The ejector, the limiter and hedging will live here too.
//
// Memory:  at most 2 histograms (44 KB); none is taken while operations run, once latencies have been seen.
// Time:    `now` must not run backwards from one call to the next.
// Threads: none; one per event loop. It must outlive its operations, and stay where it is.
class Dependency {
 public:
  Dependency(const CallPolicy& policy, Instant now);
  Dependency(const Dependency&) = delete;
  Dependency& operator=(const Dependency&) = delete;

  const CallPolicy& policy() const { return policy_; }
  // The limit of an attempt that starts now: the policy's, or what adaptation made of it.
  std::optional<Duration> request_timeout() const { return request_timeout_; }
  void set_request_timeout(std::optional<Duration> timeout) { request_timeout_ = timeout; }

  void on_first_attempt(Instant now) {
    ++counts_.calls;
    if (retry_budget_) retry_budget_->on_first_attempt(now);
  }
  // Spends one retry of the budget and returns true, or counts it as denied.
  [[nodiscard]] bool try_spend_retry(Instant now) {
    const bool granted = !retry_budget_ || retry_budget_->try_spend_retry(now);
    ++(granted ? counts_.retries : counts_.retries_denied);
    return granted;
  }

  // An answer of an attempt. A late one, of an attempt given up before, counts as such and not among the
  // endings, for its attempt has had one.
  void on_answer(Instant now, const AnswerSeen& answer);
  void on_ended_without_answer(Ending ending) { ++counts_.endings[static_cast<std::size_t>(ending)]; }

  // What the next hop may be told it has, of an attempt that must be answered by `answer_by`: what remains
  // less the margin for the way. None: there is no time left, so do not call.
  std::optional<Duration> allowance_for_next_hop(Instant now, Instant answer_by) const {
    return way_.allowance(now, answer_by);
  }
  const WayEstimate& way() const { return way_; }

  // Latencies of the answers of the last half to whole window before the last answer, successes and other
  // answers alike; explicit errors and calls given up are not latencies (see counts()).
  LatencyHistogram recent_latencies() const;
  const DependencyCounts& counts() const { return counts_; }

 private:
  Duration half_window() const;
  void turn_window(Instant now);

  CallPolicy policy_;
  std::optional<Duration> request_timeout_;
  std::optional<RetryBudget> retry_budget_;
  WayEstimate way_;
  LatencyHistogram current_, previous_;  // Half a window each.
  Instant half_window_ends_;
  DependencyCounts counts_;
};

}  // namespace overdue
