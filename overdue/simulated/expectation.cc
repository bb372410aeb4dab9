#include "overdue/simulated/expectation.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

namespace overdue {
namespace {

bool compare(double value, const Expectation& expectation) {
  switch (expectation.comparison) {
    case Relation::less:
      return value < expectation.value;
    case Relation::at_most:
      return value <= expectation.value;
    case Relation::equal:
      return value == expectation.value;
    case Relation::not_equal:
      return value != expectation.value;
    case Relation::at_least:
      return value >= expectation.value;
    case Relation::greater:
      return value > expectation.value;
    case Relation::within:
      return value >= expectation.value && value <= expectation.value_high;
  }
  return false;
}

}  // namespace

std::string text_of(const Expectation& expectation) {
  std::string text = fmt::format("{} {}{}", expectation.field,
                                 expectation.comparison == Relation::within ? "in " : "", expectation.is);
  if (expectation.from_s) text += fmt::format(" from {} s", *expectation.from_s);
  if (expectation.to_s) text += fmt::format(" to {} s", *expectation.to_s);
  return text;
}

std::vector<ExpectationResult> judge(const Scenario& scenario, const RunResult& result) {
  const std::vector<ResultField> whole = fields_of(result);
  std::vector<ExpectationResult> judged;
  for (const Expectation& expectation : scenario.expectations) {
    const bool of_timeline = expectation.field.starts_with("timeline.");
    const std::vector<ResultField> windowed =
        of_timeline ? timeline_fields(result, expectation.from_s, expectation.to_s)
                    : std::vector<ResultField>{};
    const std::vector<ResultField>& fields = of_timeline ? windowed : whole;
    const auto field = std::ranges::find(fields, expectation.field, &ResultField::name);
    ExpectationResult one{
        .text = text_of(expectation), .held = false, .value = {}, .shown = "none", .why = expectation.why};
    if (field != fields.end()) {
      one.value = field->value;
      one.unit = field->unit;
      one.shown = shown_value(*field);
      one.held = !field->value && field->missing_is_fine;
      const bool never = !field->value && field->missing_is_never;
      if (field->value || never)
        one.held = compare(field->value.value_or(std::numeric_limits<double>::infinity()), expectation);
    }
    judged.push_back(std::move(one));
  }
  return judged;
}

RunResult empty_result_of(const Scenario& scenario) {
  RunResult result;
  for (const Client& client : scenario.clients) {
    ClientResult& row = result.clients.emplace_back();
    row.name = client.name;
    if (!client.journal) continue;
    row.writes.emplace();
    result.writes.emplace();
  }
  for (const Link& link : scenario.links) result.links.push_back({.name = link.name});
  for (const Service& service : scenario.services) {
    result.services.push_back({.name = service.name});
    for (const std::string& replica : service.replicas)
      result.replicas.push_back({.service = service.name, .name = replica});
  }
  return result;
}

}  // namespace overdue
