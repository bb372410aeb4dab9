#pragma once

#include <string>
#include <vector>

#include "overdue/base/result.h"
#include "overdue/cli/scenario_loading.h"
#include "overdue/cli/simulate_seeds.h"

namespace overdue {

// One value tried, and on how many seeds everything expected held.
struct TipTrial {
  std::string value;
  std::uint64_t held = 0;
  std::uint64_t runs = 0;
};

// Where a scenario tips: between `last_holding` and `first_failing` the share of seeds on which every
// expectation holds falls below one half (or, where more of the key is better, rises above it).
struct TipReport {
  std::string key;
  std::vector<TipTrial> trials;  // By value, ascending; each of one seed or more.
  bool found = false;            // Otherwise both ends hold, or both fail, or it was interrupted.
  std::string low, high;         // The tip lies between these two neighbours.
  bool interrupted = false;
};

// `range` is "table.key=LOW..HIGH": numbers, durations, rates a second or percentages, both of one kind.
// Errors: invalid_argument for a range that is none, and those of load_scenario().
Result<TipReport> find_tip(const ScenarioChoice& choice, const std::string& range, SeedRange seeds,
                           unsigned threads, RunProgress& progress);

std::string tip_text(const TipReport& report);
std::string tip_json(const TipReport& report);

// The value in the middle of two, as text of their kind; empty where nothing lies between them that is worth
// a trial. Exposed for its test.
std::string middle_of(const std::string& low, const std::string& high);

}  // namespace overdue
