#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "overdue/base/probability.h"
#include "overdue/base/time.h"
#include "overdue/simulated/scenario_time.h"
#include "overdue/simulated/toml_tree.h"

namespace overdue {

// How a line of a scenario is called in messages: "FILE:LINE", of its base where it stands there, and "--set"
// for 0.
std::string place_of_line(std::uint32_t line, std::string_view path, std::string_view base_path);

// Every fault of a file, so that one run shows them all, in the order of their lines.
class ScenarioFaults {
 public:
  explicit ScenarioFaults(std::string path) : path_(std::move(path)) {}
  // `line` 0: said on the command line.
  void add(std::uint32_t line, std::string_view key, std::string_view what);
  // Of the scenario as a whole, or of a table wherever it stands.
  void add_of_whole(std::string_view key, std::string_view what);
  // A line as another reader worded it.
  void add_text(std::string text) { faults_.emplace_back(0, std::move(text)); }
  // "FILE:LINE", or "--set".
  std::string place(std::uint32_t line) const;
  void set_base_path(std::string path) { base_path_ = std::move(path); }
  bool any() const { return !faults_.empty(); }
  std::size_t size() const { return faults_.size(); }
  std::string text() const;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
  std::string base_path_;  // Of lines with kLineOfBase.
  std::vector<std::pair<std::uint32_t, std::string>> faults_;
};

// Reads one table of a scenario. Each key is asked for by name and kind; what is not right is a fault with
// its line and what would be right, and the asker goes on with what it had. done() names every key nobody
// asked for, with the known one nearest to it.
class TableReader {
 public:
  // `path`: how the table is called in messages, "service.orders"; empty for the file itself.
  TableReader(const TomlValue& table, std::string path, ScenarioFaults& faults)
      : table_(table), path_(std::move(path)), faults_(faults) {}

  bool has(std::string_view key);
  std::optional<std::string> text(std::string_view key);
  std::optional<bool> boolean(std::string_view key);
  std::optional<std::uint64_t> whole(std::string_view key, std::uint64_t low, std::uint64_t high);
  std::optional<double> number(std::string_view key, double low, double high);
  std::optional<Duration> duration(std::string_view key);  // Above zero.
  std::optional<Duration> duration_from(std::string_view key, Duration low);
  std::optional<Duration> duration_or_zero(std::string_view key);
  std::optional<Probability> rate(std::string_view key);
  std::optional<double> per_second(std::string_view key);  // "450/s", "10/m": above zero.
  std::optional<TimeDistribution> time(std::string_view key);
  // One of `words`, as its index.
  std::optional<std::size_t> word(std::string_view key, const std::vector<std::string>& words);
  // A whole number from 1, or "none", which leaves `into` empty.
  void whole_or_none(std::string_view key, std::optional<std::uint32_t>& into);
  std::optional<std::vector<std::string>> texts(std::string_view key);
  const TomlValue* table(std::string_view key);  // None for "none" too, so that a variant can take one away.
  const TomlValue* array(std::string_view key);
  const TomlValue* any(std::string_view key);

  void require(std::string_view key, std::string_view example);
  // A fault of this key, or of the table where it has none of that name.
  void fault(std::string_view key, std::string_view what);
  void done();

  std::uint32_t line() const { return table_.line; }
  std::string path_of(std::string_view key) const;
  ScenarioFaults& faults() { return faults_; }

 private:
  const TomlValue* ask(std::string_view key);

  const TomlValue& table_;
  std::string path_;
  ScenarioFaults& faults_;
  std::vector<std::string> known_;
};

// "450/s", "1.5/ms", "27000/m" as a number a second, above zero and at most 1e9. Nothing where it is not one.
std::optional<double> parse_per_second(std::string_view text);

// A distribution in one of its forms (docs/formats/scenario.md); faults are said under `path`.
std::optional<TimeDistribution> read_time(const TomlValue& value, const std::string& path,
                                          ScenarioFaults& faults);

// A value as people wrote it, short, for messages.
std::string shown(const TomlValue& value);

}  // namespace overdue
