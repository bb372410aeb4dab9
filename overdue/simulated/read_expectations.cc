// [[expect]] rows: which field, which comparison, which value in the field's own unit, which window of time.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "overdue/base/quantity.h"
#include "overdue/simulated/expectation.h"
#include "overdue/simulated/scenario_read.h"

namespace overdue {
namespace {

using namespace std::chrono_literals;

std::string_view trimmed(std::string_view text) {
  while (text.starts_with(' ')) text.remove_prefix(1);
  while (text.ends_with(' ')) text.remove_suffix(1);
  return text;
}

std::string_view example_of(FieldUnit unit) {
  switch (unit) {
    case FieldUnit::share:
      return "a share, as in \">= 95%\"";
    case FieldUnit::milliseconds:
    case FieldUnit::seconds:
      return "a duration, as in \"< 400ms\"";
    case FieldUnit::flag:
      return "yes or no, as in \"== yes\"";
    case FieldUnit::count:
    case FieldUnit::number:
      break;
  }
  return "a number, as in \">= 3.5\"";
}

// In the field's own unit.
std::optional<double> value_in(FieldUnit unit, std::string_view text) {
  if (unit == FieldUnit::share) {
    const auto rate = parse_rate(text);
    return rate ? std::optional(rate->value()) : std::nullopt;
  }
  if (unit == FieldUnit::milliseconds || unit == FieldUnit::seconds) {
    const auto duration = parse_duration(text);
    if (!duration) return std::nullopt;
    return to_milliseconds(*duration) / (unit == FieldUnit::seconds ? 1e3 : 1);
  }
  if (unit == FieldUnit::flag)
    return text == "yes" ? std::optional(1.0) : text == "no" ? std::optional(0.0) : std::nullopt;
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return std::isfinite(value) ? std::optional(value) : std::nullopt;
}

// ">= 95%", "1.9..2.1". False where it is neither.
bool read_comparison(std::string_view text, FieldUnit unit, Expectation& into) {
  text = trimmed(text);
  constexpr std::pair<std::string_view, Relation> kSigns[] = {
      {"<=", Relation::at_most},   {">=", Relation::at_least}, {"==", Relation::equal},
      {"!=", Relation::not_equal}, {"<", Relation::less},      {">", Relation::greater}};
  for (const auto& [sign, comparison] : kSigns) {
    if (!text.starts_with(sign)) continue;
    const auto value = value_in(unit, trimmed(text.substr(sign.size())));
    if (!value) return false;
    into.comparison = comparison;
    into.value = *value;
    return true;
  }
  const std::size_t dots = text.find("..");
  if (dots == std::string_view::npos) return false;
  const auto low = value_in(unit, trimmed(text.substr(0, dots)));
  const auto high = value_in(unit, trimmed(text.substr(dots + 2)));
  if (!low || !high || *low > *high) return false;
  into.comparison = Relation::within;
  into.value = *low;
  into.value_high = *high;
  return true;
}

std::optional<std::uint32_t> whole_seconds(TableReader& reader, std::string_view key) {
  const auto value = reader.duration_or_zero(key);
  if (!value) return std::nullopt;
  if (*value % 1s != 0ns) {
    reader.fault(key, "must be whole seconds, as the timeline has a row for each");
    return std::nullopt;
  }
  return static_cast<std::uint32_t>(*value / 1s);
}

class ExpectationReader {
 public:
  ExpectationReader(Scenario& scenario, ScenarioFaults& faults) : scenario_(scenario), faults_(faults) {
    const RunResult empty = empty_result_of(scenario);
    fields_ = fields_of(empty);
    for (ResultField& field : timeline_fields(empty, {}, {})) fields_.push_back(std::move(field));
    for (const ResultField& field : fields_) names_.push_back(field.name);
  }

  void read(const TomlValue& row, const std::string& path) {
    TableReader reader(row, path, faults_);
    Expectation expectation{.line = row.line};
    reader.require("field", "field = \"load.goodput\"");
    reader.require("is", "is = \">= 95%\", or \"1.9..2.1\"");
    check_row_name(reader);
    const auto name = reader.text("field");
    const auto is = reader.text("is");
    expectation.why = reader.text("why").value_or("");
    expectation.from_s = whole_seconds(reader, "from");
    expectation.to_s = whole_seconds(reader, "to");
    reader.done();
    check_window(reader, expectation, name.value_or(""));
    if (!name || !is) return;
    expectation.field = *name;
    expectation.is = *is;
    const auto field = std::ranges::find(fields_, *name, &ResultField::name);
    if (field == fields_.end()) {
      reader.fault("field", unknown_field(*name));
    } else if (!read_comparison(*is, field->unit, expectation)) {
      reader.fault(
          "is",
          fmt::format("= \"{}\": write <, <=, ==, !=, >= or > and {}, or two with dots between: LOW..HIGH",
                      *is, example_of(field->unit)));
    } else {
      scenario_.expectations.push_back(std::move(expectation));
    }
  }

 private:
  std::string unknown_field(const std::string& name) const {
    if (const std::string nearest = nearest_name(name, names_); !nearest.empty())
      return fmt::format("= \"{}\" is none of a run's; did you mean \"{}\"?", name, nearest);
    if (name.find("writes.") != std::string::npos || name.find("checker.") != std::string::npos)
      return fmt::format("= \"{}\" is of clients with a journal: write a table [client.NAME.journal]", name);
    std::vector<std::string> groups;
    for (const std::string& known : names_) {
      const std::string group = known.substr(0, known.find('.'));
      if (groups.empty() || groups.back() != group) groups.push_back(group);
    }
    std::ranges::sort(groups);
    groups.erase(std::ranges::unique(groups).begin(), groups.end());
    return fmt::format("= \"{}\" is none of a run's; they begin with {}", name, fmt::join(groups, ", "));
  }

  // By it --set finds the row.
  void check_row_name(TableReader& reader) {
    const auto name = reader.text("name");
    if (!name) return;
    if (std::ranges::find(row_names_, *name) != row_names_.end())
      reader.fault("name", fmt::format("= \"{}\" is another row's too: --set could mean either", *name));
    row_names_.push_back(*name);
  }

  void check_window(TableReader& reader, const Expectation& expectation, const std::string& name) {
    if (!expectation.from_s && !expectation.to_s) return;
    const std::string_view key = expectation.from_s ? "from" : "to";
    if (!name.starts_with("timeline.")) {
      reader.fault(key, "goes with fields of the timeline alone, as in \"timeline.goodput_share\"");
      return;
    }
    const auto end = static_cast<std::uint32_t>((scenario_.until + 1s - 1ns) / 1s);
    if (expectation.from_s.value_or(0) >= expectation.to_s.value_or(end))
      reader.fault(key, "is not before the end of the window");
    if (expectation.to_s.value_or(0) > end)
      reader.fault("to", fmt::format("is after the run's end at {} s", end));
  }

  Scenario& scenario_;
  ScenarioFaults& faults_;
  std::vector<ResultField> fields_;
  std::vector<std::string> names_;
  std::vector<std::string> row_names_;
};

}  // namespace

void read_expectations(const TomlValue& rows, Scenario& scenario, ScenarioFaults& faults) {
  ExpectationReader reader(scenario, faults);
  for (std::size_t i = 0; i < rows.items.size(); ++i) {
    const TomlValue& row = rows.items[i];
    const std::string path = fmt::format("expect.{}", i + 1);
    if (row.kind != TomlValue::Kind::table)
      faults.add(row.line, path, "must be a table: write [[expect]]");
    else
      reader.read(row, path);
  }
}

}  // namespace overdue
