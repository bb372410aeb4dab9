#pragma once

#include <map>
#include <string>

#include "overdue/latency/measurement.h"
#include "overdue/recorded/number_text.h"

namespace overdue {

// What says in which unit a latency is written: the name of its column, or the format.
struct UnitClaim {
  TimeUnit unit = TimeUnit::milliseconds;
  std::string name;        // Of the column or variable.
  bool by_format = false;  // --unit may then confirm it and not change it.
};

// C05: a unit is believed unless the values say otherwise by about a thousand. Half of the replies above 30
// s, or below 2 us, is no remote call as its name has it, and is one in the neighbouring unit. Why that is
// doubted, with the numbers; "" where it is not.
std::string unit_doubt_of(Duration median, const UnitClaim& claim);

// The same of all replies of a log above 0, whatever the order of its rows; at least three of them. Costs a
// look at each backend's median, and a table a group where one of those is out of the ordinary.
std::string unit_doubt_of(const std::map<std::string, Measurement>& groups, const UnitClaim& claim);

}  // namespace overdue
