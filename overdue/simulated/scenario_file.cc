// From text to Scenario. The policy's tables stand in the scenario as they would in a policy file and are
// read by policy/ itself: it is given the scenario's text with every other line blanked, so that its messages
// have the right lines; and where --policy or --set changed them, what they say then, as text.
#include "overdue/simulated/scenario_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>

#include "overdue/base/quantity.h"
#include "overdue/simulated/scenario_read.h"
#include "overdue/simulated/toml_tree.h"

namespace overdue {
namespace {

constexpr Duration kDurationMax = std::chrono::hours(24 * 365);
constexpr std::string_view kSections[] = {"client", "link", "network", "service", "fault"};

std::vector<std::string> keys_of(const TomlValue* table) {
  std::vector<std::string> keys;
  if (table != nullptr) {
    for (const auto& [key, value] : table->entries) keys.push_back(key);
  }
  return keys;
}

// The names of those tables that have a table of that key.
std::vector<std::string> keys_with(const TomlValue* tables, std::string_view inner) {
  std::vector<std::string> keys;
  if (tables == nullptr) return keys;
  for (const auto& [key, value] : tables->entries) {
    const TomlValue* found = value.find(inner);
    if (found != nullptr && found->kind == TomlValue::Kind::table) keys.push_back(key);
  }
  return keys;
}

// Which top-level table each line belongs to: that of the last header at or above it.
void note_headers(const TomlValue& value, const std::string& top,
                  std::map<std::uint32_t, std::string>& owners) {
  if (value.kind == TomlValue::Kind::table && value.line > 0) owners.emplace(value.line, top);
  for (const auto& [key, entry] : value.entries) note_headers(entry, top.empty() ? key : top, owners);
  for (const TomlValue& item : value.items) note_headers(item, top, owners);
}

// The text with every line that is not of [dependency...] emptied.
std::string dependency_lines(std::string_view text, const TomlValue& root) {
  std::map<std::uint32_t, std::string> owners;
  for (const auto& [key, entry] : root.entries) {
    owners.emplace(entry.line, key);  // A plain value at the top ends what stood before it, too.
    note_headers(entry, key, owners);
  }
  std::string kept;
  std::string owner;
  for (std::uint32_t line = 1; !text.empty(); ++line) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    if (const auto found = owners.find(line); found != owners.end()) owner = found->second;
    if (owner == "dependency") kept += text.substr(0, end);
    kept += '\n';
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return kept;
}

class ScenarioParser {
 public:
  explicit ScenarioParser(const ScenarioSource& source) : source_(source), faults_(source.path) {}

  Result<Scenario> parse() {
    auto root = parse_toml(source_.text, source_.path);
    if (!root) return std::unexpected(root.error());
    root_ = *std::move(root);
    root_.line = 1;
    own_ = root_;
    if (const auto based = take_base(); !based) return std::unexpected(based.error());
    if (auto policy = read_policies(); !policy) return std::unexpected(policy.error());
    for (const auto& [key, value] : source_.sets) apply_set(key, value);
    if (policy_changed_) read_changed_policy();
    read_tables();
    check_scenario(scenario_, faults_);
    if (rows_ != nullptr) read_expectations(*rows_, scenario_, faults_);
    if (faults_.any()) return fail(ErrorCode::invalid_argument, faults_.text());
    return std::move(scenario_);
  }

 private:
  // Messages of policy/ are "PATH:LINE: ...": ours come in the same order.
  void add_policy_faults(const std::string& message) {
    std::string_view rest = message;
    while (!rest.empty()) {
      const std::size_t end = std::min(rest.find('\n'), rest.size());
      std::string_view one = rest.substr(0, end);
      rest.remove_prefix(std::min(end + 1, rest.size()));
      std::uint32_t line = 0;
      if (one.starts_with(source_.path + ":")) {
        const std::string_view tail = one.substr(source_.path.size() + 1);
        const auto read = std::from_chars(tail.data(), tail.data() + tail.size(), line);
        if (read.ec == std::errc() &&
            tail.substr(static_cast<std::size_t>(read.ptr - tail.data())).starts_with(": ")) {
          faults_.add(line, "", tail.substr(static_cast<std::size_t>(read.ptr - tail.data()) + 2));
          continue;
        }
      }
      faults_.add_text(std::string(one));
    }
  }

  // A variant says what differs from another scenario: its tables are laid over that one's, key by key;
  // lists, expectations among them, replace.
  Result<void> take_base() {
    const TomlValue* named = root_.find("based_on");
    if (named == nullptr || named->kind != TomlValue::Kind::text) return {};
    const std::string path = beside(source_.path, named->text);
    const auto text = source_.read_file(path);
    if (!text) return std::unexpected(text.error());
    auto base = parse_toml(*text, path);
    if (!base) return std::unexpected(base.error());
    if (base->find("based_on") != nullptr) {
      faults_.add(named->line, "based_on", fmt::format("= \"{}\": is itself based on another", named->text));
      return {};
    }
    if (const auto policy = parse_policy(dependency_lines(*text, *base), path); !policy) {
      add_policy_faults(policy.error().message);
      policy_is_faulty_ = true;
    }
    move_to_line(*base, named->line);  // What is wrong with it is wrong because it is named here.
    policy_changed_ = base->find("dependency") != nullptr;
    TomlValue own = std::move(root_);
    root_ = *std::move(base);
    root_.line = 1;
    lay_over(own, root_);
    return {};
  }

  static void move_to_line(TomlValue& value, std::uint32_t line) {
    value.line = line;
    for (auto& [key, entry] : value.entries) move_to_line(entry, line);
    for (TomlValue& item : value.items) move_to_line(item, line);
  }

  static void lay_over(const TomlValue& from, TomlValue& onto) {
    for (const auto& [key, entry] : from.entries) {
      TomlValue* stands = onto.find(key);
      if (stands == nullptr)
        onto.entries.emplace_back(key, entry);
      else if (stands->kind == TomlValue::Kind::table && entry.kind == TomlValue::Kind::table &&
               !entry.is_inline)
        lay_over(entry, *stands);
      else
        *stands = entry;
    }
  }

  Result<void> read_policies() {
    if (const auto own = parse_policy(dependency_lines(source_.text, own_), source_.path)) {
      scenario_.policy = *own;
    } else if (policy_changed_) {
      // What it leaves out may stand in the scenario it is based on: judged by the two together, and told
      // with its lines only if they fail too.
      faults_of_own_policy_ = own.error().message;
    } else {
      add_policy_faults(own.error().message);
      policy_is_faulty_ = true;
    }
    const TomlValue* named = root_.find("policy");
    if (named != nullptr && named->kind == TomlValue::Kind::text) {
      if (own_.find("dependency") != nullptr)
        faults_.add(named->line, "policy",
                    "and [dependency...] tables do not go together: write one of them");
      if (const auto read = take_policy_file(beside(source_.path, named->text)); !read) return read;
    }
    if (source_.policy_path) return take_policy_file(*source_.policy_path);
    return {};
  }

  // The dependencies of the file replace those of the same names.
  Result<void> take_policy_file(const std::string& path) {
    const auto text = source_.read_file(path);
    if (!text) return std::unexpected(text.error());
    if (const auto policy = parse_policy(*text, path); !policy) {
      add_policy_faults(policy.error().message);
      policy_is_faulty_ = true;
    }
    const auto tree = parse_toml(*text, path);
    if (!tree) return std::unexpected(tree.error());
    // One that has faults still says which dependencies there are.
    const TomlValue* theirs = tree->find("dependency");
    if (theirs == nullptr || theirs->kind != TomlValue::Kind::table) {
      if (!policy_is_faulty_) faults_.add_text(fmt::format("{}: has no [dependency.NAME]", path));
      return {};
    }
    TomlValue* ours = root_.find("dependency");
    const bool replaces = ours != nullptr;
    if (!replaces) ours = &root_.entries.emplace_back("dependency", TomlValue{}).value;
    bool any = false;
    for (const auto& [name, table] : theirs->entries) {
      if (TomlValue* same = ours->find(name)) {
        *same = table;
        any = true;
      } else {
        ours->entries.emplace_back(name, table);
      }
    }
    if (replaces && !any) {
      faults_.add_text(fmt::format("{}: none of its dependencies ({}) is one of the scenario's", path,
                                   fmt::join(keys_of(theirs), ", ")));
    }
    policy_changed_ = true;
    return {};
  }

  void apply_set(const std::string& key, const std::string& value) {
    const std::vector<std::string> path = split_path(key);
    if (path.empty()) {
      faults_.add(0, key, "is no path of names and dots, as in service.orders.workers");
      return;
    }
    const bool in_section =
        std::ranges::find(kSections, path[0]) != std::end(kSections) || path[0] == "dependency";
    if (in_section && !check_set_table(key, path)) return;
    if (path[0] == "dependency") policy_changed_ = true;
    TomlValue* at = &root_;
    for (std::size_t i = 0; i + 1 < path.size(); ++i) {
      at = step_into(*at, key, path, i);
      if (at == nullptr) return;
    }
    TomlValue parsed = parse_set_value(value);
    if (at->kind == TomlValue::Kind::array) {
      if (TomlValue* item = item_of(*at, key, path.back())) *item = std::move(parsed);
    } else if (TomlValue* stands = at->find(path.back())) {
      *stands = std::move(parsed);
    } else {
      at->entries.emplace_back(path.back(), std::move(parsed));
    }
  }

  // A table that is not there is a slip of the pen, not a new service.
  bool check_set_table(const std::string& key, const std::vector<std::string>& path) {
    const std::vector<std::string> names = keys_of(root_.find(path[0]));
    if (path.size() < 3) {
      faults_.add(0, key, fmt::format("names no key: write {}.NAME.KEY", path[0]));
      return false;
    }
    if (std::ranges::find(names, path[1]) != names.end()) return true;
    const std::string nearest = nearest_name(path[1], names);
    faults_.add(0, key,
                fmt::format("is of no table [{}.{}]; {}", path[0], path[1],
                            nearest.empty() ? fmt::format("there are: {}", fmt::join(names, ", "))
                                            : fmt::format("did you mean {}.{}?", path[0], nearest)));
    return false;
  }

  TomlValue* step_into(TomlValue& at, const std::string& key, const std::vector<std::string>& path,
                       std::size_t i) {
    if (at.kind == TomlValue::Kind::array) return item_of(at, key, path[i]);
    if (at.kind != TomlValue::Kind::table) {
      // A plain value gives way to the table that is meant: "constant" to a distribution's parts.
      at = TomlValue{};
    }
    if (TomlValue* next = at.find(path[i])) return next;
    return &at.entries.emplace_back(path[i], TomlValue{}).value;
  }

  // An item by its `name`, or by its number from 1.
  TomlValue* item_of(TomlValue& array, const std::string& key, const std::string& word) {
    for (TomlValue& item : array.items) {
      const TomlValue* name = item.find("name");
      if (name != nullptr && name->text == word) return &item;
    }
    std::size_t number = 0;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
    if (error == std::errc() && end == word.data() + word.size() && number >= 1 &&
        number <= array.items.size())
      return &array.items[number - 1];
    faults_.add(0, key,
                fmt::format("has no item \"{}\": write a number from 1 to {}, or an item's name", word,
                            array.items.size()));
    return nullptr;
  }

  // Both the file's policy and that of --policy are fine by themselves, so what is wrong now came from --set.
  void read_changed_policy() {
    if (policy_is_faulty_) return;
    TomlValue tables;
    if (const TomlValue* dependencies = root_.find("dependency"))
      tables.entries.emplace_back("dependency", *dependencies);
    const std::string name = source_.sets.empty() ? source_.policy_path.value_or(source_.path) : "--set";
    auto policy = parse_policy(toml_text(tables), name);
    if (policy) {
      scenario_.policy = *std::move(policy);
      return;
    }
    policy_is_faulty_ = true;
    std::string_view rest = policy.error().message;
    while (!rest.empty()) {  // The line is that of a text nobody has seen.
      const std::size_t end = std::min(rest.find('\n'), rest.size());
      std::string_view one = rest.substr(0, end);
      rest.remove_prefix(std::min(end + 1, rest.size()));
      if (one.starts_with(name + ":")) {
        const std::size_t colon = one.find(": ");
        if (colon != std::string_view::npos) one.remove_prefix(colon + 2);
      }
      const std::string told_with_line = own_policy_fault(one);
      if (!told_with_line.empty())
        add_policy_faults(told_with_line);
      else
        faults_.add_text(fmt::format("{}: {}", name, one));
    }
  }

  // The same fault as this file's own tables had it, with its line; empty where they had not.
  std::string own_policy_fault(std::string_view text) const {
    std::string_view rest = faults_of_own_policy_;
    while (!rest.empty()) {
      const std::size_t end = std::min(rest.find('\n'), rest.size());
      const std::string_view one = rest.substr(0, end);
      rest.remove_prefix(std::min(end + 1, rest.size()));
      if (one.ends_with(fmt::format(": {}", text))) return std::string(one);
    }
    return "";
  }

  template <typename Read>
  void read_section(TableReader& top, std::string_view section, Read&& read) {
    const TomlValue* tables = top.table(section);
    if (tables == nullptr) return;
    for (const auto& [name, table] : tables->entries) {
      const std::string path = fmt::format("{}.{}", section, name);
      if (table.kind != TomlValue::Kind::table) {
        faults_.add(table.line, path, fmt::format("must be a table: write [{}.NAME]", section));
        continue;
      }
      TableReader reader(table, path, faults_);
      read(name, reader);
    }
  }

  void read_head(TableReader& top) {
    scenario_.path = source_.path;
    const std::size_t slash = source_.path.rfind('/');
    scenario_.name = slash == std::string::npos ? source_.path : source_.path.substr(slash + 1);
    if (scenario_.name.ends_with(".toml")) scenario_.name.resize(scenario_.name.size() - 5);
    if (auto name = top.text("name")) scenario_.name = *std::move(name);
    if (auto about = top.text("about")) scenario_.about = *std::move(about);
    top.any("policy");
    top.text("based_on");
    scenario_.seed = top.whole("seed", 0, std::uint64_t{1} << 53);
    top.require("duration", "duration = \"30s\"");
    scenario_.duration = top.duration("duration").value_or(std::chrono::seconds(1));
    scenario_.until = top.duration("until").value_or(scenario_.duration);
    if (scenario_.until < scenario_.duration)
      top.fault("until", fmt::format("= {} is before the duration {}", format_duration_exact(scenario_.until),
                                     format_duration_exact(scenario_.duration)));
    if (scenario_.until > kDurationMax) top.fault("until", "is more than a year");
  }

  void read_tables() {
    TableReader top(root_, "", faults_);
    read_head(top);
    ScenarioNames names{.dependencies = keys_of(top.table("dependency")),
                        .networks = keys_of(top.table("network")),
                        .services = keys_of(top.table("service")),
                        .clients = keys_of(top.table("client")),
                        .with_store = keys_with(top.table("service"), "store"),
                        .with_journal = keys_with(top.table("client"), "journal"),
                        .policy = policy_is_faulty_ ? nullptr : &scenario_.policy};
    read_section(top, "network", [&](const std::string& name, TableReader& reader) {
      scenario_.networks.push_back(read_network(name, reader));
    });
    read_section(top, "service", [&](const std::string& name, TableReader& reader) {
      scenario_.services.push_back(read_service(name, reader, names));
    });
    read_section(top, "link", [&](const std::string& name, TableReader& reader) {
      scenario_.links.push_back(read_link(name, reader, names));
      check_name(reader, "", name, names.dependencies, "dependency");
    });
    read_section(top, "client", [&](const std::string& name, TableReader& reader) {
      scenario_.clients.push_back(read_client(name, reader, names));
    });
    read_section(top, "fault", [&](const std::string& name, TableReader& reader) {
      scenario_.faults.push_back(read_fault(name, reader, names));
    });
    if (scenario_.clients.empty())
      faults_.add_of_whole("client", "is missing: write [client.NAME] with calls and a rate");
    if (scenario_.services.empty())
      faults_.add_of_whole("service", "is missing: write [service.NAME] with a time");
    add_missing_links(names);
    rows_ = top.array("expect");
    top.done();
  }

  // A dependency that is used and has no [link] of its own leads to the service of its name.
  void add_missing_links(const ScenarioNames& names) {
    const auto need = [&](const std::string& dependency, const std::string& user) {
      const bool defined = std::ranges::find(names.dependencies, dependency) != names.dependencies.end();
      if (!defined || std::ranges::find(scenario_.links, dependency, &Link::name) != scenario_.links.end())
        return;
      if (std::ranges::find(names.services, dependency) == names.services.end()) {
        faults_.add_of_whole(user,
                             fmt::format("calls \"{0}\", and there is neither a service of that name nor a "
                                         "[link.{0}] that says which one is meant",
                                         dependency));
      }
      scenario_.links.push_back({.name = dependency, .service = dependency});
    };
    for (const Client& client : scenario_.clients) need(client.calls, "client." + client.name);
    for (const Service& service : scenario_.services) {
      for (const auto& group : service.calls) {
        for (const std::string& dependency : group) need(dependency, "service." + service.name);
      }
    }
  }

  const ScenarioSource& source_;
  ScenarioFaults faults_;
  TomlValue own_;   // The file's own tables.
  TomlValue root_;  // All of them: base, own, policy, --set.
  Scenario scenario_;
  const TomlValue* rows_ = nullptr;
  bool policy_changed_ = false;
  bool policy_is_faulty_ = false;
  std::string faults_of_own_policy_;
};

}  // namespace

Result<Scenario> parse_scenario(const ScenarioSource& source) { return ScenarioParser(source).parse(); }

std::string beside(const std::string& scenario_path, const std::string& path) {
  const std::size_t slash = scenario_path.rfind('/');
  if (path.starts_with('/') || slash == std::string::npos) return path;
  return scenario_path.substr(0, slash + 1) + path;
}

}  // namespace overdue
