#include "overdue/cli/seed_tally.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "overdue/latency/bounds.h"
#include "overdue/report/writes_text.h"
#include "overdue/simulated/expectation.h"
#include "overdue/simulated/result_fields.h"

namespace overdue {
namespace {

constexpr double kNormal95 = 1.959963984540054;

}  // namespace

SeedTally::SeedTally(const Scenario& scenario) {
  for (const Expectation& expectation : scenario.expectations) {
    Row& row = rows_.emplace_back();
    row.text = text_of(expectation);
  }
}

void SeedTally::add(std::uint64_t seed, const RunResult& result,
                    const std::vector<ExpectationResult>& judged) {
  ++runs_;
  if (std::ranges::all_of(judged, &ExpectationResult::held))
    ++held_;
  else
    failed_.insert(seed);
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    const ExpectationResult& one = judged[i];
    rows_[i].held += one.held ? 1 : 0;
    rows_[i].unit = one.unit;
    if (one.value || one.shown == "never")
      rows_[i].values.push_back(one.value.value_or(std::numeric_limits<double>::infinity()));
  }
  if (result.writes) {
    if (!writes_) writes_.emplace();
    writes_->add(*result.writes);
    for (std::size_t kind = 0; kind < kFindingKindCount; ++kind)
      checker_.found[kind] += result.checker.found[kind];
    if (!result.checker.first.empty()) findings_.emplace(seed, result.checker.first);
  }
  keep_first();
}

void SeedTally::merge(SeedTally&& other) {
  runs_ += other.runs_;
  held_ += other.held_;
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    Row& from = other.rows_[i];
    rows_[i].held += from.held;
    if (!from.values.empty()) rows_[i].unit = from.unit;
    rows_[i].values.insert(rows_[i].values.end(), from.values.begin(), from.values.end());
    from.values = {};
  }
  failed_.merge(other.failed_);
  findings_.merge(other.findings_);
  if (other.writes_) {
    if (!writes_) writes_.emplace();
    writes_->add(*other.writes_);
  }
  for (std::size_t kind = 0; kind < kFindingKindCount; ++kind)
    checker_.found[kind] += other.checker_.found[kind];
  keep_first();
}

void SeedTally::keep_first() {
  while (failed_.size() > kFailedSeedsMax) failed_.erase(std::prev(failed_.end()));
  while (findings_.size() > kFindingSeedsMax) findings_.erase(std::prev(findings_.end()));
}

// Least, median and most of what one expectation's field came to.
SeedsReport::Row SeedTally::shown_row(const Row& row) {
  SeedsReport::Row out;
  out.text = row.text;
  out.held = row.held;
  if (row.values.empty()) {
    out.low_shown = out.median_shown = out.high_shown = "none";
    return out;
  }
  std::vector<double> values = row.values;
  const auto median = values.begin() + static_cast<std::ptrdiff_t>((values.size() - 1) / 2);
  std::ranges::nth_element(values, median);
  const auto set = [&](double value, std::optional<double>& number, std::string& shown) {
    if (!std::isinf(value)) number = value;
    shown = shown_value({.name = {}, .unit = row.unit, .value = number, .missing_is_never = true});
  };
  set(*std::ranges::min_element(values), out.low, out.low_shown);
  set(*median, out.median, out.median_shown);
  set(*std::ranges::max_element(values), out.high, out.high_shown);
  return out;
}

SeedsReport SeedTally::report() const {
  SeedsReport report;
  report.runs = runs_;
  report.held = held_;
  report.failed_seeds.assign(failed_.begin(), failed_.end());
  const RateInterval interval =
      wilson_interval(static_cast<double>(held_), static_cast<double>(runs_), kNormal95);
  report.wilson_low = interval.low;
  report.wilson_high = interval.high;
  if (runs_ > 0) {
    for (const Row& row : rows_) report.expectations.push_back(shown_row(row));
  }
  report.writes = writes_;
  report.checker = checker_;
  for (const auto& [seed, first] : findings_) {
    for (const std::string& text : first) {
      if (report.checker.first.size() < kFirstFindings)
        report.checker.first.push_back(fmt::format("seed {}: {}", seed, text));
    }
  }
  return report;
}

}  // namespace overdue
