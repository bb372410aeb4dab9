#include "overdue/simulated/scenario_lint.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "overdue/base/quantity.h"

namespace overdue {
namespace {

// The dependencies that writes go through: what a client's calls lead to is called on its behalf.
std::set<std::string> written_through(const Scenario& scenario) {
  std::set<std::string> names;
  std::vector<std::string> open;
  const auto add = [&](const std::string& name) {
    if (names.insert(name).second) open.push_back(name);
  };
  for (const Client& client : scenario.clients) {
    if (client.kind != CallKind::read) add(client.calls);
  }
  while (!open.empty()) {
    const auto link = std::ranges::find(scenario.links, open.back(), &Link::name);
    open.pop_back();
    if (link == scenario.links.end()) continue;
    const auto service = std::ranges::find(scenario.services, link->service, &Service::name);
    if (service == scenario.services.end()) continue;
    for (const auto& group : service->calls) std::ranges::for_each(group, add);
  }
  return names;
}

// What a policy says and no simulated client does yet, in the words of the policy file.
std::vector<std::string> not_acted_on(const DependencyPolicy& dependency) {
  std::vector<std::string> keys;
  const TimeoutPolicy& timeout = dependency.timeout;
  if (timeout.adaptive) {
    const auto ceiling = timeout.ceiling ? timeout.ceiling : dependency.promise;
    keys.push_back(
        ceiling ? fmt::format("timeout.request = \"adaptive\" (it stays at {})", format_duration(*ceiling))
                : std::string("timeout.request = \"adaptive\" (it waits without a limit)"));
  }
  if (dependency.retry.hedge_at) keys.emplace_back("retry.hedge_at");
  if (dependency.health.line != 0) keys.emplace_back("health");
  if (dependency.eject.line != 0) keys.emplace_back("eject");
  if (dependency.shed.line != 0) keys.emplace_back("shed");
  return keys;
}

class Lint {
 public:
  explicit Lint(const Scenario& scenario) : scenario_(scenario) {}

  std::vector<ScenarioWarning> run() {
    for (const std::string& name : written_through(scenario_)) {
      const DependencyPolicy* dependency = scenario_.policy.find(name);
      const auto link = std::ranges::find(scenario_.links, name, &Link::name);
      if (dependency == nullptr || dependency->via_proxy || link == scenario_.links.end()) continue;
      const auto network = std::ranges::find(scenario_.networks, link->network, &Network::name);
      if (network != scenario_.networks.end() && network->request.duplication.parts() > 0)
        repeated("network." + network->name, network->request.duplication_line, "duplication",
                 network->request.duplication, *dependency);
      if (link->repeats && link->repeats->share.parts() > 0)
        repeated("link." + link->name, link->repeats->line, "repeats", link->repeats->share, *dependency);
    }
    idle_limits();
    for (const Link& link : scenario_.links) {
      const DependencyPolicy* dependency = scenario_.policy.find(link.name);
      const std::vector<std::string> keys =
          dependency == nullptr ? std::vector<std::string>() : not_acted_on(*dependency);
      if (keys.empty()) continue;
      warnings_.push_back(
          {.line = 0,
           .text = fmt::format("dependency.{}: not simulated: {}. The run is that of a policy "
                               "without, see docs/model.md",
                               link.name, fmt::join(keys, ", "))});
    }
    std::ranges::stable_sort(warnings_, {}, &ScenarioWarning::line);
    return std::move(warnings_);
  }

 private:
  void repeated(std::string_view table, std::uint32_t line, std::string_view key, Probability share,
                const DependencyPolicy& dependency) {
    const std::string where = dependency.line == 0 ? "" : fmt::format(" in line {}", dependency.line);
    warnings_.push_back(
        {.line = line,
         .text =
             fmt::format("{}: {} of {} lets requests arrive twice, and [dependency.{}]{} has via_proxy = "
                         "false, which says that nothing does: an answer that a client takes for proof that "
                         "its attempt did nothing is none here. Write via_proxy = true, unless such a client "
                         "is what you want to see",
                         table, key, format_rate(share.value()), dependency.name, where)});
  }

  // Field case C37: who closes a connection first.
  void idle_limits() {
    for (const Service& service : scenario_.services) {
      if (!service.keep_alive) continue;
      bool kept = false;
      for (const Link& link : scenario_.links) {
        if (link.service != service.name || !link.pool) continue;
        kept = true;
        const std::optional<Duration>& idle = link.pool->idle_max;
        if (idle && *idle < *service.keep_alive) continue;
        warnings_.push_back(
            {.line = link.pool->line,
             .text = fmt::format(
                 "link.{}: {}, and service.{} closes its connections after keep_alive {}: a request may meet "
                 "the close and end in a reset, which proves nothing of a write. Write an idle below {}",
                 link.name,
                 idle ? fmt::format("pool.idle is {}", format_duration_exact(*idle)) : "pool has no idle",
                 service.name, format_duration_exact(*service.keep_alive),
                 format_duration_exact(*service.keep_alive))});
      }
      if (kept) continue;
      warnings_.push_back({.line = service.keep_alive_line,
                           .text = fmt::format("service.{}: keep_alive is never used: no link to it keeps "
                                               "connections (pool)",
                                               service.name)});
    }
  }

  const Scenario& scenario_;
  std::vector<ScenarioWarning> warnings_;
};

}  // namespace

std::vector<ScenarioWarning> lint_scenario(const Scenario& scenario) { return Lint(scenario).run(); }

}  // namespace overdue
