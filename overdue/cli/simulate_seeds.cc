#include "overdue/cli/simulate_seeds.h"

#include <algorithm>
#include <limits>
#include <new>
#include <optional>
#include <thread>
#include <vector>

#include "overdue/latency/bounds.h"
#include "overdue/simulated/expectation.h"
#include "overdue/simulated/run.h"

namespace overdue {
namespace {

constexpr double kNormal95 = 1.959963984540054;

using Judged = std::vector<ExpectationResult>;

bool all_held(const Judged& judged) { return std::ranges::all_of(judged, &ExpectationResult::held); }

std::vector<std::optional<Judged>> judge_all(const Scenario& scenario, SeedRange seeds, unsigned threads,
                                             RunProgress& progress) {
  const std::uint64_t count = seeds.last - seeds.first + 1;
  std::vector<std::optional<Judged>> results(count);
  progress.total += count;
  std::atomic<std::uint64_t> next{0};
  std::atomic<bool> out_of_memory{false};
  const auto run_some = [&] {
    for (;;) {
      const std::uint64_t index = next++;
      if (index >= count || progress.stop) return;
      RunOptions options;
      options.seed = seeds.first + index;
      options.stop = &progress.stop;
      const RunResult result = run(scenario, options);
      if (result.interrupted) return;
      Judged judged = judge(scenario, result);
      if (!all_held(judged)) ++progress.failed;
      ++progress.done;
      results[index] = std::move(judged);
    }
  };
  const auto work = [&] {
    try {
      run_some();
    } catch (const std::bad_alloc&) {  // Out of a thread it would end the process.
      out_of_memory = true;
      progress.stop = true;
    }
  };
  std::vector<std::thread> helpers;
  for (unsigned i = 1; i < std::min<std::uint64_t>(threads, count); ++i) helpers.emplace_back(work);
  work();
  for (std::thread& helper : helpers) helper.join();
  if (out_of_memory) throw std::bad_alloc();
  return results;
}

// Least, median and most of what one expectation's field came to.
SeedsReport::Row row_of(std::size_t index, const std::vector<std::optional<Judged>>& results) {
  SeedsReport::Row row;
  std::vector<std::pair<double, const ExpectationResult*>> values;
  for (const auto& judged : results) {
    if (!judged) continue;
    const ExpectationResult& one = (*judged)[index];
    row.text = one.text;
    row.held += one.held ? 1 : 0;
    if (one.value || one.shown == "never")
      values.emplace_back(one.value.value_or(std::numeric_limits<double>::infinity()), &one);
  }
  std::ranges::stable_sort(values, {}, &std::pair<double, const ExpectationResult*>::first);
  if (values.empty()) {
    row.low_shown = row.median_shown = row.high_shown = "none";
    return row;
  }
  const ExpectationResult& low = *values.front().second;
  const ExpectationResult& median = *values[(values.size() - 1) / 2].second;
  const ExpectationResult& high = *values.back().second;
  row.low_shown = low.shown;
  row.median_shown = median.shown;
  row.high_shown = high.shown;
  row.low = low.value;
  row.median = median.value;
  row.high = high.value;
  return row;
}

}  // namespace

SeedsReport run_seeds(const Scenario& scenario, SeedRange seeds, unsigned threads, RunProgress& progress) {
  const auto results = judge_all(scenario, seeds, threads, progress);
  SeedsReport report{
      .scenario = scenario.name, .about = scenario.about, .seed_first = seeds.first, .seed_last = seeds.last};
  for (std::uint64_t index = 0; index < results.size(); ++index) {
    if (!results[index]) continue;
    ++report.runs;
    if (all_held(*results[index]))
      ++report.held;
    else
      report.failed_seeds.push_back(seeds.first + index);
  }
  const RateInterval interval =
      wilson_interval(static_cast<double>(report.held), static_cast<double>(report.runs), kNormal95);
  report.wilson_low = interval.low;
  report.wilson_high = interval.high;
  if (report.runs > 0) {
    for (std::size_t index = 0; index < scenario.expectations.size(); ++index)
      report.expectations.push_back(row_of(index, results));
  }
  return report;
}

}  // namespace overdue
