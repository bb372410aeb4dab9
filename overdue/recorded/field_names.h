#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "overdue/base/result.h"
#include "overdue/recorded/field_picks.h"
#include "overdue/recorded/number_text.h"
#include "overdue/recorded/read.h"

namespace overdue {

// What a field of a CSV or NDJSON row is to us. `ok` is a yes or no that stands for a status.
enum class Role : std::uint8_t { latency, status, ending, ok, backend, start, connect, route, method };
inline constexpr std::size_t kRoleCount = 9;
inline constexpr std::array<std::string_view, kRoleCount> kRoleNames = {
    "latency", "status", "ending", "ok", "backend", "start", "connect", "route", "method"};

// One field that has a role: its number among the names, its name, and the unit its name says ("_ms", "(s)").
struct RoleField {
  std::uint32_t index = 0;
  std::string name;
  std::optional<TimeUnit> unit;
};

// Which field has which role, as --map says it and else as the names suggest it.
struct FieldPlan {
  std::array<std::optional<RoleField>, kRoleCount> fields;
  // The field of Role::ok says the opposite: `failed`, `error`, `timed_out`.
  bool ok_is_inverse = false;
  bool start_is_end = false;               // The field of Role::start says when the call ended.
  std::optional<TimeUnit> unit_by_format;  // Where what wrote the file is known, and with it the unit.
  const std::optional<RoleField>& of(Role role) const { return fields[static_cast<std::size_t>(role)]; }
  std::optional<RoleField>& of(Role role) { return fields[static_cast<std::size_t>(role)]; }
};

// The values that the sample has of a field, in rows that have it or the latency: empty where a row has not.
using ValuesOf = std::function<std::vector<std::string_view>(std::uint32_t field, std::uint32_t latency)>;

// Matches names to roles. "call.status" is a name in the object "call": of several fields the one in the
// object nearest to the latency's is taken, and for how the call ended nothing outside the nearest object
// that says it. A name that may mean other things is believed where `values` read so (outcome_names.h). --map
// entries are names, or 1-based positions where no name is equal; an empty one means that no field has the
// role. Errors: invalid_argument for a --map that names no field or no role; unreadable_input where no field,
// or several, may be the latency; unsupported where the rows hold percentiles or averages, which cannot be
// merged (C07).
Result<FieldPlan> plan_fields(const std::vector<std::string>& names, const ReadOptions& options,
                              const std::string& path, const ValuesOf& values = {});

// The unit a name ends in: "latency_ms", "duration (s)", "elapsedMicros".
std::optional<TimeUnit> unit_in_name(std::string_view name);

// Whether the name alone says that it is a latency; percentiles and averages are not.
bool names_a_latency(std::string_view name);

// The unit as --unit gives it. Fails with invalid_argument for what is not 1 ns, 1 us, 1 ms or 1 s.
Result<TimeUnit> unit_of(Duration given);

// "latency_ms as latency, status, time as start": the fields that have a role.
std::string in_words(const FieldPlan& plan);

// --by and --where among the names, ours ("backend", "route") included.
Result<FieldPicks> pick_fields(const ReadOptions& options, const std::vector<std::string>& names,
                               const FieldPlan& plan);

// "its columns are a, b, c", cut short where they are many.
std::string listed(const std::vector<std::string>& names, std::string_view what);

}  // namespace overdue
