// What can be said only of a whole scenario.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "overdue/base/quantity.h"
#include "overdue/simulated/scenario_read.h"

namespace overdue {
namespace {

// Services call each other through dependencies; a call that comes back to its own service would never end.
class CircleFinder {
 public:
  explicit CircleFinder(const Scenario& scenario) {
    std::map<std::string, std::string> leads_to;
    for (const Link& link : scenario.links) leads_to[link.name] = link.service;
    for (const Service& service : scenario.services) {
      for (const auto& group : service.calls) {
        for (const std::string& dependency : group) calls_[service.name].push_back(leads_to[dependency]);
      }
    }
  }

  // "a -> b -> a", or empty.
  std::string find() {
    for (const auto& [name, targets] : calls_) {
      if (visit(name)) return fmt::format("{}", fmt::join(trail_, " -> "));
    }
    return "";
  }

 private:
  bool visit(const std::string& name) {
    const auto stands = std::ranges::find(trail_, name);
    if (stands != trail_.end()) {
      trail_.erase(trail_.begin(), stands);
      trail_.push_back(name);
      return true;
    }
    if (cleared_[name]) return false;
    trail_.push_back(name);
    const auto targets = calls_.find(name);
    if (targets != calls_.end()) {
      for (const std::string& target : targets->second) {
        if (visit(target)) return true;
      }
    }
    trail_.pop_back();
    cleared_[name] = true;
    return false;
  }

  std::map<std::string, std::vector<std::string>> calls_;
  std::map<std::string, bool> cleared_;
  std::vector<std::string> trail_;
};

void check_faults(const Scenario& scenario, ScenarioFaults& faults) {
  for (const Fault& fault : scenario.faults) {
    if (fault.at >= scenario.until)
      faults.add(fault.line, fmt::format("fault.{}.at", fault.name),
                 fmt::format("= {} is not before the run's end at {}", format_duration_exact(fault.at),
                             format_duration_exact(scenario.until)));
    if (!fault.replica) continue;
    const auto service = std::ranges::find(scenario.services, fault.service, &Service::name);
    if (service == scenario.services.end()) continue;
    if (std::ranges::find(service->replicas, *fault.replica) == service->replicas.end()) {
      faults.add(fault.line, fmt::format("fault.{}.replica", fault.name),
                 fmt::format("names \"{}\"; {} has {}", *fault.replica, fault.service,
                             fmt::join(service->replicas, ", ")));
    }
  }
}

// Where the file is silent: the only network, or one without delay where there is none.
void fill_networks(Scenario& scenario, ScenarioFaults& faults) {
  if (scenario.networks.empty()) scenario.networks.push_back({.name = "without delay"});
  for (Link& link : scenario.links) {
    if (!link.network.empty()) continue;
    link.network = scenario.networks.front().name;
    if (scenario.networks.size() > 1) {
      std::vector<std::string> names;
      names.reserve(scenario.networks.size());
      for (const Network& network : scenario.networks) names.push_back(network.name);
      faults.add_of_whole(fmt::format("link.{}.network", link.name),
                          fmt::format("is missing, and there are {}: write [link.{}] network = \"{}\"",
                                      fmt::join(names, ", "), link.name, names.front()));
    }
  }
}

// A world keeps a bit a link with each call, and counts calls of a piece of work in bytes.
constexpr std::size_t kLinksMax = 64;
constexpr std::size_t kCallsMax = 250;

void check_counts(const Scenario& scenario, ScenarioFaults& faults) {
  if (scenario.links.size() > kLinksMax)
    faults.add_of_whole("dependency",
                        fmt::format("has {} that are called or have a [link], and {} are the most",
                                    scenario.links.size(), kLinksMax));
  for (const Service& service : scenario.services) {
    const bool long_group = std::ranges::any_of(
        service.calls, [](const std::vector<std::string>& group) { return group.size() > kCallsMax; });
    if (long_group || service.calls.size() > kCallsMax)
      faults.add_of_whole(fmt::format("service.{}.calls", service.name),
                          fmt::format("has more than {} in a row, or called together", kCallsMax));
  }
}

}  // namespace

void check_scenario(Scenario& scenario, ScenarioFaults& faults) {
  fill_networks(scenario, faults);
  check_counts(scenario, faults);
  for (Client& client : scenario.clients) {
    const auto link = std::ranges::find(scenario.links, client.calls, &Link::name);
    if (client.ledger_at.empty() && link != scenario.links.end()) client.ledger_at = link->service;
    if (client.journal && link != scenario.links.end() && client.ledger_at != link->service) {
      faults.add_of_whole(
          fmt::format("client.{}.ledger", client.name),
          fmt::format(
              "= \"{}\": a client with a journal is judged by the effects of the service it calls, {}",
              client.ledger_at, link->service));
    }
    if (client.from >= scenario.duration) {
      faults.add_of_whole(
          fmt::format("client.{}.from", client.name),
          fmt::format("= {} is not before the duration {}", format_duration_exact(client.from),
                      format_duration_exact(scenario.duration)));
    }
  }
  if (const std::string circle = CircleFinder(scenario).find(); !circle.empty())
    faults.add_of_whole("service", fmt::format("calls go in a circle: {}", circle));
  check_faults(scenario, faults);
  if (!faults.any()) check_size(scenario, faults);
}

}  // namespace overdue
