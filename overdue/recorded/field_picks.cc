#include "overdue/recorded/field_picks.h"

#include <fmt/format.h>

namespace overdue {
namespace {

std::string_view our_word(std::string_view name) {
  if (name == "upstream" || name == "backend" || name == "host" || name == "replica") return "backend";
  if (name == "route" || name == "path" || name == "uri" || name == "url") return "route";
  return name;
}

}  // namespace

Result<FieldPicks> FieldPicks::create(const ReadOptions& options, const Resolve& resolve,
                                      std::string_view known) {
  const auto found = [&](std::string_view name) {
    const auto exact = resolve(name);
    return exact ? exact : resolve(our_word(name));
  };
  FieldPicks picks;
  if (!options.group_by.empty()) {
    picks.by_ = found(options.group_by);
    if (!picks.by_) {
      return fail(ErrorCode::invalid_argument,
                  fmt::format("--by {}: there is no such field; {}", options.group_by, known));
    }
  }
  for (const auto& [name, value] : options.where) {
    const auto field = found(name);
    if (!field) {
      return fail(ErrorCode::invalid_argument,
                  fmt::format("--where {}={}: there is no such field; {}", name, value, known));
    }
    picks.wheres_.push_back({*field, value});
  }
  return picks;
}

std::string note_of_outcome_filter(const ReadOptions& options,
                                   const std::function<bool(const std::string& name)>& says_outcome) {
  if (!options.group_by.empty() && says_outcome(options.group_by)) {
    return fmt::format(
        "--by {} divides the calls by how they ended: no group has the others, lost ones too, in its figures",
        options.group_by);
  }
  for (const auto& [name, value] : options.where) {
    if (!says_outcome(name)) continue;
    return fmt::format(
        "--where {}={} chooses the calls by how they ended: of all others, lost ones too, nothing is counted",
        name, value);
  }
  return {};
}

}  // namespace overdue
