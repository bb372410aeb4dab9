#include "overdue/simulated/lesson.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <vector>

#include "overdue/base/check.h"
#include "overdue/base/cpython_random.h"

namespace overdue {
namespace {

// One call as the server and the clock know it.
struct SimulatedCall {
  bool applied;
  std::optional<double> reply_ms;
};

// The dependency under CPython's generator. The order of draws is part of the figures: a loss is drawn for
// whether or not anything can be lost.
class Dependency {
 public:
  explicit Dependency(const LessonOptions& options)
      : random_(options.seed),
        lost_request_(options.lost_request.value()),
        lost_reply_(options.lost_reply.value()),
        slow_path_(options.slow_path.value()) {}

  SimulatedCall call(double slow_factor) {
    if (random_.random() < lost_request_) return {.applied = false, .reply_ms = std::nullopt};
    const double there = one_way_ms();
    const double done = there + service_ms() * slow_factor;
    if (random_.random() < lost_reply_) return {.applied = true, .reply_ms = std::nullopt};
    return {.applied = true, .reply_ms = done + one_way_ms()};
  }

  bool ping_passes() {
    const double there = one_way_ms();
    return there + one_way_ms() < kPingLimitMs;
  }

 private:
  double one_way_ms() { return random_.lognormvariate(0.0, 0.4); }
  double service_ms() {
    if (random_.random() < slow_path_) return random_.uniform(40, 400);
    return random_.lognormvariate(2.0, 0.5);
  }

  CpythonRandom random_;
  double lost_request_;
  double lost_reply_;
  double slow_path_;
};

void count_at(double timeout_ms, const SimulatedCall& call, LessonOutcome& outcome) {
  ++outcome.calls;
  if (call.reply_ms && *call.reply_ms <= timeout_ms) {
    ++outcome.ok;
  } else if (call.applied) {
    ++outcome.late_applied;
  } else {
    ++outcome.late_not_applied;
  }
}

// The value at `index` of the sorted values from `from` on, which are left partitioned around it.
double select(std::vector<double>& values, std::uint64_t from, std::uint64_t index) {
  const auto begin = values.begin();
  const auto place = begin + static_cast<std::ptrdiff_t>(index);
  std::nth_element(begin + static_cast<std::ptrdiff_t>(from), place, values.end());
  return *place;
}

// Sets every mark from the replies; false where there are none.
bool measure(Dependency& dependency, const LessonOptions& options, LessonFigures& figures) {
  std::vector<double> replies;
  replies.reserve(options.sample);
  for (std::uint64_t i = 0; i < options.sample; ++i) {
    if (const auto reply_ms = dependency.call(1.0).reply_ms) replies.push_back(*reply_ms);
  }
  if (replies.empty()) return false;
  std::uint64_t sorted_until = 0;
  for (LessonMark& mark : figures.marks) {
    const std::uint64_t index = lesson_index(mark.percent, replies.size());
    mark.ms = select(replies, sorted_until, index);
    sorted_until = index;
  }
  return true;
}

void try_timeouts(Dependency& dependency, const LessonOptions& options, LessonFigures& figures) {
  for (std::uint64_t i = 0; i < options.calls; ++i) {
    const SimulatedCall call = dependency.call(1.0);
    for (std::size_t mark = 0; mark < figures.marks.size(); ++mark) {
      count_at(figures.marks[mark].ms, call, figures.outcomes[mark]);
    }
  }
}

// One deep check, and how many of its calls were above each limit.
bool deep_check_fails(Dependency& dependency, const DeepFigures& deep, DeepCounts& counts) {
  const double back_ms = deep.limit_ms * kBackBelowShare;
  std::uint64_t late = 0;
  for (std::uint64_t i = 0; i < deep.check.calls; ++i) {
    const auto reply_ms = dependency.call(counts.slow_factor).reply_ms;
    late += !reply_ms || *reply_ms > deep.limit_ms;
    counts.calls_above_back += !reply_ms || *reply_ms > back_ms;
  }
  const bool failed = late >= late_calls_to_fail(deep.check.calls);
  counts.calls += deep.check.calls;
  counts.calls_above_fail += late;
  ++counts.probes;
  counts.probes_failed += failed;
  return failed;
}

// False where it never replied.
bool try_replica(Dependency& dependency, const LessonOptions& options, const LessonFigures& figures,
                 LessonReplica& replica) {
  DeepCounts counts{.slow_factor = replica.slow_factor};
  replica.healthy =
      figures.deep ? !deep_check_fails(dependency, *figures.deep, counts) : dependency.ping_passes();
  std::vector<double> replies;
  replies.reserve(options.replica_calls);
  for (std::uint64_t i = 0; i < options.replica_calls; ++i) {
    const SimulatedCall call = dependency.call(replica.slow_factor);
    count_at(figures.marks.back().ms, call, replica.outcome);
    if (call.reply_ms) replies.push_back(*call.reply_ms);
  }
  if (replies.empty()) return false;
  replica.median_ms = select(replies, 0, lesson_index(50, replies.size()));
  return true;
}

void probe_every_factor(Dependency& dependency, DeepFigures& deep) {
  for (const double factor : kProbedFactors) {
    DeepCounts counts{.slow_factor = factor};
    for (std::uint64_t i = 0; i < kProbes; ++i) deep_check_fails(dependency, deep, counts);
    deep.rows.push_back(deep_row(deep.check, counts));
  }
}

}  // namespace

std::uint64_t lesson_index(double percent, std::uint64_t count) {
  OVERDUE_CHECK(count >= 1);
  return std::min(count - 1, static_cast<std::uint64_t>(percent / 100 * static_cast<double>(count)));
}

std::array<LessonReplica, 4> lesson_replicas(const LessonOptions& options) {
  std::array<LessonReplica, 4> replicas{};
  for (std::size_t i = 0; i < replicas.size(); ++i) {
    replicas[i].name = static_cast<char>('a' + i);
    replicas[i].slow_factor = i + 1 == replicas.size() ? options.slow_factor : 1.0;
  }
  return replicas;
}

std::unexpected<Error> no_reply_in_sample(const LessonOptions& options) {
  return fail(
      ErrorCode::unsupported,
      fmt::format(
          "nothing to measure: none of the {} sampled calls got a reply, so there is no percentile to "
          "take a timeout from; raise --sample or lower --lost-request and --lost-reply",
          options.sample));
}

std::unexpected<Error> no_reply_of_replica(char name, const LessonOptions& options) {
  return fail(
      ErrorCode::unsupported,
      fmt::format("nothing to measure: none of the {} calls to replica {} got a reply, so it has no median; "
                  "raise --replica-calls or lower --lost-request and --lost-reply",
                  options.replica_calls, name));
}

DeepFigures deep_figures(const DeepCheck& check, double fleet_median_ms) {
  return {.check = check,
          .back_below = check.fail_above * kBackBelowShare,
          .limit_ms = check.fail_above * fleet_median_ms,
          .rows = {}};
}

Result<LessonFigures> run_lesson(const LessonOptions& options) {
  OVERDUE_CHECK(options.slow_factor > 0 && options.slow_factor <= kSlowFactorMax);
  for (const std::uint64_t count : {options.sample, options.calls, options.replica_calls}) {
    OVERDUE_CHECK(count >= 1 && count <= kExactCallsMax);
  }
  Dependency dependency(options);
  LessonFigures figures;
  if (!measure(dependency, options, figures)) return no_reply_in_sample(options);
  try_timeouts(dependency, options, figures);
  if (options.deep) figures.deep = deep_figures(*options.deep, figures.marks.front().ms);
  figures.replicas = lesson_replicas(options);
  for (LessonReplica& replica : figures.replicas) {
    if (!try_replica(dependency, options, figures, replica))
      return no_reply_of_replica(replica.name, options);
  }
  if (figures.deep) probe_every_factor(dependency, *figures.deep);
  return figures;
}

}  // namespace overdue
