#include "overdue/simulated/scenario_set.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <utility>
#include <vector>

namespace overdue {
namespace {

constexpr std::string_view kSections[] = {"client", "dependency", "link", "network", "service", "fault"};

class Setter {
 public:
  Setter(TomlValue& root, const std::string& key, ScenarioFaults& faults)
      : root_(root), key_(key), faults_(faults), path_(split_path(key)) {}

  void set(const std::string& value) {
    if (path_.empty()) return fault("is no path of names and dots, as in service.orders.workers");
    if (names_a_file() || !table_is_there()) return;
    TomlValue* at = &root_;
    for (std::size_t i = 0; i + 1 < path_.size() && at != nullptr; ++i) at = step_into(*at, path_[i]);
    if (at == nullptr) return;
    TomlValue parsed = parse_set_value(value);
    if (at->kind == TomlValue::Kind::array) {
      if (TomlValue* item = item_of(*at, path_.back())) *item = std::move(parsed);
      return;
    }
    give_way_to_table(*at);
    if (TomlValue* stands = at->find(path_.back()))
      *stands = std::move(parsed);
    else
      at->entries.emplace_back(path_.back(), std::move(parsed));
  }

 private:
  void fault(std::string_view what) { faults_.add(0, key_, what); }

  // Those are read before anything is set.
  bool names_a_file() {
    if (path_[0] == "policy")
      fault("cannot be set: write --policy FILE, whose dependencies replace the scenario's");
    else if (path_[0] == "based_on")
      fault("cannot be set: run the other scenario itself, or write a variant with based_on = \"FILE\"");
    else
      return false;
    return true;
  }

  // One that is not is a slip of the pen, not a new service. A link is there with its dependency.
  bool table_is_there() {
    const std::string& section = path_[0];
    if (section == "expect" && path_.size() > 1 && root_.find(section) == nullptr) {
      fault("there is no [[expect]] to set: write one in the scenario's file");
      return false;
    }
    if (std::ranges::find(kSections, section) == std::end(kSections)) return true;
    if (path_.size() < 3) {
      fault(fmt::format("names no key: write {}.NAME.KEY", section));
      return false;
    }
    std::vector<std::string> names = keys_of(root_.find(section));
    if (section == "link") {
      for (std::string& name : keys_of(root_.find("dependency"))) names.push_back(std::move(name));
    }
    if (std::ranges::find(names, path_[1]) != names.end()) return true;
    std::string hint;
    if (const std::string nearest = nearest_name(path_[1], names); !nearest.empty())
      hint = fmt::format("did you mean {}.{}?", section, nearest);
    else if (names.empty())
      hint = fmt::format("the scenario has no [{}.NAME] at all: write one in its file", section);
    else
      hint = fmt::format("there are: {}", fmt::join(names, ", "));
    fault(fmt::format("is of no table [{}.{}]; {}", section, path_[1], hint));
    return false;
  }

  static void give_way_to_table(TomlValue& value) {
    if (value.kind != TomlValue::Kind::table) value = TomlValue{};
  }

  TomlValue* step_into(TomlValue& at, const std::string& name) {
    if (at.kind == TomlValue::Kind::array) return item_of(at, name);
    give_way_to_table(at);
    if (TomlValue* next = at.find(name)) return next;
    return &at.entries.emplace_back(name, TomlValue{}).value;
  }

  // An item by its `name`, or by its number from 1.
  TomlValue* item_of(TomlValue& array, const std::string& word) {
    for (TomlValue& item : array.items) {
      const TomlValue* name = item.find("name");
      if (name != nullptr && name->text == word) return &item;
    }
    std::size_t number = 0;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
    if (error == std::errc() && end == word.data() + word.size() && number >= 1 &&
        number <= array.items.size())
      return &array.items[number - 1];
    fault(fmt::format("has no item \"{}\": write a number from 1 to {}, or an item's name", word,
                      array.items.size()));
    return nullptr;
  }

  TomlValue& root_;
  const std::string& key_;
  ScenarioFaults& faults_;
  std::vector<std::string> path_;
};

}  // namespace

void apply_set(TomlValue& root, const std::string& key, const std::string& value, ScenarioFaults& faults) {
  Setter(root, key, faults).set(value);
}

std::vector<std::string> keys_of(const TomlValue* table) {
  std::vector<std::string> keys;
  if (table != nullptr) {
    for (const auto& [key, value] : table->entries) keys.push_back(key);
  }
  return keys;
}

}  // namespace overdue
