#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <string_view>

#include "overdue/recorded/field_names.h"
#include "overdue/recorded/name_words.h"

namespace overdue {

// Which field says how a call ended, by its name and by what the sample's values read as. In this order:
//     status, ending and ok by their usual names (`status`, `outcome`, `success`); of two statuses the one on
//     the side where the latency was taken (`upstream_status` beside `upstream_response_time`)
//     status by rarer names (`resp_code`), then the usual opposites of ok (`failed`, `error`)
//     status by what a name ends in (`reply_status`), errors by rarer names (`exception`), flags (`aborted`,
//     `answered`), and errors by what a name ends in
// A usual name is believed where any value reads so; a rare one only where all values do, for a `timeout` may
// be a limit, a `state` or a `cause` anything.

// A field of an object, by its name there and by its whole name.
struct FieldOfScope {
  std::uint32_t index = 0;  // Among the names.
  std::string_view whole;
  std::string_view name;
  ReadName read;
};

using SaidRoles = std::array<bool, kRoleCount>;  // By --map.

// Takes what says how a call ended from an object's fields into the plan; false where none of them does.
bool guess_outcome(std::span<const FieldOfScope> fields, const ReadName& latency, const ValuesOf& values,
                   const SaidRoles& said, FieldPlan& plan);

// The same by the usual names alone, whatever the values.
bool take_outcome_unread(std::span<const FieldOfScope> fields, const SaidRoles& said, FieldPlan& plan);

inline bool is_taken(const FieldPlan& plan, std::size_t index) {
  return std::ranges::any_of(plan.fields, [&](const auto& field) { return field && field->index == index; });
}

}  // namespace overdue
