#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "overdue/base/time.h"
#include "overdue/policy/policy.h"
#include "overdue/simulated/scenario_client.h"
#include "overdue/simulated/scenario_fault.h"
#include "overdue/simulated/scenario_network.h"
#include "overdue/simulated/scenario_service.h"

namespace overdue {

// Everything a scenario file can say (docs/formats/scenario.md), as plain data. Times are offsets from the
// start of the run. Names are unique in their list and every reference is to a name that is there:
// parse_scenario() has seen to it, so the world may look names up without a way to fail.
//
//   Client --calls--> dependency (policy + Link) --Network--> Service's replicas --calls--> dependency ...
//
// A dependency is a table [dependency.NAME] of the policy and one Link of the same name.

// One [[expect]] row.
enum class Relation : std::uint8_t { less, at_most, equal, not_equal, at_least, greater, within };

struct Expectation {
  std::uint32_t line = 0;
  std::string field;  // As in the JSON: "load.goodput", "replicas.d.timeout_rate", "timeline.timeouts".
  Relation comparison = Relation::at_least;
  double value = 0;       // In the field's own unit: shares in [0, 1], times in the unit of the field's name.
  double value_high = 0;  // Of within: value <= field <= value_high.
  std::string is;         // The comparison as written, for people: ">= 95%", "1.9..2.1".
  // A window of the timeline, whole seconds, [from, to). Only fields that are made of the timeline have one.
  std::optional<std::uint32_t> from_s;
  std::optional<std::uint32_t> to_s;
  std::string why;  // What it shows, one sentence; may be empty.
};

struct Scenario {
  std::string path;
  std::string base_path;  // Of the scenario it is based on; empty: of none. Lines there have kLineOfBase.
  std::string name;       // By default the file's name without folder and ".toml".
  std::string about;      // What it shows.
  std::optional<std::uint64_t> seed;
  // No call of a client begins at or after it.
  Duration duration{};
  // The run ends here at the latest, at or after `duration`; earlier if nothing is left to do.
  Duration until{};
  Policy policy;  // One DependencyPolicy a link.
  std::vector<Client> clients;
  std::vector<Link> links;
  std::vector<Network> networks;
  std::vector<Service> services;
  std::vector<Fault> faults;
  std::vector<Expectation> expectations;
};

}  // namespace overdue
