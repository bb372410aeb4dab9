#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "overdue/report/simulation_report.h"
#include "overdue/simulated/scenario.h"

namespace overdue {

// What many runs of one scenario come to. It does not depend on the order in which they are added, nor on
// how they are spread over tallies that are merged. Memory: eight bytes a run and expectation, and no more
// than the first kFailedSeedsMax failed seeds and kFindingSeedsMax seeds with findings.
// Threads: none; one each, merged in the end.
class SeedTally {
 public:
  static constexpr std::size_t kFailedSeedsMax = 1000;
  static constexpr std::size_t kFindingSeedsMax = 5;

  explicit SeedTally(const Scenario& scenario);

  void add(std::uint64_t seed, const RunResult& result, const std::vector<ExpectationResult>& judged);
  void merge(SeedTally&& other);

  // Without name, seeds and command: those are of whoever asked for the runs.
  SeedsReport report() const;

 private:
  struct Row {
    std::string text;
    FieldUnit unit = FieldUnit::count;
    std::uint64_t held = 0;
    std::vector<double> values;  // Infinite: longer than any time.
  };

  static SeedsReport::Row shown_row(const Row& row);
  void keep_first();

  std::uint64_t runs_ = 0;
  std::uint64_t held_ = 0;
  std::vector<Row> rows_;
  std::set<std::uint64_t> failed_;
  std::optional<WriteCounts> writes_;
  CheckCounts checker_;                                         // Counts alone,
  std::map<std::uint64_t, std::vector<std::string>> findings_;  // and words, by seed.
};

}  // namespace overdue
