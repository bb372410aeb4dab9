#pragma once

#include <cstdint>
#include <string>

#include "overdue/base/result.h"
#include "overdue/cli/watch.h"
#include "overdue/report/simulation_report.h"
#include "overdue/simulated/scenario.h"

namespace overdue {

// Seeds first, first + 1, ..., last. Requires: first <= last.
struct SeedRange {
  std::uint64_t first = 0;
  std::uint64_t last = 0;
};

// Runs the scenario on every seed of the range, on `threads` threads, and says on how many every expectation
// held. The answer does not depend on the threads. Once progress.stop is set, only what was finished counts.
// SeedsReport::too_many says that one came to too many calls at once: too_many_error() tells it.
// Throws std::bad_alloc where a run did not fit into memory.
SeedsReport run_seeds(const Scenario& scenario, SeedRange seeds, unsigned threads, RunProgress& progress);

// Of a scenario whose run was RunResult::too_many, or RunResult::stands_still.
Error too_many_error(const std::string& path, bool stands_still);

}  // namespace overdue
