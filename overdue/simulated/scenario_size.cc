// How much a scenario comes to, before it is run.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "overdue/base/quantity.h"
#include "overdue/simulated/run_result.h"
#include "overdue/simulated/scenario_read.h"

namespace overdue {
namespace {

constexpr double kCallsMax = 1e9;   // Many minutes, and what waits is kept in memory.
constexpr double kEventsMax = 1e8;  // Of one probe, pause or burst.
constexpr double kMeasuredNs = 1e6;
// History and ledger of a write with a journal are kept until the end, about 2 KB: 2 GB.
constexpr double kWritesMax = 1e6;

double nanoseconds(Duration value) { return static_cast<double>(value.count()); }

// About the mean, rather too short; what is measured is not read yet.
double typical_ns(const TimeDistribution& time) {
  if (const auto* constant = std::get_if<ConstantTime>(&time.kind)) return nanoseconds(constant->value);
  if (const auto* uniform = std::get_if<UniformTime>(&time.kind))
    return (nanoseconds(uniform->low) + nanoseconds(uniform->high)) / 2;
  if (const auto* exponential = std::get_if<ExponentialTime>(&time.kind))
    return nanoseconds(exponential->mean);
  if (const auto* lognormal = std::get_if<LognormalTime>(&time.kind)) return nanoseconds(lognormal->median);
  if (const auto* pareto = std::get_if<ParetoTime>(&time.kind)) return nanoseconds(pareto->scale);
  if (const auto* mixture = std::get_if<MixtureTime>(&time.kind)) {
    double sum = 0;
    for (std::size_t i = 0; i < mixture->parts.size(); ++i)
      sum += mixture->shares[i] * typical_ns(mixture->parts[i]);
    return sum;
  }
  return kMeasuredNs;
}

// Calls of a rate with changes, between two offsets.
double open_calls(const OpenArrivals& open, double from, double to) {
  double calls = 0;
  double at = 0;
  double rate = open.per_second / 1e9;
  // A straight piece from `at` to `end`, of which [from, to) counts.
  const auto add = [&](double end, double end_rate) {
    const double left = std::max(at, from);
    const double right = std::min(end, to);
    if (right > left) {
      const double slope = end > at ? (end_rate - rate) / (end - at) : 0;
      calls += (right - left) * (rate + slope * ((left + right) / 2 - at));
    }
    at = end;
    rate = end_rate;
  };
  for (const RateChange& change : open.changes) {
    add(nanoseconds(change.at), rate);
    rate = change.over.count() == 0 ? change.per_second / 1e9 : rate;
    add(nanoseconds(change.at) + nanoseconds(change.over), change.per_second / 1e9);
  }
  add(std::max(at, to), rate);
  return calls;
}

// Users call again as soon as they were answered and have thought; a service with an endless queue gives no
// more answers than its workers make.
double closed_calls(const Scenario& scenario, const Client& client, const ClosedArrivals& closed,
                    double window) {
  double cycle = typical_ns(closed.think);
  double answers = INFINITY;
  const auto link = std::ranges::find(scenario.links, client.calls, &Link::name);
  if (link != scenario.links.end()) {
    const auto network = std::ranges::find(scenario.networks, link->network, &Network::name);
    if (network != scenario.networks.end())
      cycle += typical_ns(network->request.delay) + typical_ns(network->reply.delay);
    const auto service = std::ranges::find(scenario.services, link->service, &Service::name);
    if (service != scenario.services.end()) {
      const double time = typical_ns(service->service_time);
      cycle += time;
      if (service->workers && !service->queue_max)
        answers = window / time * *service->workers * static_cast<double>(service->replicas.size());
    }
  }
  return std::min(closed.users * window / cycle, answers);
}

// Expected of it in the run.
double calls_of(const Scenario& scenario, const Client& client) {
  const double from = nanoseconds(client.from);
  const double to = nanoseconds(std::min(client.to.value_or(scenario.duration), scenario.duration));
  if (const auto* open = std::get_if<OpenArrivals>(&client.arrivals)) return open_calls(*open, from, to);
  if (const auto* closed = std::get_if<ClosedArrivals>(&client.arrivals))
    return closed_calls(scenario, client, *closed, std::max(0.0, to - from));
  return 0;
}

// Adds `calls` to the sum; the client that takes it above `most` is at fault, and told so once.
void check_sum(const Client& client, double calls, double& sum, double most, std::string_view what,
               ScenarioFaults& faults) {
  const bool open = std::holds_alternative<OpenArrivals>(client.arrivals);
  const bool before = sum > most;
  sum += calls;
  if (before || !(sum > most)) return;
  if (std::isinf(sum)) {
    faults.add(client.line, fmt::format("client.{}.users", client.name),
               "call without end: neither a think nor a service time nor a delay takes any time");
    return;
  }
  faults.add(
      client.line, fmt::format("client.{}.{}", client.name, open ? "rate" : "users"),
      fmt::format("makes {:.2g} {} in the run, and {:.0e} are the most: write {}, or a shorter duration", sum,
                  what, most, open ? "a lower rate" : "fewer users, or a longer think"));
}

// Of the client's calls, about how many are under way at once towards the end, rather too few: without limits
// on the work as many as begin while one is worked on, else those that wait. Work whose caller has left is
// still done, unless its server looks for that.
double held_at_once(const Scenario& scenario, const Client& client, double calls) {
  const auto link = std::ranges::find(scenario.links, client.calls, &Link::name);
  if (link == scenario.links.end()) return 0;
  const auto service = std::ranges::find(scenario.services, link->service, &Service::name);
  const auto network = std::ranges::find(scenario.networks, link->network, &Network::name);
  if (service == scenario.services.end() || network == scenario.networks.end()) return 0;
  if (service->cancel_checks || service->refuses_expired || link->pool) return 0;
  const double window = nanoseconds(std::min(client.to.value_or(scenario.duration), scenario.duration)) -
                        nanoseconds(client.from);
  const double arrive = calls * (1 - network->request.loss.value());
  const double time = typical_ns(service->service_time);
  if (!service->workers) return arrive * std::min(1.0, time / window);
  if (service->queue_max || time <= 0) return 0;
  return arrive - window / time * *service->workers * static_cast<double>(service->replicas.size());
}

void check_held(const Scenario& scenario, const Client& client, double calls, double& sum,
                ScenarioFaults& faults) {
  if (!std::holds_alternative<OpenArrivals>(client.arrivals)) return;  // Users wait for each other.
  const bool before = sum > kInUseMax;
  sum += std::max(held_at_once(scenario, client, calls), 0.0);
  if (before || !(sum > kInUseMax)) return;
  faults.add(
      client.line, fmt::format("client.{}.rate", client.name),
      fmt::format(
          "has about {:.2g} calls under way at once, and that does not fit into memory: {} are the most; "
          "write a lower rate, a shorter duration or service time, or workers with a queue that has a max",
          sum, format_count(kInUseMax)));
}

void check_users(const Scenario& scenario, ScenarioFaults& faults) {
  std::uint64_t users = 0;
  for (const Client& client : scenario.clients) {
    const auto* closed = std::get_if<ClosedArrivals>(&client.arrivals);
    if (closed == nullptr) continue;
    users += closed->users;
    if (users <= kInUseMax) continue;
    return faults.add(client.line, fmt::format("client.{}.users", client.name),
                      fmt::format("makes {} users in all, and {} are the most", format_count(users),
                                  format_count(kInUseMax)));
  }
}

void check_often(ScenarioFaults& faults, const std::string& key, Duration every, const Scenario& scenario,
                 std::size_t times = 1) {
  const double count = nanoseconds(scenario.until) / nanoseconds(every) * static_cast<double>(times);
  if (count <= kEventsMax) return;
  faults.add_of_whole(
      key,
      fmt::format("= {} is {:.3g} times in {}, and {:.0e} are the most: write a longer one, or a shorter run",
                  format_duration_exact(every), count, format_duration_exact(scenario.until), kEventsMax));
}

}  // namespace

void check_size(const Scenario& scenario, ScenarioFaults& faults) {
  double all = 0;
  double journalled = 0;
  double held = 0;
  check_users(scenario, faults);
  for (const Client& client : scenario.clients) {
    const double calls = calls_of(scenario, client);
    check_sum(client, calls, all, kCallsMax, "calls", faults);
    if (!(all > kCallsMax)) check_held(scenario, client, calls, held, faults);
    if (client.journal && !(all > kCallsMax))
      check_sum(client, calls, journalled, kWritesMax, "writes with a journal", faults);
  }
  for (const Service& service : scenario.services) {
    if (service.probe)
      check_often(faults, fmt::format("service.{}.probe.every", service.name), service.probe->every, scenario,
                  service.replicas.size());
    if (service.pauses)
      check_often(faults, fmt::format("service.{}.pauses.every", service.name), service.pauses->every,
                  scenario, service.pauses->whole_service ? 1 : service.replicas.size());
  }
  for (const Network& network : scenario.networks) {
    for (const auto& [name, way] :
         {std::pair("request", &network.request), std::pair("reply", &network.reply)}) {
      if (way->burst_every && way->burst_lasts)
        check_often(faults, fmt::format("network.{}.{}.burst.every", network.name, name),
                    saturating_add(Instant{} + *way->burst_every, *way->burst_lasts) - Instant{}, scenario);
    }
  }
}

}  // namespace overdue
