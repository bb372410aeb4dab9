#pragma once

#include <string>

#include "overdue/simulated/table_reader.h"
#include "overdue/simulated/toml_tree.h"

namespace overdue {

// What --set and --tip do to a scenario before it is read: one value, by its path of names and dots. A table
// must be there; a plain value on the way gives way to a table, as "10ms" does to a distribution, and where
// it may be none whoever reads it says so. What is set has no line (TomlValue::line is 0).
//
// Errors: faults that name the key, without a line.
void apply_set(TomlValue& root, const std::string& key, const std::string& value, ScenarioFaults& faults);

// The names of a table's entries; none where there is no table.
std::vector<std::string> keys_of(const TomlValue* table);

}  // namespace overdue
