#include "overdue/policy/policy.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "overdue/base/grpc_status.h"
#include "overdue/base/quantity.h"
#include "overdue/policy/key_depth.h"
#include "overdue/policy/tables.h"
#include "overdue/policy/toml_text.h"

namespace overdue {
namespace {

using reading::Faults;
using reading::Key;
using reading::Place;

void read_backends(const Place& at, DependencyPolicy& dependency) {
  const toml::array* list = at.node.as_array();
  if (list == nullptr) {
    return at.fault(
        fmt::format("= {}: backends is a list, as in [\"10.0.0.1:8080\"]", reading::shown(at.node)));
  }
  for (const toml::node& entry : *list) {
    if (const auto text = entry.value<std::string>(); text && entry.is_string() && !text->empty()) {
      dependency.backends.push_back(*text);
    } else {
      at.faults.add(entry, at.key,
                    fmt::format("has {}: a backend is text, as in \"10.0.0.1:8080\"", reading::shown(entry)));
    }
  }
}

void check_dependency(const Place& at, const DependencyPolicy& dependency) {
  const TimeoutPolicy& timeout = dependency.timeout;
  for (const auto& [what, value] :
       {std::pair("request", timeout.request), std::pair("ceiling", timeout.ceiling)}) {
    if (dependency.promise && value && *value > *dependency.promise) {
      const toml::table* table = at.node.as_table();
      const toml::node* node = table == nullptr ? nullptr : table->get("timeout");
      const std::string path = at.key + ".timeout";
      reading::fault_of_key({node == nullptr ? at.node : *node, path, at.faults}, what,
                            fmt::format("{} does not fit the promise {}", format_duration_exact(*value),
                                        format_duration_exact(*dependency.promise)));
    }
  }
}

DependencyPolicy read_dependency(std::string_view name, const toml::table& table, Faults& faults) {
  DependencyPolicy dependency;
  dependency.name = name;
  dependency.line = table.source().begin.line;
  const std::string path = fmt::format("dependency.{}", toml_text::as_key(name));
  bool retry_was_read = true;
  const auto retry = [&](const Place& at) {
    const std::size_t faults_before = faults.count();
    read_retry(at, dependency.retry);
    retry_was_read = faults.count() == faults_before;
  };
  const Key keys[] = {{"backends", [&](const Place& at) { read_backends(at, dependency); }},
                      {"via_proxy", [&](const Place& at) { read_bool(at, dependency.via_proxy); }},
                      {"promise", [&](const Place& at) { read_duration(at, dependency.promise); }},
                      {"timeout", [&](const Place& at) { read_timeout(at, dependency.timeout); }},
                      {"retry", retry},
                      {"write", [&](const Place& at) { read_write(at, dependency.write); }},
                      {"errors", [&](const Place& at) { read_errors(at, dependency.errors); }},
                      {"health", [&](const Place& at) { read_health(at, dependency.health); }},
                      {"eject", [&](const Place& at) { read_eject(at, dependency.eject); }},
                      {"shed", [&](const Place& at) { read_shed(at, dependency.shed); }}};
  const Place at{table, path, faults};
  read_table(at, "a dependency", keys);
  // unsafe_retry_without_key decides about a step.
  if (const toml::node* write = table.get("write"); write != nullptr && retry_was_read) {
    const std::string write_path = path + ".write";
    reading::check_steps_have_a_key({*write, write_path, faults}, dependency.write, dependency.retry);
  }
  check_dependency(at, dependency);
  return dependency;
}

}  // namespace

std::optional<std::uint16_t> status_of(std::string_view text) {
  const auto name = std::ranges::find(kGrpcStatusNames, text);
  if (name != kGrpcStatusNames.end()) return static_cast<std::uint16_t>(name - kGrpcStatusNames.begin());
  std::uint16_t number = 0;
  if (text.size() != 3) return std::nullopt;  // "0409" is no status.
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || number < 100 || number > 599)
    return std::nullopt;
  return number;
}

const DependencyPolicy* Policy::find(std::string_view name) const {
  const auto found =
      std::find_if(dependencies.begin(), dependencies.end(),
                   [&](const DependencyPolicy& dependency) { return dependency.name == name; });
  return found == dependencies.end() ? nullptr : &*found;
}

Result<Policy> parse_policy(std::string_view text, const std::string& path) {
  if (const auto shallow = check_key_depth(text, path); !shallow) return std::unexpected(shallow.error());
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
      faults.add(node, toml_text::as_key(key.str()),
                 "is not known here: a policy has tables named [dependency.NAME]");
      continue;
    }
    for (const auto& [name, entry] : *dependencies) {
      if (const toml::table* table = entry.as_table()) {
        policy.dependencies.push_back(read_dependency(name.str(), *table, faults));
      } else {
        faults.add(entry, fmt::format("dependency.{}", toml_text::as_key(name.str())),
                   "must be a table: write [dependency.NAME]");
      }
    }
  }
  if (faults.count() > 0) return fail(ErrorCode::invalid_argument, faults.text());
  std::stable_sort(policy.dependencies.begin(), policy.dependencies.end(),
                   [](const auto& left, const auto& right) { return left.line < right.line; });
  return policy;
}

}  // namespace overdue
