#pragma once

#include <toml++/toml.h>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "overdue/base/probability.h"
#include "overdue/base/time.h"

// What policy.cc and tables.cc read TOML with; no header but theirs includes it.
namespace overdue::reading {

// Collects every fault of a file, so that one run shows them all, in the order of their lines.
class Faults {
 public:
  explicit Faults(const std::string& path) : path_(path) {}
  void add(const toml::node& at, std::string_view key, std::string_view what);
  std::size_t count() const { return faults_.size(); }
  std::string text() const;

 private:
  const std::string& path_;
  std::vector<std::pair<std::uint32_t, std::string>> faults_;
};

// One value and where it stands: its full key is for messages.
struct Place {
  const toml::node& node;
  const std::string& key;
  Faults& faults;
  void fault(std::string_view what) const { faults.add(node, key, what); }
};

std::string shown(const toml::node& node);

// Each reads the value, or adds a fault and leaves `into` as it was.
void read_duration(const Place& at, std::optional<Duration>& into);  // Positive.
void read_rate(const Place& at, std::optional<Probability>& into);
void read_bool(const Place& at, bool& into);
void read_count(const Place& at, std::uint32_t max, std::optional<std::uint32_t>& into);  // 1 to max.
// The place in `names` of a word.
std::optional<std::size_t> read_choice(const Place& at, std::span<const std::string_view> names);
// Several of them, each once, in their order.
std::optional<std::vector<std::size_t>> read_choices(const Place& at,
                                                     std::span<const std::string_view> names);

template <typename Enum>
void read_enum(const Place& at, std::span<const std::string_view> names, std::optional<Enum>& into) {
  if (const auto place = read_choice(at, names)) into = static_cast<Enum>(*place);
}

bool is_word(const toml::node& node, std::string_view word);

// A key of a table and what reads it.
struct Key {
  std::string_view name;
  std::function<void(const Place&)> read;
};
// Reads the table's keys; any other is a fault that names those there are. False where it is no table.
bool read_table(const Place& at, std::string_view what, std::span<const Key> keys);

}  // namespace overdue::reading
