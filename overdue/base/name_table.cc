#include "overdue/base/name_table.h"

namespace overdue {

std::uint16_t NameTable::look_up(std::string_view name) {
  auto found = ids_.find(name);
  std::uint16_t id = 0;
  if (found != ids_.end()) {
    id = found->second;
  } else if (names_.size() < kNamesMax) {
    id = add(name);
  } else {
    overflowed_ = true;
    found = ids_.find(kOverflowName);
    id = found != ids_.end() ? found->second : add(kOverflowName);
  }
  last_name_ = names_[id] == name ? std::string_view(names_[id]) : std::string_view(names_[0]);
  last_id_ = names_[id] == name ? id : std::uint16_t{0};
  return id;
}

std::uint16_t NameTable::add(std::string_view name) {
  const auto id = static_cast<std::uint16_t>(names_.size());
  names_.emplace_back(name);
  ids_.emplace(names_.back(), id);
  return id;
}

}  // namespace overdue
