// How much a scenario comes to, before it is run.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "overdue/base/quantity.h"
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
  for (const Client& client : scenario.clients) {
    const double calls = calls_of(scenario, client);
    check_sum(client, calls, all, kCallsMax, "calls", faults);
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
                    *way->burst_every + *way->burst_lasts, scenario);
    }
  }
}

}  // namespace overdue
