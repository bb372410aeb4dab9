#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "overdue/report/advice_report.h"
#include "overdue/simulated/run_result.h"

namespace overdue {

// One run of a scenario, and what was expected of it.
struct SimulationReport {
  std::string about;  // What the scenario shows; may be empty.
  RunResult run;
  std::vector<ExpectationResult> expectations;
  bool cut_short = false;  // By --until: then expectations were not judged.
};

// One scenario over many seeds.
struct SeedsReport {
  std::string scenario;
  std::string about;
  std::uint64_t seed_first = 0;
  std::uint64_t seed_last = 0;
  std::uint64_t runs = 0;     // Finished ones, fewer than the seeds where somebody stopped it.
  bool stands_still = false;  // A run was RunResult::stands_still, and the rest was not run.
  bool too_many = false;      // A run was RunResult::too_many, and the rest was not run.
  std::uint64_t held = 0;     // Runs in which every expectation held.
  double wilson_low = 0;      // 95 % interval of the share of seeds on which everything holds.
  double wilson_high = 1;
  std::vector<std::uint64_t> failed_seeds;  // Ascending, the first so many: there were runs - held.
  std::string reproduce;                    // Command of the first failed seed; empty: none failed.
  struct Row {
    std::string text;
    std::uint64_t held = 0;
    // Over the runs in which there was a value, as people read it and as a number.
    std::string low_shown, median_shown, high_shown;
    std::optional<double> low, median, high;
  };
  std::vector<Row> expectations;
  // Over all runs. None: no client has a journal.
  std::optional<WriteCounts> writes;
  CheckCounts checker;  // `first` says of which seed.
};

// Schema "overdue.simulation/1", docs/formats/simulation.md.
std::string simulation_json(const SimulationReport& report);
// Schema "overdue.simulations/1", the same page. `interrupted`: not all that was asked for was run.
std::string simulations_json(const std::vector<SeedsReport>& reports, bool interrupted);

// For people: what callers saw, what really happened, load and waste, replicas, a row a second, expectations.
std::string simulation_text(const SimulationReport& report, const TextStyle& style);
enum class Detail : std::uint8_t {
  all,      // Over which values expectations ranged: of every one, or of several scenarios those that failed.
  summary,  // A line a scenario, with its failed seeds, and the sums.
};
std::string simulations_text(const std::vector<SeedsReport>& reports, const TextStyle& style,
                             Detail detail = Detail::all);

// The writes and findings of all of them.
SeedsReport sum_of(const std::vector<SeedsReport>& reports);

// How replicas are called where several services have some: "orders.a".
std::string replica_name(const RunResult& run, const ReplicaResult& replica);

}  // namespace overdue
