#pragma once

#include <string>
#include <vector>

#include "overdue/recorded/field_names.h"

namespace overdue {

// What a user should know of how the fields of a CSV or NDJSON log were taken, and can put right with --map:
// - where no field is known to say how a call ended, the names of those that are not used;
// - where none is known to say when a call began, the names of those that hold dates;
// - note_of_outcome_filter().
std::vector<std::string> notes_of_fields(const std::vector<std::string>& names, const ReadOptions& options,
                                         const FieldPlan& plan, const ValuesOf& values, bool outcome_unknown);

}  // namespace overdue
