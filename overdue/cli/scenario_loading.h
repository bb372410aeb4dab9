#pragma once

#include <optional>
#include <string>
#include <vector>

#include "overdue/base/result.h"
#include "overdue/simulated/scenario.h"

namespace overdue {

// A scenario as the command line names it.
struct ScenarioChoice {
  std::string path;
  std::vector<std::string> sets;  // "table.key=value", as typed.
  std::optional<std::string> policy;
};

// Reads the scenario and what it names: policies, measured distributions, recorded arrivals. This is where
// the recorded and the simulated world meet. Errors: those of parse_scenario() and of the readers of logs.
Result<Scenario> load_scenario(const ScenarioChoice& choice);

// The policy file in force for it: that of --policy, else what the scenario names, or the one it is based on.
// Nothing where there is none, or the scenario cannot be read: load_scenario() says why.
std::optional<std::string> policy_file_of(const ScenarioChoice& choice);

// The command that runs one seed of it, for people to copy.
std::string command_for_seed(const ScenarioChoice& choice, std::uint64_t seed);

// A word as the shell has to be given it: in quotes where it needs them.
std::string shell_word(const std::string& word);

}  // namespace overdue
