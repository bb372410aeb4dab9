#include "overdue/simulated/lesson_fast.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <thread>
#include <vector>

#include "overdue/base/check.h"
#include "overdue/simulated/fast_calls.h"

// The work is cut into blocks of fixed size, each with a random stream named by what it belongs to and its
// number. Threads take whichever block is next and count into tallies of their own; tallies are integers and
// are added up at the end, so who took which block does not show.

namespace overdue {
namespace {

constexpr std::uint64_t kBlockCalls = 16'384;
constexpr std::uint64_t kBlockProbes = 500;

// What a stream belongs to; the block's number is in the low bits.
enum class Purpose : std::uint64_t { sample = 0, traffic = 1, replica = 2, check = 8, probe = 16 };
Random stream(const LessonOptions& options, Purpose purpose, std::uint64_t which, std::uint64_t block) {
  return Random(options.seed, ((static_cast<std::uint64_t>(purpose) + which) << 40) + block);
}

// The calls of one part of the experiment.
struct Part {
  Purpose purpose;
  std::uint64_t which;
  std::uint64_t calls;
  double slow_factor;
  std::uint64_t blocks() const { return (calls + kBlockCalls - 1) / kBlockCalls; }
};

struct PartTally {
  ReplyCounts replies;
  std::uint64_t lost_replies = 0;
  std::uint64_t lost_requests = 0;

  void merge(const PartTally& other) {
    replies.merge(other.replies);
    lost_replies += other.lost_replies;
    lost_requests += other.lost_requests;
  }
};

// Runs work(block, tally) for every block below `blocks` on up to `threads` threads, a tally to each, and
// merges.
template <typename Tally, typename Work>
Tally over_blocks(std::uint64_t blocks, unsigned threads, const Tally& empty, Work work) {
  const auto workers = static_cast<std::size_t>(std::clamp<std::uint64_t>(blocks, 1, threads));
  std::vector<Tally> tallies(workers, empty);
  std::atomic<std::uint64_t> next{0};
  const auto run = [&](Tally& tally) {
    for (std::uint64_t block = next++; block < blocks; block = next++) work(block, tally);
  };
  {
    std::vector<std::jthread> others;
    for (std::size_t i = 1; i < workers; ++i) others.emplace_back([&, i] { run(tallies[i]); });
    run(tallies[0]);
  }
  for (std::size_t i = 1; i < workers; ++i) tallies[0].merge(tallies[i]);
  return std::move(tallies[0]);
}

struct Tallies {
  std::array<PartTally, 6> parts;  // Sample, traffic, replicas a to d.
  void merge(const Tallies& other) {
    for (std::size_t i = 0; i < parts.size(); ++i) parts[i].merge(other.parts[i]);
  }
};

Tallies run_parts(const LessonOptions& options, const FastCalls& fast_calls, const std::array<Part, 6>& parts,
                  unsigned threads) {
  std::uint64_t blocks = 0;
  for (const Part& part : parts) blocks += part.blocks();
  return over_blocks(blocks, threads, Tallies{}, [&](std::uint64_t block, Tallies& tallies) {
    std::size_t at = 0;
    for (; block >= parts[at].blocks(); ++at) block -= parts[at].blocks();
    const Part& part = parts[at];
    PartTally& tally = tallies.parts[at];
    if (!tally.replies.ready()) tally.replies = ReplyCounts(FastCalls::longest_reply_ms(part.slow_factor));
    Random random = stream(options, part.purpose, part.which, block);
    const std::uint64_t calls = std::min(kBlockCalls, part.calls - block * kBlockCalls);
    fast_calls.draw(
        random, part.slow_factor, calls, [&](double ms) { tally.replies.add(ms); },
        [&](bool applied) { ++(applied ? tally.lost_replies : tally.lost_requests); });
  });
}

LessonOutcome outcome_of(const PartTally& tally, std::uint64_t calls, std::uint64_t timeout_bucket) {
  const std::uint64_t ok = tally.replies.count_through(timeout_bucket);
  return {.calls = calls,
          .ok = ok,
          .late_applied = calls - ok - tally.lost_requests,
          .late_not_applied = tally.lost_requests};
}

struct ProbeTally {
  DeepCounts counts;
  void merge(const ProbeTally& other) {
    counts.calls += other.counts.calls;
    counts.calls_above_fail += other.counts.calls_above_fail;
    counts.calls_above_back += other.counts.calls_above_back;
    counts.probes += other.counts.probes;
    counts.probes_failed += other.counts.probes_failed;
  }
};

void run_probes(Random& random, const FastCalls& fast_calls, const DeepFigures& deep, std::uint64_t probes,
                DeepCounts& counts) {
  const double back_ms = deep.limit_ms * kBackBelowShare;
  std::uint64_t seen = 0;
  std::uint64_t late = 0;
  const auto count_one = [&](bool above_fail, bool above_back) {
    late += above_fail;
    counts.calls_above_back += above_back;
    if (++seen < deep.check.calls) return;
    counts.calls_above_fail += late;
    counts.probes_failed += late >= late_calls_to_fail(deep.check.calls);
    seen = late = 0;
  };
  fast_calls.draw(
      random, counts.slow_factor, probes * deep.check.calls,
      [&](double ms) { count_one(ms > deep.limit_ms, ms > back_ms); }, [&](bool) { count_one(true, true); });
  counts.calls += probes * deep.check.calls;
  counts.probes += probes;
}

void probe_every_factor(const LessonOptions& options, const FastCalls& fast_calls, unsigned threads,
                        DeepFigures& deep) {
  for (std::size_t i = 0; i < kProbedFactors.size(); ++i) {
    const ProbeTally empty{.counts = {.slow_factor = kProbedFactors[i]}};
    const auto work = [&](std::uint64_t block, ProbeTally& tally) {
      Random random = stream(options, Purpose::probe, i, block);
      run_probes(random, fast_calls, deep, kBlockProbes, tally.counts);
    };
    static_assert(kProbes % kBlockProbes == 0);
    deep.rows.push_back(
        deep_row(deep.check, over_blocks(kProbes / kBlockProbes, threads, empty, work).counts));
  }
}

bool check_passes(const LessonOptions& options, const FastCalls& fast_calls, const LessonFigures& figures,
                  std::size_t replica) {
  Random random = stream(options, Purpose::check, replica, 0);
  if (!figures.deep) {
    const Lognormal one_way{.log_median = 0, .log_sigma = 0.4};
    const double there = one_way.draw(random);
    return there + one_way.draw(random) < kPingLimitMs;
  }
  DeepCounts counts{.slow_factor = figures.replicas[replica].slow_factor};
  run_probes(random, fast_calls, *figures.deep, 1, counts);
  return counts.probes_failed == 0;
}

}  // namespace

Result<LessonFigures> run_lesson_fast(const LessonOptions& options, unsigned threads) {
  OVERDUE_CHECK(threads >= 1);
  OVERDUE_CHECK(options.slow_factor > 0 && options.slow_factor <= kSlowFactorMax);
  for (const std::uint64_t count : {options.sample, options.calls, options.replica_calls}) {
    OVERDUE_CHECK(count >= 1 && count <= kFastCallsMax);
  }
  LessonFigures figures;
  figures.replicas = lesson_replicas(options);
  std::array<Part, 6> parts{
      {{Purpose::sample, 0, options.sample, 1.0}, {Purpose::traffic, 0, options.calls, 1.0}}};
  for (std::size_t i = 0; i < figures.replicas.size(); ++i) {
    parts[2 + i] = {Purpose::replica, i, options.replica_calls, figures.replicas[i].slow_factor};
  }
  const FastCalls fast_calls(options);
  const Tallies tallies = run_parts(options, fast_calls, parts, threads);

  const ReplyCounts& sample = tallies.parts[0].replies;
  const std::uint64_t replies = sample.total();
  if (replies == 0) return no_reply_in_sample(options);
  std::uint64_t timeout_bucket = 0;
  for (std::size_t i = 0; i < figures.marks.size(); ++i) {
    timeout_bucket = sample.bucket_at(lesson_index(figures.marks[i].percent, replies));
    figures.marks[i].ms = ReplyCounts::high_of(timeout_bucket);
    figures.outcomes[i] = outcome_of(tallies.parts[1], options.calls, timeout_bucket);
  }
  if (options.deep) figures.deep = deep_figures(*options.deep, figures.marks.front().ms);
  for (std::size_t i = 0; i < figures.replicas.size(); ++i) {
    LessonReplica& replica = figures.replicas[i];
    const PartTally& tally = tallies.parts[2 + i];
    const std::uint64_t answered = tally.replies.total();
    if (answered == 0) return no_reply_of_replica(replica.name, options);
    replica.healthy = check_passes(options, fast_calls, figures, i);
    replica.median_ms = ReplyCounts::middle_of(tally.replies.bucket_at(lesson_index(50, answered)));
    replica.outcome = outcome_of(tally, options.replica_calls, timeout_bucket);
  }
  if (figures.deep) probe_every_factor(options, fast_calls, threads, *figures.deep);
  return figures;
}

}  // namespace overdue
