#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "overdue/write/explored_world.h"

namespace overdue::explored {

// What walking every interleaving of a small world found, breadth first.
struct Exploration {
  std::size_t states = 0, steps = 0, depth = 0;
  std::size_t unresolved = 0;   // States in which the write is open,
  std::size_t person_only = 0;  // of these, those from which no steps but faults or a person lead to an end;
  std::size_t stuck = 0;        // and those of them in which no person was asked for a reason that holds.
  std::vector<Finding> findings;   // Of the first world that the checker objects to,
  std::vector<std::string> trace;  // and the shortest way there.
  bool complete = false;           // Every state was seen.
};

// Stops at the first finding, or past `states_max`. The checker is handed history and ledger of every state,
// and nothing else.
Exploration explore(const Rules& rules, std::size_t states_max);

// A server with these offers, and a world as small as can be: widen it from here.
Settings offering(std::string name, std::vector<OnUnknown> steps);
// A trace in one line.
std::string joined(const std::vector<std::string>& trace);

}  // namespace overdue::explored
