#include "overdue/policy/policy.h"

#include <fmt/format.h>

#include <toml++/toml.h>
#include <algorithm>
#include <array>
#include <cmath>
#include <sstream>

#include "overdue/base/quantity.h"

namespace overdue {
namespace {

constexpr std::array<std::string_view, 6> kLaterTables = {"retry",  "write", "errors",
                                                          "health", "eject", "shed"};
constexpr std::string_view kDependencyKeys =
    "backends, via_proxy, promise, timeout, retry, write, errors, health, eject, shed";
constexpr std::string_view kTimeoutKeys =
    "accept_false, connect, request, floor, ceiling, max_step, window, window_max, watch";

// Collects every fault of a file, so that one run shows them all, in the order of their lines.
class Faults {
 public:
  explicit Faults(const std::string& path) : path_(path) {}
  void add(const toml::node& at, std::string_view key, std::string_view what) {
    const std::uint32_t line = at.source().begin.line;
    faults_.emplace_back(line, fmt::format("{}:{}: {} {}", path_, line, key, what));
  }
  bool any() const { return !faults_.empty(); }
  std::string text() const {
    auto ordered = faults_;
    std::ranges::stable_sort(ordered, {}, &std::pair<std::uint32_t, std::string>::first);
    std::string text;
    for (const auto& [line, fault] : ordered) text += (text.empty() ? "" : "\n") + fault;
    return text;
  }

 private:
  const std::string& path_;
  std::vector<std::pair<std::uint32_t, std::string>> faults_;
};

std::string shown(const toml::node& node) {
  std::ostringstream out;
  node.visit([&](const auto& value) { out << value; });
  return out.str();
}

void read_duration(const toml::node& node, const std::string& key, std::optional<Duration>& into,
                   Faults& faults) {
  const auto text = node.value<std::string_view>();
  if (!text || !node.is_string()) {
    faults.add(node, key, fmt::format("= {}: a duration is text with a unit, as in \"250ms\"", shown(node)));
    return;
  }
  const auto value = parse_duration(*text);
  if (!value) {
    faults.add(node, key, fmt::format("= {}", value.error().message));
  } else if (value->count() == 0) {
    faults.add(node, key,
               "= \"0\" is no timeout at all in some systems and an instant one in others: write a positive "
               "duration");
  } else {
    into = *value;
  }
}

void read_rate(const toml::node& node, const std::string& key, std::optional<Probability>& into,
               Faults& faults) {
  std::string text;
  if (node.is_string()) {
    text = *node.value<std::string>();
  } else if (node.is_floating_point() || node.is_integer()) {
    const double number = *node.value<double>();
    text =
        number != 0 && std::abs(number) < 1e-3 ? fmt::format("{:.12f}", number) : fmt::format("{}", number);
  } else {
    faults.add(node, key, fmt::format("= {}: a rate is written \"0.1%\" or 0.001", shown(node)));
    return;
  }
  const auto value = parse_rate(text);
  if (!value) {
    faults.add(node, key, fmt::format("= {}", value.error().message));
  } else {
    into = *value;
  }
}

void read_request(const toml::node& node, const std::string& key, TimeoutPolicy& timeout, Faults& faults) {
  if (node.is_string() && node.value<std::string_view>() == "adaptive") {
    timeout.adaptive = true;
  } else {
    read_duration(node, key, timeout.request, faults);
  }
}

void check_timeout(const toml::table& table, const std::string& key, const TimeoutPolicy& timeout,
                   Faults& faults) {
  if (timeout.floor && timeout.ceiling && *timeout.floor >= *timeout.ceiling) {
    faults.add(table, key,
               fmt::format("floor {} must be below ceiling {}", format_duration_exact(*timeout.floor),
                           format_duration_exact(*timeout.ceiling)));
  }
  if (timeout.window && timeout.window_max && *timeout.window > *timeout.window_max) {
    faults.add(
        table, key,
        fmt::format("window {} must not be longer than window_max {}", format_duration_exact(*timeout.window),
                    format_duration_exact(*timeout.window_max)));
  }
  if (timeout.accept_false && (timeout.accept_false->parts() == 0 || timeout.accept_false->value() >= 1)) {
    faults.add(table, key,
               "accept_false must lie between 0 and 1: no timeout cuts off exactly none or all of the calls");
  }
}

void read_timeout(const toml::table& table, const std::string& path, TimeoutPolicy& timeout, Faults& faults) {
  for (const auto& [key, node] : table) {
    const std::string full = path + "." + std::string(key.str());
    if (key == "accept_false")
      read_rate(node, full, timeout.accept_false, faults);
    else if (key == "connect")
      read_duration(node, full, timeout.connect, faults);
    else if (key == "request")
      read_request(node, full, timeout, faults);
    else if (key == "floor")
      read_duration(node, full, timeout.floor, faults);
    else if (key == "ceiling")
      read_duration(node, full, timeout.ceiling, faults);
    else if (key == "max_step")
      read_rate(node, full, timeout.max_step, faults);
    else if (key == "window")
      read_duration(node, full, timeout.window, faults);
    else if (key == "window_max")
      read_duration(node, full, timeout.window_max, faults);
    else if (key == "watch")
      read_rate(node, full, timeout.watch, faults);
    else
      faults.add(node, full, fmt::format("is not a key of a timeout table; there are: {}", kTimeoutKeys));
  }
  check_timeout(table, path, timeout, faults);
}

void read_backends(const toml::node& node, const std::string& key, DependencyPolicy& dependency,
                   Faults& faults) {
  const toml::array* list = node.as_array();
  if (list == nullptr) {
    faults.add(node, key, fmt::format("= {}: backends is a list, as in [\"10.0.0.1:8080\"]", shown(node)));
    return;
  }
  for (const toml::node& entry : *list) {
    if (const auto text = entry.value<std::string>(); text && entry.is_string() && !text->empty()) {
      dependency.backends.push_back(*text);
    } else {
      faults.add(entry, key, fmt::format("has {}: a backend is text, as in \"10.0.0.1:8080\"", shown(entry)));
    }
  }
}

DependencyPolicy read_dependency(std::string_view name, const toml::table& table, Faults& faults) {
  DependencyPolicy dependency;
  dependency.name = name;
  dependency.line = table.source().begin.line;
  const std::string path = fmt::format("dependency.{}", name);
  for (const auto& [key, node] : table) {
    const std::string full = path + "." + std::string(key.str());
    if (key == "backends") {
      read_backends(node, full, dependency, faults);
    } else if (key == "via_proxy") {
      if (node.is_boolean())
        dependency.via_proxy = *node.value<bool>();
      else
        faults.add(node, full, fmt::format("= {}: write true or false", shown(node)));
    } else if (key == "promise") {
      read_duration(node, full, dependency.promise, faults);
    } else if (key == "timeout") {
      if (const toml::table* inner = node.as_table())
        read_timeout(*inner, full, dependency.timeout, faults);
      else
        faults.add(node, full, "must be a table: write [dependency.NAME.timeout]");
    } else if (std::find(kLaterTables.begin(), kLaterTables.end(), key.str()) != kLaterTables.end()) {
      dependency.tables_not_read.emplace_back(key.str());
    } else {
      faults.add(node, full, fmt::format("is not a key of a dependency; there are: {}", kDependencyKeys));
    }
  }
  const TimeoutPolicy& timeout = dependency.timeout;
  for (const auto& [what, value] :
       {std::pair("request", timeout.request), std::pair("ceiling", timeout.ceiling)}) {
    if (dependency.promise && value && *value > *dependency.promise) {
      faults.add(table, path,
                 fmt::format("{} {} does not fit the promise {}", what, format_duration_exact(*value),
                             format_duration_exact(*dependency.promise)));
    }
  }
  return dependency;
}

}  // namespace

const DependencyPolicy* Policy::find(std::string_view name) const {
  const auto found =
      std::find_if(dependencies.begin(), dependencies.end(),
                   [&](const DependencyPolicy& dependency) { return dependency.name == name; });
  return found == dependencies.end() ? nullptr : &*found;
}

Result<Policy> parse_policy(std::string_view text, const std::string& path) {
  toml::table root;
  try {
    root = toml::parse(text, path);
  } catch (const toml::parse_error& error) {
    return fail(ErrorCode::invalid_argument,
                fmt::format("{}:{}: not TOML: {}", path, error.source().begin.line, error.description()));
  }
  Policy policy;
  Faults faults(path);
  for (const auto& [key, node] : root) {
    const toml::table* dependencies = key == "dependency" ? node.as_table() : nullptr;
    if (dependencies == nullptr) {
      faults.add(node, std::string(key.str()),
                 "is not known here: a policy has tables named [dependency.NAME]");
      continue;
    }
    for (const auto& [name, entry] : *dependencies) {
      if (const toml::table* table = entry.as_table()) {
        policy.dependencies.push_back(read_dependency(name.str(), *table, faults));
      } else {
        faults.add(entry, fmt::format("dependency.{}", name.str()),
                   "must be a table: write [dependency.NAME]");
      }
    }
  }
  if (faults.any()) return fail(ErrorCode::invalid_argument, faults.text());
  std::stable_sort(policy.dependencies.begin(), policy.dependencies.end(),
                   [](const auto& left, const auto& right) { return left.line < right.line; });
  return policy;
}

}  // namespace overdue
