#pragma once

#include <cstdint>

#include "overdue/cli/run_watch.h"
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
// Throws std::bad_alloc where a run did not fit into memory.
SeedsReport run_seeds(const Scenario& scenario, SeedRange seeds, unsigned threads, RunProgress& progress);

}  // namespace overdue
