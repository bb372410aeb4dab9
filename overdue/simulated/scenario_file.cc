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
#include "overdue/simulated/scenario_set.h"
#include "overdue/simulated/toml_tree.h"

namespace overdue {
namespace {

constexpr Duration kDurationMax = std::chrono::hours(24 * 365);

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
    for (const auto& [key, value] : source_.sets) {
      apply_set(root_, key, value, faults_);
      const std::vector<std::string> path = split_path(key);
      policy_changed_ = policy_changed_ || (!path.empty() && path[0] == "dependency");
    }
    if (policy_changed_) read_changed_policy();
    read_tables();
    check_scenario(scenario_, faults_);
    if (rows_ != nullptr) read_expectations(*rows_, scenario_, faults_);
    if (faults_.any()) return std::unexpected(all_faults());
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
      if (add_with_line(one, source_.path, 0)) continue;
      if (!scenario_.base_path.empty() && add_with_line(one, scenario_.base_path, kLineOfBase)) continue;
      faults_.add_text(std::string(one));
    }
  }

  // A message "PATH:LINE: ..." of that path; false where it is none.
  bool add_with_line(std::string_view message, const std::string& path, std::uint32_t mark) {
    if (!message.starts_with(path + ":")) return false;
    message.remove_prefix(path.size() + 1);
    std::uint32_t line = 0;
    const auto read = std::from_chars(message.data(), message.data() + message.size(), line);
    message.remove_prefix(static_cast<std::size_t>(read.ptr - message.data()));
    if (read.ec != std::errc() || !message.starts_with(": ")) return false;
    faults_.add(line | mark, "", message.substr(2));
    return true;
  }

  // A variant says what differs from another scenario: its tables are laid over that one's, key by key;
  // lists, expectations among them, replace.
  Result<void> take_base() {
    const TomlValue* named = root_.find("based_on");
    if (named == nullptr) return {};
    if (!names_a_file("based_on", *named)) return std::unexpected(all_faults());
    const std::string path = beside(source_.path, named->text);
    const auto text = named_file("based_on", *named);
    if (!text) return std::unexpected(text.error());
    auto base = parse_toml(*text, path);
    if (!base) return std::unexpected(base.error());
    if (base->find("based_on") != nullptr) {
      faults_.add(named->line, "based_on", fmt::format("= \"{}\": is itself based on another", named->text));
      return std::unexpected(all_faults());  // Of what is left out there nothing else can be said.
    }
    scenario_.base_path = path;
    faults_.set_base_path(path);
    if (const auto policy = parse_policy(dependency_lines(*text, *base), path); !policy) {
      add_policy_faults(policy.error().message);
      policy_is_faulty_ = true;
    }
    mark_lines_of_base(*base);
    policy_changed_ = base->find("dependency") != nullptr;
    TomlValue own = std::move(root_);
    root_ = *std::move(base);
    root_.line = 1;
    lay_over(own, root_);
    return {};
  }

  // It is a text; else that is a fault.
  bool names_a_file(std::string_view key, const TomlValue& named) {
    if (named.kind == TomlValue::Kind::text && !named.text.empty()) return true;
    faults_.add(named.line, key, fmt::format("= {}: write a file's name in quotes", shown(named)));
    return false;
  }

  Error all_faults() const { return {ErrorCode::invalid_argument, faults_.text()}; }

  // The text of a file that the scenario names.
  Result<std::string> named_file(std::string_view key, const TomlValue& named) const {
    auto text = source_.read_file(beside(source_.path, named.text));
    if (text) return text;
    return fail(text.error().code, fmt::format("{}: {} = \"{}\": {}", faults_.place(named.line), key,
                                               named.text, text.error().message));
  }

  static void mark_lines_of_base(TomlValue& value) {
    value.line |= kLineOfBase;
    for (auto& [key, entry] : value.entries) mark_lines_of_base(entry);
    for (TomlValue& item : value.items) mark_lines_of_base(item);
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
    if (named != nullptr) {
      // Without the dependencies that it would bring the rest cannot be judged.
      if (!names_a_file("policy", *named)) return std::unexpected(all_faults());
      if (own_.find("dependency") != nullptr)
        faults_.add(named->line, "policy",
                    "and [dependency...] tables do not go together: write one of them");
      const auto text = named_file("policy", *named);
      if (!text) return std::unexpected(text.error());
      if (const auto read = take_policy(*text, beside(source_.path, named->text)); !read) return read;
    }
    if (!source_.policy_path) return {};
    const auto text = source_.read_file(*source_.policy_path);
    if (!text) return fail(text.error().code, fmt::format("--policy {}", text.error().message));
    return take_policy(*text, *source_.policy_path);
  }

  // The dependencies of the file replace those of the same names.
  Result<void> take_policy(const std::string& text, const std::string& path) {
    if (const auto policy = parse_policy(text, path); !policy) {
      add_policy_faults(policy.error().message);
      policy_is_faulty_ = true;
    }
    const auto tree = parse_toml(text, path);
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
      if (is_none(table)) continue;  // Taken away from a base.
      if (table.kind != TomlValue::Kind::table) {
        faults_.add(table.line, path, fmt::format("must be a table, or \"none\": write [{}.NAME]", section));
        continue;
      }
      TableReader reader(table, path, faults_);
      read(name, reader);
    }
  }

  // Of a run. None where it is too long, which is told.
  static std::optional<Duration> read_length(TableReader& top, std::string_view key) {
    const auto length = top.duration(key);
    if (!length || *length <= kDurationMax) return length;
    top.fault(key, fmt::format("= {} is more than a year: write {} or less", shown(*top.any(key)),
                               format_duration_exact(kDurationMax)));
    return std::nullopt;
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
    scenario_.duration = read_length(top, "duration").value_or(std::chrono::seconds(1));
    scenario_.until = read_length(top, "until").value_or(scenario_.duration);
    if (scenario_.until < scenario_.duration)
      top.fault("until", fmt::format("= {} is before the duration {}", format_duration_exact(scenario_.until),
                                     format_duration_exact(scenario_.duration)));
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
    rows_ = top.array("expect");
    add_missing_links(names);
    add_idle_links(names);
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

  // A dependency that nobody calls, and of which a fault or an expectation speaks: nothing goes over it, and
  // that can be expected.
  void add_idle_links(const ScenarioNames& names) {
    for (const std::string& dependency : names.dependencies) {
      if (std::ranges::find(scenario_.links, dependency, &Link::name) != scenario_.links.end()) continue;
      if (std::ranges::find(names.services, dependency) == names.services.end()) continue;
      const bool struck =
          std::ranges::find(scenario_.faults, dependency, &Fault::link) != scenario_.faults.end();
      if (!struck && !is_expected(fmt::format("links.{}.", dependency))) continue;
      scenario_.links.push_back({.name = dependency,
                                 .service = dependency,
                                 .network = names.networks.empty() ? "" : names.networks.front()});
    }
  }

  bool is_expected(std::string_view fields) const {
    return rows_ != nullptr && std::ranges::any_of(rows_->items, [&](const TomlValue& row) {
             const TomlValue* field = row.find("field");
             return field != nullptr && field->text.starts_with(fields);
           });
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
