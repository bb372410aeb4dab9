#include "overdue/recorded/field_notes.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "overdue/recorded/outcome_names.h"
#include "overdue/recorded/time_text.h"

namespace overdue {
namespace {

constexpr std::array kOutcomeRoles = {Role::status, Role::ending, Role::ok};

std::string_view name_of(Role role) { return kRoleNames[static_cast<std::size_t>(role)]; }

// Those that have no role and are asked for by nobody.
std::vector<std::uint32_t> unused_fields(const std::vector<std::string>& names, const ReadOptions& options,
                                         const FieldPlan& plan) {
  std::vector<std::uint32_t> unused;
  for (std::uint32_t i = 0; i < names.size(); ++i) {
    const auto is_it = [&](const auto& where) { return where.first == names[i]; };
    const bool asked = options.group_by == names[i] || std::ranges::any_of(options.where, is_it);
    if (!asked && !is_taken(plan, i)) unused.push_back(i);
  }
  return unused;
}

std::string note_of_unused(const std::vector<std::string>& names, const ReadOptions& options,
                           const FieldPlan& plan) {
  for (const Role role : kOutcomeRoles) {
    if (options.columns.contains(std::string(name_of(role)))) return {};
  }
  std::vector<std::string> unused;
  for (const std::uint32_t field : unused_fields(names, options, plan)) unused.push_back(names[field]);
  if (unused.empty()) return {};
  return fmt::format(
      "no column is known to say how a call ended, so every row is read as a reply; {}: if one of them says "
      "it, "
      "name it, as in --map status=COLUMN",
      listed(unused, "not used are"));
}

bool holds_dates(const std::vector<std::string_view>& values) {
  TimeText times;
  const auto is_date = [&times](std::string_view text) { return times.parse(text).has_value(); };
  return !values.empty() && std::ranges::all_of(values, is_date);
}

std::string note_of_dates(const std::vector<std::string>& names, const ReadOptions& options,
                          const FieldPlan& plan, const ValuesOf& values) {
  if (plan.of(Role::start) || options.columns.contains("start")) return {};
  std::vector<std::string> dates;
  for (const std::uint32_t field : unused_fields(names, options, plan)) {
    if (holds_dates(values(field, plan.of(Role::latency)->index))) dates.push_back(names[field]);
  }
  if (dates.empty()) return {};
  return fmt::format(
      "no column is known to say when a call began, so nothing is said of time; {}: if one of them says it, "
      "name it, as in --map start={}",
      listed(dates, "dates are in"), dates.front());
}

}  // namespace

std::vector<std::string> notes_of_fields(const std::vector<std::string>& names, const ReadOptions& options,
                                         const FieldPlan& plan, const ValuesOf& values,
                                         bool outcome_unknown) {
  const auto says_outcome = [&](const std::string& name) {
    return std::ranges::any_of(kOutcomeRoles, [&](Role role) {
      return plan.of(role) && (plan.of(role)->name == name || name_of(role) == name);
    });
  };
  std::vector<std::string> notes = {outcome_unknown ? note_of_unused(names, options, plan) : "",
                                    note_of_dates(names, options, plan, values),
                                    note_of_outcome_filter(options, says_outcome)};
  std::erase(notes, "");
  return notes;
}

}  // namespace overdue
