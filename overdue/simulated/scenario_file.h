#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "overdue/base/result.h"
#include "overdue/simulated/scenario.h"

namespace overdue {

// What a scenario is read from.
struct ScenarioSource {
  std::string path;  // Of the scenario, for messages, for its name, and for files that it names.
  std::string text;
  // --set: key and value as typed, applied in order: "service.orders.workers", "20".
  std::vector<std::pair<std::string, std::string>> sets;
  // --policy: its dependencies replace the scenario's of the same names; --set comes after it.
  std::optional<std::string> policy_path;
  // Reads the policy file that the scenario or --policy names: worlds touch no files of their own.
  std::function<Result<std::string>(const std::string& path)> read_file;
};

// Reads and validates a scenario (docs/formats/scenario.md). Everything it names is there, and only what has
// to be read from further files (measured distributions, recorded arrivals) is still to be filled in.
//
// Errors: invalid_argument listing every fault at once, a line each, in the order of their lines: path, line,
//         key, value and what would be right, for an unknown key or name the known one nearest to it. What
//         comes from --set says so in place of path and line. unreadable_input where a named file cannot be
//         read.
Result<Scenario> parse_scenario(const ScenarioSource& source);

// `path` as seen from the folder of the scenario at `scenario_path`; absolute paths as they are.
std::string beside(const std::string& scenario_path, const std::string& path);

}  // namespace overdue
