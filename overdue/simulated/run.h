#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>

#include "overdue/simulated/run_result.h"
#include "overdue/simulated/scenario.h"

namespace overdue {

struct RunOptions {
  std::uint64_t seed = 0;
  std::optional<Duration> until;                // In place of the scenario's, if earlier.
  std::function<void(std::string_view)> trace;  // Given one line an event, without its end; empty: none.
  const std::atomic<bool>* stop = nullptr;      // Looked at now and then: true ends the run, interrupted.
  std::uint32_t in_use_max = kInUseMax;         // So too: RunResult::too_many. Requires: <= kInUseMax.
  // So too: RunResult::stands_still. More than the calls there may be, each with a few events.
  std::uint64_t events_at_one_moment_max = std::uint64_t{1} << 26;
  // Of writes with a journal or a store: so many things are kept before any are forgotten. Changes nothing
  // else.
  std::size_t writes_kept_min = std::size_t{1} << 16;
};

// Runs the scenario once. Deterministic: equal scenario and seed give an equal result, hash included, on any
// machine and beside any number of other runs. Requires: a scenario as parse_scenario() gives it, with its
// recorded arrivals and empirical distributions filled in. Threads: none of its own; runs are independent.
RunResult run(const Scenario& scenario, const RunOptions& options);

}  // namespace overdue
