// Distributions as a scenario writes them: "10ms", or a table with the kind's name as its key.
#include <fmt/format.h>

#include <cmath>

#include "overdue/base/quantity.h"
#include "overdue/simulated/table_reader.h"

namespace overdue {
namespace {

constexpr std::string_view kForms =
    "write \"10ms\" or one of { uniform = [\"40ms\", \"400ms\"] }, { exponential = \"13ms\" }, { lognormal = "
    "{ median = \"7ms\", sigma = 0.5 } }, { pareto = { from = \"1ms\", shape = 1.5, max = \"10s\" } }, { "
    "measured = "
    "\"advice.json\" }, { mixture = [...] }";
constexpr double kSigmaMax = 10;
constexpr double kShapeMax = 100;
constexpr int kMixtureDepthMax = 4;

class TimeReader {
 public:
  explicit TimeReader(ScenarioFaults& faults) : faults_(faults) {}

  std::optional<TimeDistribution> read(const TomlValue& value, const std::string& path, bool in_mixture,
                                       int depth) {
    if (value.kind == TomlValue::Kind::text) {
      const auto constant = parse_duration(value.text);
      if (constant) return TimeDistribution{ConstantTime{*constant}};
      faults_.add(value.line, path, "= " + constant.error().message);
      return std::nullopt;
    }
    if (value.kind != TomlValue::Kind::table) {
      faults_.add(value.line, path, fmt::format("= {}: {}", shown(value), kForms));
      return std::nullopt;
    }
    TableReader reader(value, path, faults_);
    if (in_mixture) reader.rate("share");  // Read by whoever reads the mixture.
    std::optional<TimeDistribution> result;
    int forms = 0;
    for (const std::string_view form :
         {"constant", "uniform", "exponential", "lognormal", "pareto", "measured", "mixture"}) {
      if (!reader.has(form)) continue;
      ++forms;
      result = read_form(form, reader, depth);
    }
    reader.done();
    if (forms == 1) return result;
    faults_.add(value.line, path,
                forms == 0 ? std::string(kForms) : "says more than one kind of distribution");
    return std::nullopt;
  }

 private:
  std::optional<TimeDistribution> read_form(std::string_view form, TableReader& reader, int depth) {
    if (form == "constant") {
      if (const auto value = reader.duration_or_zero(form)) return TimeDistribution{ConstantTime{*value}};
    } else if (form == "exponential") {
      if (const auto mean = reader.duration(form)) return TimeDistribution{ExponentialTime{*mean}};
    } else if (form == "measured") {
      if (const auto path = reader.text(form))
        return TimeDistribution{EmpiricalTime{.path = *path, .buckets = {}, .line = reader.any(form)->line}};
    } else if (form == "uniform") {
      return read_uniform(reader);
    } else if (form == "lognormal") {
      return read_lognormal(reader);
    } else if (form == "pareto") {
      return read_pareto(reader);
    } else {
      return read_mixture(reader, depth);
    }
    return std::nullopt;
  }

  std::optional<TimeDistribution> read_uniform(TableReader& reader) {
    const auto ends = reader.texts("uniform");
    if (!ends) return std::nullopt;
    if (ends->size() == 2) {
      const auto low = parse_duration((*ends)[0]);
      const auto high = parse_duration((*ends)[1]);
      if (low && high && *low < *high) return TimeDistribution{UniformTime{*low, *high}};
    }
    reader.fault("uniform", "wants two durations, the shorter first, as in [\"40ms\", \"400ms\"]");
    return std::nullopt;
  }

  std::optional<TimeDistribution> read_lognormal(TableReader& reader) {
    const TomlValue* table = reader.table("lognormal");
    if (table == nullptr) return std::nullopt;
    TableReader inner(*table, reader.path_of("lognormal"), faults_);
    inner.require("median", "median = \"7ms\"");
    inner.require("sigma", "sigma = 0.5");
    const auto median = inner.duration("median");
    const auto sigma = inner.number("sigma", 0, kSigmaMax);
    inner.done();
    if (!median || !sigma) return std::nullopt;
    return TimeDistribution{LognormalTime{*median, *sigma}};
  }

  std::optional<TimeDistribution> read_pareto(TableReader& reader) {
    const TomlValue* table = reader.table("pareto");
    if (table == nullptr) return std::nullopt;
    TableReader inner(*table, reader.path_of("pareto"), faults_);
    for (const auto& [key, example] : {std::pair("from", "from = \"1ms\""), std::pair("shape", "shape = 1.5"),
                                       std::pair("max", "max = \"10s\"")})
      inner.require(key, example);
    const auto from = inner.duration("from");
    const auto shape = inner.number("shape", 0.1, kShapeMax);
    const auto max = inner.duration("max");
    inner.done();
    if (!from || !shape || !max) return std::nullopt;
    if (*max <= *from) {
      inner.fault("max", "must be longer than from");
      return std::nullopt;
    }
    return TimeDistribution{ParetoTime{*from, *shape, *max}};
  }

  std::optional<TimeDistribution> read_mixture(TableReader& reader, int depth) {
    const TomlValue* list = reader.array("mixture");
    if (list == nullptr) return std::nullopt;
    if (list->items.size() < 2 || depth >= kMixtureDepthMax) {
      reader.fault(
          "mixture",
          depth >= kMixtureDepthMax
              ? "is a mixture of mixtures of mixtures: write it flat"
              : "wants two parts or more, as in [{ share = \"98%\", constant = \"10ms\" }, { share = \"2%\", "
                "uniform = [\"40ms\", \"400ms\"] }]");
      return std::nullopt;
    }
    MixtureTime mixture;
    std::int64_t parts = 0;
    bool good = true;
    for (std::size_t i = 0; i < list->items.size(); ++i) {
      const TomlValue& item = list->items[i];
      const std::string path = fmt::format("{}.{}", reader.path_of("mixture"), i + 1);
      auto part = read(item, path, true, depth + 1);
      const TomlValue* share = item.find("share");
      if (share == nullptr) {
        faults_.add(item.line, path, "has no share: write share = \"2%\"");
        good = false;
      } else if (const auto rate = TableReader(item, path, faults_).rate("share")) {
        mixture.shares.push_back(rate->value());
        parts += rate->parts();
      } else {
        good = false;
      }
      good = good && part;
      if (part) mixture.parts.push_back(*std::move(part));
    }
    if (!good) return std::nullopt;
    if (std::abs(static_cast<double>(parts - Probability::kScale)) >
        1e-9 * static_cast<double>(Probability::kScale)) {
      reader.fault("mixture",
                   fmt::format("has shares that sum to {:.10g}%, and must sum to 100%",
                               static_cast<double>(parts) / static_cast<double>(Probability::kScale) * 100));
      return std::nullopt;
    }
    return TimeDistribution{std::move(mixture)};
  }

  ScenarioFaults& faults_;
};

}  // namespace

std::optional<TimeDistribution> read_time(const TomlValue& value, const std::string& path,
                                          ScenarioFaults& faults) {
  return TimeReader(faults).read(value, path, false, 0);
}

}  // namespace overdue
