#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "overdue/base/check.h"
#include "overdue/simulated/expectation.h"
#include "overdue/simulated/scenario_file.h"

// Any bytes as a scenario, the first line as a --set where it has an equals sign: what is taken names only
// what is there, so that the world can look everything up, and each of its expectations is of a field that a
// run has.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace overdue;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  ScenarioSource source{
      .path = "fuzz.toml", .text = std::string(text), .sets = {}, .policy_path = {}, .read_file = {}};
  source.read_file = [&](const std::string& path) -> Result<std::string> {
    if (path == "base.toml") return source.text;
    return fail(ErrorCode::unreadable_input, path + ": is not there");
  };
  const std::string_view first = text.substr(0, text.find('\n'));
  if (const std::size_t equals = first.find('='); first.starts_with('#') && equals != std::string_view::npos)
    source.sets.emplace_back(first.substr(1, equals - 1), first.substr(equals + 1));
  const auto scenario = parse_scenario(source);
  if (!scenario) {
    OVERDUE_CHECK(!scenario.error().message.empty());
    return 0;
  }
  const auto has_service = [&](const std::string& name) {
    return std::ranges::find(scenario->services, name, &Service::name) != scenario->services.end();
  };
  const auto has_link = [&](const std::string& name) {
    return std::ranges::find(scenario->links, name, &Link::name) != scenario->links.end();
  };
  for (const Client& client : scenario->clients)
    OVERDUE_CHECK(has_link(client.calls) && has_service(client.ledger_at));
  for (const Link& link : scenario->links) {
    OVERDUE_CHECK(has_service(link.service) && scenario->policy.find(link.name) != nullptr);
    OVERDUE_CHECK(std::ranges::find(scenario->networks, link.network, &Network::name) !=
                  scenario->networks.end());
  }
  for (const Service& service : scenario->services) {
    OVERDUE_CHECK(!service.replicas.empty());
    for (const auto& group : service.calls) OVERDUE_CHECK(std::ranges::all_of(group, has_link));
  }
  for (const Fault& fault : scenario->faults) {
    const bool of_a_link = fault.kind == FaultKind::partition || fault.kind == FaultKind::loss;
    OVERDUE_CHECK(of_a_link ? has_link(fault.link) : has_service(fault.service));
  }
  const auto judged = judge(*scenario, empty_result_of(*scenario));
  OVERDUE_CHECK(judged.size() == scenario->expectations.size());
  return 0;
}
