#include "overdue/cli/simulate_seeds.h"

#include <fmt/format.h>

#include <algorithm>
#include <mutex>
#include <new>
#include <thread>
#include <vector>

#include "overdue/base/quantity.h"
#include "overdue/cli/seed_tally.h"
#include "overdue/simulated/expectation.h"
#include "overdue/simulated/run.h"

namespace overdue {
namespace {

// The seeds of a range, taken one by one by several threads.
class SeedRunner {
 public:
  SeedRunner(const Scenario& scenario, SeedRange seeds, RunProgress& progress)
      : scenario_(scenario),
        seeds_(seeds),
        count_(seeds.last - seeds.first + 1),
        progress_(progress),
        all_(scenario) {
    progress_.total += count_;
  }

  SeedsReport run_on(unsigned threads) {
    std::vector<std::thread> helpers;
    for (unsigned i = 1; i < std::min<std::uint64_t>(threads, count_); ++i)
      helpers.emplace_back([this] { work(); });
    work();
    for (std::thread& helper : helpers) helper.join();
    if (out_of_memory_) throw std::bad_alloc();
    SeedsReport report = all_.report();
    report.too_many = too_many_;
    report.stands_still = stands_still_;
    return report;
  }

 private:
  void work() {
    try {
      SeedTally tally(scenario_);
      run_some(tally);
      const std::scoped_lock lock(merging_);
      all_.merge(std::move(tally));
    } catch (const std::bad_alloc&) {  // Out of a thread it would end the process.
      out_of_memory_ = true;
      progress_.stop = true;
    }
  }

  void run_some(SeedTally& tally) {
    for (;;) {
      const std::uint64_t index = next_++;
      if (index >= count_ || progress_.stop) return;
      RunOptions options;
      options.seed = seeds_.first + index;
      options.stop = &progress_.stop;
      const RunResult result = run(scenario_, options);
      if (result.too_many) too_many_ = progress_.stop = true;
      if (result.stands_still) stands_still_ = progress_.stop = true;
      if (result.interrupted || result.too_many || result.stands_still) return;
      const std::vector<ExpectationResult> judged = judge(scenario_, result);
      if (!std::ranges::all_of(judged, &ExpectationResult::held)) ++progress_.failed;
      ++progress_.done;
      tally.add(options.seed, result, judged);
    }
  }

  const Scenario& scenario_;
  SeedRange seeds_;
  std::uint64_t count_;
  RunProgress& progress_;
  std::atomic<std::uint64_t> next_{0};
  std::atomic<bool> out_of_memory_{false};
  std::atomic<bool> too_many_{false}, stands_still_{false};
  std::mutex merging_;
  SeedTally all_;
};

}  // namespace

Error too_many_error(const std::string& path, bool stands_still) {
  if (stands_still)
    return {ErrorCode::invalid_argument,
            fmt::format(
                "{}: time stands still: more than 60 million events came at one moment, as where callers "
                "without a pause (think = 0) are refused at once. Write a think time, or a backoff above 0",
                path)};
  return {
      ErrorCode::invalid_argument,
      fmt::format(
          "{}: the run came to more than {} calls or attempts under way at once, which is the most it can "
          "hold (work that goes on after its caller has left counts): write a lower rate, a shorter "
          "duration or service time, or workers with a queue that has a max",
          path, format_count(kInUseMax))};
}

SeedsReport run_seeds(const Scenario& scenario, SeedRange seeds, unsigned threads, RunProgress& progress) {
  SeedsReport report = SeedRunner(scenario, seeds, progress).run_on(threads);
  report.scenario = scenario.name;
  report.about = scenario.about;
  report.seed_first = seeds.first;
  report.seed_last = seeds.last;
  return report;
}

}  // namespace overdue
