#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "overdue/base/probability.h"
#include "overdue/base/result.h"
#include "overdue/simulated/deep_check.h"

namespace overdue {

// The experiment of a lesson on partial failure and timeouts: a dependency whose calls take about 10 ms, a
// few of them up to 400 ms, and of which some are lost on the way there or on the way back. Its latency
// percentiles are measured as a dashboard would, from replies alone; each is then tried as a timeout on fresh
// traffic; and a slow replica among four is looked at through its health check and through its callers' eyes.
//
// The model: two one-way delays of median 1 ms (log-sigma 0.4), around service of median exp(2) = 7.4 ms
// (log-sigma 0.5) or, on the slow path, uniform 40 to 400 ms; service times the replica's factor.
struct LessonOptions {
  std::uint64_t seed = 7;
  Probability lost_request{0.002};  // The server never sees it.
  Probability lost_reply{0.002};    // The server has done it, and nobody hears of it.
  Probability slow_path{0.02};
  double slow_factor = 8;                // Of replica d. Requires: in (0, kSlowFactorMax].
  std::uint64_t sample = 50'000;         // Calls whose replies are measured.
  std::uint64_t calls = 100'000;         // Calls on which the timeouts are tried.
  std::uint64_t replica_calls = 20'000;  // Calls to each replica.
  std::optional<DeepCheck> deep;         // In place of the ping.
};

inline constexpr double kSlowFactorMax = 1e6;
inline constexpr std::uint64_t kExactCallsMax = 100'000'000;  // Replies are kept: 8 bytes each.
inline constexpr std::uint64_t kFastCallsMax = 100'000'000'000;
inline constexpr std::uint64_t kDeepCallsMax = 1'001;

// A percentile of the replies, by the lesson's own rule: the value at index int(percent / 100 * count) of the
// sorted replies. Everything else in this project uses exact ranks.
struct LessonMark {
  std::string_view label;
  double percent;
  double ms;
};

// How calls ended for a caller with a timeout. All counts.
struct LessonOutcome {
  std::uint64_t calls = 0;
  std::uint64_t ok = 0;
  std::uint64_t late_applied = 0;      // Timed out, and the server did it.
  std::uint64_t late_not_applied = 0;  // Timed out, and it never got there.
};

struct LessonReplica {
  char name;
  double slow_factor;
  bool healthy;  // By its ping, or by the deep check.
  double median_ms;
  LessonOutcome outcome;  // At the timeout of the last mark.
};

struct LessonFigures {
  std::array<LessonMark, 4> marks{{{"p50", 50, 0}, {"p90", 90, 0}, {"p99", 99, 0}, {"p99.9", 99.9, 0}}};
  std::array<LessonOutcome, 4> outcomes;  // One a mark.
  std::array<LessonReplica, 4> replicas{};
  std::optional<DeepFigures> deep;
};

// A ping is two one-way delays and passes below this.
inline constexpr double kPingLimitMs = 50;

// The experiment with CPython's own generator: figure for figure what the lesson's program prints for equal
// options. Fails with `unsupported` where nothing can be measured because no call replied (Python would end
// in an IndexError). Requires: options within their limits, and counts in [1, kExactCallsMax].
Result<LessonFigures> run_lesson(const LessonOptions& options);

// The index of a percentile among `count` sorted values, as the lesson has it. Requires: count >= 1.
std::uint64_t lesson_index(double percent, std::uint64_t count);

// The four replicas before any call, and the error for the case that one of them never replied.
std::array<LessonReplica, 4> lesson_replicas(const LessonOptions& options);
std::unexpected<Error> no_reply_in_sample(const LessonOptions& options);
std::unexpected<Error> no_reply_of_replica(char name, const LessonOptions& options);

// The deep check's figures before any probe, for a fleet of this median.
DeepFigures deep_figures(const DeepCheck& check, double fleet_median_ms);

}  // namespace overdue
