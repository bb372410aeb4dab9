#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "overdue/policy/policy.h"
#include "overdue/simulated/scenario.h"
#include "overdue/simulated/table_reader.h"

namespace overdue {

// The parts of parse_scenario(), one for each kind of table. They read one table each and check what it names
// against the names there are; what the whole scenario must fulfil is scenario_checks.cc's.

// Every name a scenario defines, known before its tables are read.
struct ScenarioNames {
  std::vector<std::string> dependencies;
  std::vector<std::string> networks;
  std::vector<std::string> services;
  std::vector<std::string> clients;
  std::vector<std::string> with_store;    // Services.
  std::vector<std::string> with_journal;  // Clients.
  const Policy* policy = nullptr;         // None: it has faults, which are told.
};

// A fault where the text at `key` is none of `names`; `what` is what they are names of.
void check_name(TableReader& reader, std::string_view key, const std::string& name,
                const std::vector<std::string>& names, std::string_view what);

Client read_client(const std::string& name, TableReader& reader, const ScenarioNames& names);
Link read_link(const std::string& name, TableReader& reader, const ScenarioNames& names);
Network read_network(const std::string& name, TableReader& reader);
Service read_service(const std::string& name, TableReader& reader, const ScenarioNames& names);
Fault read_fault(const std::string& name, TableReader& reader, const ScenarioNames& names);
// What is said of writes: a service's `store`, a client's `journal` and a link's `repeats`.
void read_store(TableReader& reader, Service& service);
void read_journal(TableReader& reader, Client& client, const ScenarioNames& names);
void read_repeats(TableReader& reader, Link& link);
// All [[expect]] rows, their fields checked against those a run of `scenario` has.
void read_expectations(const TomlValue& rows, Scenario& scenario, ScenarioFaults& faults);

// What can be said only of the whole: references between tables, calls in a circle, times beyond the end.
void check_scenario(Scenario& scenario, ScenarioFaults& faults);

// Runs that would never end, or not fit into memory: what clients, probes, pauses and bursts come to in the
// run's length has a bound.
void check_size(const Scenario& scenario, ScenarioFaults& faults);

}  // namespace overdue
