#include <array>

#include "overdue/simulated/world.h"

// What the run yields, from the counts that its parts kept.

namespace overdue::world {
namespace {

constexpr std::array kQuantiles = {0.5, 0.9, 0.95, 0.99, 0.999};

double share(double part, double whole) { return whole > 0 ? part / whole : 0; }

std::optional<Duration> mean(Duration sum, std::uint64_t count) {
  if (count == 0) return std::nullopt;
  return sum / static_cast<std::int64_t>(count);
}

std::optional<Duration> value_at(const LatencyHistogram& values, Quantile q) {
  if (values.empty()) return std::nullopt;
  return values.value_at(q);
}

// The quantile of the answered at which the given rank lies. Requires: 1 <= rank <= count.
Quantile quantile_of_rank(std::uint64_t rank, std::uint64_t count) {
  __extension__ using Wide = unsigned __int128;
  return Quantile::from_parts(static_cast<std::int64_t>(
      static_cast<Wide>(rank) * static_cast<std::uint64_t>(Quantile::kScale) / count));
}

std::vector<LatencyQuantile> latencies(const LatencyHistogram& answered, const CallCounts& calls) {
  std::vector<LatencyQuantile> quantiles;
  const std::uint64_t ended = calls.total - calls.open;
  for (const double q : kQuantiles) {
    LatencyQuantile& at = quantiles.emplace_back();
    at.quantile = Quantile(q);
    at.answered = value_at(answered, at.quantile);
    if (ended == 0) continue;
    const std::uint64_t rank = rank_of(at.quantile, ended);
    if (rank <= calls.answered) at.all_calls = answered.value_at(quantile_of_rank(rank, calls.answered));
  }
  return quantiles;
}

bool is_empty(const TimelineRow& row) {
  return row.offered + row.goodput + row.rejected + row.unknown + row.attempts + row.timeouts + row.retries +
             row.executions + row.queue ==
         0;
}

void add(CallCounts& sum, const CallCounts& part) {
  sum.total += part.total;
  sum.answered += part.answered;
  sum.rejected += part.rejected;
  sum.not_sent += part.not_sent;
  sum.unknown += part.unknown;
  sum.open += part.open;
}

void add(LedgerCounts& sum, const LedgerCounts& part) {
  sum.intents += part.intents;
  sum.applied_once += part.applied_once;
  sum.duplicates += part.duplicates;
  sum.lost += part.lost;
  sum.timed_out_applied += part.timed_out_applied;
  sum.timed_out_not_applied += part.timed_out_not_applied;
  sum.executions += part.executions;
  sum.failed_applied += part.failed_applied;
}

}  // namespace

RunResult World::result() {
  RunResult result;
  // Until the end where there was still something to do, and not past it.
  const bool cut = !interrupted_ && !too_many_ && !stands_still_ && (open_sources_ > 0 || calls_.used() > 0);
  if (cut) now_ = end_;
  if (now_ >= second_ends_) turn_second();
  result.scenario = scenario_.name;
  result.seed = options_.seed;
  result.events = events_;
  result.ended_at = now_ - Instant{};
  result.interrupted = interrupted_;
  result.too_many = too_many_;
  result.stands_still = stands_still_;
  result.faults_end = faults_end_;
  result.fault_came = fault_came_;
  for (std::uint32_t i = 0; i < calls_.used_below(); ++i) {
    const Call& call = calls_[i];
    if (call.in_use && call.client != kNone) fold(call);
  }
  count_under_way();
  add_services(result);
  add_links(result);
  add_replicas(result);
  add_clients(result);
  add_writes(result);
  result.timeline = timeline_;
  result.timeline_row_seconds = 1U << row_bits_;
  while (!result.timeline.empty() && is_empty(result.timeline.back())) result.timeline.pop_back();
  result.hash = hash_ ^ (hash_ >> 32);
  return result;
}

void World::add_clients(RunResult& result) {
  LatencyHistogram answered;
  Duration answered_sum{};
  std::uint64_t attempts = 0;
  for (ClientState& client : clients_) {
    CallCounts& calls = client.result.calls;
    calls.open = calls.total - calls.answered - calls.rejected - calls.not_sent - calls.unknown;
    client.result.latency = latencies(client.answered, calls);
    client.result.latency_mean = mean(client.answered_sum, calls.answered);
    answered.merge(client.answered);
    answered_sum += client.answered_sum;
    add(result.calls, calls);
    add(result.ledger, client.result.ledger);
    result.clients.push_back(client.result);
  }
  for (const std::uint32_t channel : client_channels_) {
    attempts += channels_[channel]->attempts;
  }
  result.latency = latencies(answered, result.calls);
  result.latency_mean = mean(answered_sum, result.calls.answered);
  const auto total = static_cast<double>(result.calls.total);
  const Duration offered_for = std::min(scenario_.duration, end_ - Instant{});
  result.offered_per_second = share(total, std::chrono::duration<double>(offered_for).count());
  result.attempts_per_call = share(static_cast<double>(attempts), total);
  result.goodput = share(static_cast<double>(result.calls.answered),
                         static_cast<double>(result.calls.total - result.calls.open));
}

void World::add_links(RunResult& result) {
  for (const LinkState& link : links_) {
    LinkResult& row = result.links.emplace_back();
    row.name = link.link->name;
    row.answered = link.answered;
    row.false_timeouts = link.false_timeouts;
    row.connect_failures = link.connect_failure_count;
    row.connect_failure_median = value_at(link.connect_failures, Quantile(0.5));
  }
  for (const auto& place : channels_) {
    const Channel& channel = *place;
    LinkResult& row = result.links[channel.link];
    row.calls += channel.calls;
    row.attempts += channel.attempts;
    row.retries += channel.retries;
    row.retries_denied += channel.dependency.counts().retries_denied;
    row.questions += channel.questions;
    row.taken_over += channel.taken_over;
    row.ordered_again += channel.ordered_again;
    for (std::size_t i = 0; i < kEndingCount; ++i) row.endings[i] += channel.endings[i];
  }
  for (std::size_t i = 0; i < links_.size(); ++i) {
    LinkResult& row = result.links[i];
    row.open = links_[i].open;
    if (links_[i].link->pool) row.pool_wait_mean = mean(links_[i].pool_wait, row.attempts);
  }
}

// Worker time of all is summed in floating point: with 1e9 workers that of a minute is more than a Duration
// holds.
double WorldState::utilisation(const ServiceState& service, double busy_ns, double replicas) const {
  const auto passed = static_cast<double>((now_ - Instant{}).count());
  return share(busy_ns, passed * replicas * *service.said->workers);
}

// What is under way at the end: work counts as far as it has come.
void World::count_under_way() {
  for (std::uint32_t i = 0; i < attempts_.used_below(); ++i) {
    AttemptSlot& attempt = attempts_[i];
    if (!attempt.in_use) continue;
    if (attempt.awaited && !is_question(attempt)) ++attempt.channel->link_state->open;
    if (!is_at_work(attempt.phase)) continue;
    const auto spent = static_cast<double>((now_ - attempt.work.begun).count());
    ServiceState& service = service_of(attempt);
    service.under_way_ns += spent;
    attempt.replica->under_way_ns += spent;
    if (!original_of(attempt).awaited) service.under_way_wasted_ns += spent;
  }
}

void World::add_services(RunResult& result) {
  double busy = 0;
  double wasted = 0;
  std::uint64_t intents = 0;
  for (const ClientState& client : clients_) intents += client.result.ledger.intents;
  for (ServiceState& service : services_) {
    ServiceResult& row = service.result;
    const auto replicas = static_cast<double>(service.said->replicas.size());
    const double busy_here = static_cast<double>(service.busy_time.count()) + service.under_way_ns;
    const double wasted_here = static_cast<double>(service.wasted_time.count()) + service.under_way_wasted_ns;
    if (service.said->workers) row.utilisation = utilisation(service, busy_here, replicas);
    row.wasted_work = share(wasted_here, busy_here);
    row.executions_per_intent = share(static_cast<double>(row.executions), static_cast<double>(intents));
    row.wait_probability = share(static_cast<double>(service.waited), static_cast<double>(row.started));
    row.wait_mean = mean(service.wait, row.started);
    row.wait_p99 = value_at(service.waits, Quantile(0.99));
    row.response_mean = mean(service.response, service.finished);
    busy += busy_here;
    wasted += wasted_here;
    result.services.push_back(row);
  }
  result.wasted_work = share(wasted, busy);
}

void World::add_replicas(RunResult& result) {
  for (const ReplicaState& replica : replicas_) {
    const ServiceState& service = *replica.service;
    std::uint64_t attempts = 0;
    for (const ReplicaState& other : replicas_) {
      if (other.service == replica.service) attempts += other.attempts;
    }
    ReplicaResult& row = result.replicas.emplace_back();
    row.service = service.said->name;
    row.name = replica.name;
    if (replica.probes > 0) {
      row.probe_ok = replica.probe_ok;
      row.probe_pass_rate =
          share(static_cast<double>(replica.probes_passed), static_cast<double>(replica.probes));
    }
    row.median = value_at(replica.replies, Quantile(0.5));
    if (replica.ended > 0) {
      row.timeout_rate = share(static_cast<double>(replica.timeouts), static_cast<double>(replica.ended));
    }
    row.traffic_share = share(static_cast<double>(replica.attempts), static_cast<double>(attempts));
    row.attempts = replica.attempts;
    row.rejected = replica.rejected;
    const double busy = static_cast<double>(replica.busy_time.count()) + replica.under_way_ns;
    if (service.said->workers) row.utilisation = utilisation(service, busy, 1);
    row.queue_max = replica.queue_max;
  }
}

}  // namespace overdue::world
