#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "overdue/simulated/run.h"

// For tests: a scenario of one client that calls one service with one replica, to be changed where a test
// wants it otherwise. Calls begin when the test says; work takes a constant 10 ms, the network 1 ms each way.

namespace overdue {

inline TimeDistribution always(Duration value) { return {ConstantTime{value}}; }

inline DependencyPolicy one_attempt(std::string name, Duration request) {
  DependencyPolicy policy{.name = std::move(name)};
  policy.timeout.request = request;
  policy.retry.attempts = 1;
  return policy;
}

struct SmallWorld {
  Scenario scenario;

  explicit SmallWorld(std::vector<Duration> calls_at = {Duration::zero()}) {
    using namespace std::chrono_literals;
    scenario.name = "small";
    scenario.duration = 100s;
    scenario.until = 200s;
    scenario.clients = {Client{.name = "shop",
                               .calls = "orders",
                               .kind = CallKind::keyed_write,
                               .arrivals = RecordedArrivals{.at = std::move(calls_at)},
                               .ledger_at = "orders"}};
    scenario.networks = {Network{
        .name = "lan", .request = Direction{.delay = always(1ms)}, .reply = Direction{.delay = always(1ms)}}};
    add_service("orders", 10ms);
  }

  // With a dependency of the same name: one attempt, a limit of one second.
  Service& add_service(const std::string& name, Duration takes) {
    using namespace std::chrono_literals;
    scenario.links.push_back(Link{.name = name, .service = name, .network = "lan"});
    scenario.policy.dependencies.push_back(one_attempt(name, 1s));
    scenario.services.push_back(
        Service{.name = name, .replicas = {name + "-1"}, .service_time = always(takes)});
    return scenario.services.back();
  }

  Client& client() { return scenario.clients[0]; }
  Service& service(std::size_t i = 0) { return scenario.services[i]; }
  Link& link(std::size_t i = 0) { return scenario.links[i]; }
  Network& network() { return scenario.networks[0]; }
  DependencyPolicy& policy(std::size_t i = 0) { return scenario.policy.dependencies[i]; }

  // `attempts`, without a budget and with the same wait before each.
  void retry(std::uint32_t attempts, Duration delay = Duration::zero(), std::size_t i = 0) {
    policy(i).retry.attempts = attempts;
    policy(i).retry.backoff = Backoff{delay, delay, Jitter::none};
    policy(i).retry.no_budget = true;
  }

  RunResult run(std::uint64_t seed = 1) const { return overdue::run(scenario, {.seed = seed}); }
  // The lines of the trace that say `what`, without the words before them but for the time.
  std::vector<std::string> times_of(const std::string& what, std::uint64_t seed = 1) const {
    std::vector<std::string> times;
    const auto listen = [&](std::string_view line) {
      if (line.ends_with(": " + what)) times.emplace_back(line.substr(0, line.find(' ')));
    };
    overdue::run(scenario, {.seed = seed, .trace = listen});
    return times;
  }
};

// Calls every `gap`, `count` of them.
inline std::vector<Duration> every(Duration gap, int count) {
  std::vector<Duration> at;
  for (int i = 0; i < count; ++i) at.push_back(gap * i);
  return at;
}

}  // namespace overdue
