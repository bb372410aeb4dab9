#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <unordered_map>

namespace overdue {

// NameTable numbers names (backends, routes, groups) in the order they appear; id 0 is always the empty name.
// The last name asked for is remembered, since logs repeat themselves.
//
// Threads: none; each reading thread has its own, and Measurement::merge() translates by name.
// Errors:  past kNamesMax distinct names every further one is given the id of kOverflowName.
class NameTable {
 public:
  static constexpr std::size_t kNamesMax = 4096;
  static constexpr std::string_view kOverflowName = "(others)";

  NameTable() { add(""); }
  NameTable(const NameTable&) = delete;  // The views in ids_ are into names_.
  NameTable& operator=(const NameTable&) = delete;
  NameTable(NameTable&&) noexcept = default;
  NameTable& operator=(NameTable&&) noexcept = default;
  std::uint16_t id_of(std::string_view name) {
    if (name == last_name_) return last_id_;
    return look_up(name);
  }
  const std::string& name_of(std::uint16_t id) const { return names_[id]; }
  std::uint16_t size() const { return static_cast<std::uint16_t>(names_.size()); }  // Every id is below it.
  bool overflowed() const { return overflowed_; }

 private:
  std::uint16_t look_up(std::string_view name);
  std::uint16_t add(std::string_view name);

  std::deque<std::string> names_;  // A deque, so that the views in ids_ stay valid.
  std::unordered_map<std::string_view, std::uint16_t> ids_;
  std::string_view last_name_;
  std::uint16_t last_id_ = 0;
  bool overflowed_ = false;
};

}  // namespace overdue
