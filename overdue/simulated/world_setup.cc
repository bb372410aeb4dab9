#include <algorithm>
#include <string>

#include "overdue/fault/decision.h"
#include "overdue/policy/call_policy_of.h"
#include "overdue/policy/write_terms_of.h"
#include "overdue/simulated/time_draw.h"
#include "overdue/simulated/world.h"

// From what a scenario says to the parts of a world. Every part's random stream is named after it, so that
// one more client or service changes nothing for the others.

namespace overdue::world {
namespace {

// FNV-1a, over parts that cannot run into each other.
template <typename... Parts>
std::uint64_t entity(const Parts&... parts) {
  std::uint64_t hash = 0xcbf29ce484222325U;
  const auto add = [&hash](std::string_view text) {
    for (const char letter : text) hash = (hash ^ static_cast<unsigned char>(letter)) * 0x100000001b3U;
    hash = (hash ^ 0xffU) * 0x100000001b3U;
  };
  (add(parts), ...);
  return hash;
}

template <typename Part, typename Name>
std::uint32_t place_of(const std::vector<Part>& parts, Name name, std::string_view wanted) {
  for (std::uint32_t i = 0; i < parts.size(); ++i) {
    if (name(parts[i]) == wanted) return i;
  }
  return kNone;
}

double mean_ns(const std::optional<Duration>& mean) { return static_cast<double>(mean->count()); }

}  // namespace

std::uint32_t WorldState::link_named_or_none(std::string_view name) const {
  return place_of(links_, [](const LinkState& link) -> std::string_view { return link.link->name; }, name);
}

std::uint32_t WorldState::link_named(std::string_view name) const {
  const std::uint32_t place = link_named_or_none(name);
  OVERDUE_CHECK(place != kNone);
  return place;
}

std::uint32_t WorldState::service_named(std::string_view name) const {
  const std::uint32_t place = place_of(
      services_, [](const ServiceState& service) -> std::string_view { return service.said->name; }, name);
  OVERDUE_CHECK(place != kNone);
  return place;
}

std::uint32_t WorldState::client_named(std::string_view name) const {
  const std::uint32_t place = place_of(
      clients_, [](const ClientState& client) -> std::string_view { return client.client->name; }, name);
  OVERDUE_CHECK(place != kNone);
  return place;
}

void World::set_up_services() {
  // All that refer to one do so by its address.
  services_.reserve(scenario_.services.size());
  std::size_t replicas = 0;
  for (const Service& said : scenario_.services) replicas += said.replicas.size();
  replicas_.reserve(replicas);
  for (const Service& said : scenario_.services) {
    ServiceState& service = services_.emplace_back();
    service.said = &said;
    service.number = static_cast<std::uint32_t>(services_.size() - 1);
    service.first_replica = static_cast<std::uint32_t>(replicas_.size());
    service.service_time = draw_of(said.service_time);
    if (said.lock) service.lock_hold = draw_of(said.lock->hold);
    if (said.commit_to_reply) service.commit_to_reply = draw_of(*said.commit_to_reply);
    service.probe_random = Random(options_.seed, entity("probe", said.name));
    service.result.name = said.name;
    for (const std::string& name : said.replicas) {
      ReplicaState& replica = replicas_.emplace_back();
      replica.service = &service;
      replica.number = static_cast<std::uint32_t>(replicas_.size() - 1);
      replica.place = replica.number - service.first_replica;
      replica.name = name;
      replica.random = Random(options_.seed, entity("replica", said.name, name));
      replica.workers = said.workers.value_or(kNone);
      if (said.probe) push(Instant{} + said.probe->every, Kind::probe, replica.number);
    }
  }
}

void World::set_up_links() {
  // One bit of a call for each link (Call::remembered).
  OVERDUE_CHECK(scenario_.links.size() <= 64);
  std::vector<std::pair<Bursts*, Bursts*>> bursts;
  for (const Network& network : scenario_.networks) {
    const auto made = [&](const Direction& way, std::string_view name) -> Bursts* {
      if (!way.burst_every || !way.burst_lasts) return nullptr;
      return &bursts_.emplace_back(Random(options_.seed, entity("bursts", network.name, name)),
                                   mean_ns(way.burst_every), mean_ns(way.burst_lasts));
    };
    bursts.emplace_back(made(network.request, "request"), made(network.reply, "reply"));
  }
  for (const Link& said : scenario_.links) {
    LinkState link{.link = &said};
    const std::uint32_t network = place_of(
        scenario_.networks, [](const Network& part) -> std::string_view { return part.name; }, said.network);
    OVERDUE_CHECK(network != kNone);
    link.network = &scenario_.networks[network];
    link.service = &services_[service_named(said.service)];
    const Service& service = *link.service->said;
    link.first_replica = &replicas_[link.service->first_replica];
    link.always_connected = !said.pool && !link.network->connect;
    link.repeats = said.repeats.has_value();
    link.tells_deadlines = service.refuses_expired || service.passes_deadline_on || service.sheds_late;
    const auto way = [](const Direction& direction, Bursts* of_network) {
      WayState state{.delay = draw_of(direction.delay),
                     .loss = direction.loss.value(),
                     .duplication = direction.duplication.value(),
                     .burst_loss = direction.burst_loss.value(),
                     .bursts = of_network};
      state.instant = state.is_instant();
      return state;
    };
    link.request = way(link.network->request, bursts[network].first);
    link.reply = way(link.network->reply, bursts[network].second);
    if (said.repeats) link.repeats_after = draw_of(said.repeats->after);
    links_.push_back(std::move(link));
  }
  for (ServiceState& service : services_) {
    for (const std::vector<std::string>& group : service.said->calls) {
      OVERDUE_CHECK(group.size() < 256 && service.calls.size() < 255);
      std::vector<std::uint32_t>& links = service.calls.emplace_back();
      for (const std::string& name : group) links.push_back(link_named(name));
    }
  }
  for (ReplicaState& replica : replicas_) {
    replica.channels.assign(links_.size(), nullptr);
    const ServiceState& service = *replica.service;
    for (const std::vector<std::uint32_t>& group : service.calls) {
      for (const std::uint32_t link : group) {
        if (replica.channels[link] != nullptr) continue;
        replica.channels[link] = channels_[add_channel(link, service.said->name + "/" + replica.name)].get();
      }
    }
  }
}

std::uint32_t World::add_channel(std::uint32_t link, std::string_view owner) {
  const Link& said = *links_[link].link;
  const DependencyPolicy* policy = scenario_.policy.find(said.name);
  OVERDUE_CHECK(policy != nullptr);
  const Result<CallPolicy> call_policy = call_policy_of(*policy);
  OVERDUE_CHECK(call_policy.has_value());
  channels_.push_back(std::make_unique<Channel>(*call_policy, options_.seed,
                                                entity("channel", owner, said.name),
                                                links_[link].service->said->replicas.size()));
  channels_.back()->number = static_cast<std::uint32_t>(channels_.size() - 1);
  channels_.back()->link = link;
  channels_.back()->link_state = &links_[link];  // All are there by now.
  return static_cast<std::uint32_t>(channels_.size() - 1);
}

void World::set_up_pauses() {
  for (std::uint32_t i = 0; i < replicas_.size(); ++i) {
    const Service& said = *replicas_[i].service->said;
    if (!said.pauses) continue;
    const bool first = replicas_[i].place == 0;
    if (!said.pauses->whole_service || first) {
      PauseSource source{.random = Random(options_.seed, entity("pauses", said.name, replicas_[i].name))};
      source.gap = DurationDraw::exponential(said.pauses->every);
      source.lasts = draw_of(said.pauses->lasts);
      source.stands_still = !said.pauses->service_time;
      if (said.pauses->service_time) source.service_time = draw_of(*said.pauses->service_time);
      push(Instant{} + source.gap.draw(source.random), Kind::pause,
           static_cast<std::uint32_t>(pauses_.size()));
      pauses_.push_back(std::move(source));
    }
    replicas_[i].pause = static_cast<std::uint32_t>(pauses_.size() - 1);
  }
}

void World::set_up_clients() {
  for (const Client& said : scenario_.clients) {
    ClientState client{.client = &said};
    client.ledger_service = &services_[service_named(said.ledger_at)];
    client.from = Instant{} + said.from;
    client.to = Instant{} + std::min(said.to.value_or(scenario_.duration), scenario_.duration);
    client.result.name = said.name;
    const auto number = static_cast<std::uint32_t>(clients_.size());
    const std::uint32_t link = link_named(said.calls);
    std::vector<std::uint32_t> channels;
    for (std::uint32_t i = 0; i < said.instances; ++i) {
      channels.push_back(add_channel(link, said.name + "#" + std::to_string(i)));
      client_channels_.push_back(channels.back());
    }
    const auto add_source = [&](std::uint32_t instance) {
      sources_.push_back(
          {.random = Random(options_.seed, entity("arrivals", said.name, std::to_string(instance))),
           .client = number,
           .channel = channels[instance]});
      return static_cast<std::uint32_t>(sources_.size() - 1);
    };
    if (const auto* open = std::get_if<OpenArrivals>(&said.arrivals)) {
      client.rate = RateCurve(*open, 1.0 / said.instances);
    } else if (const auto* closed = std::get_if<ClosedArrivals>(&said.arrivals)) {
      client.think = draw_of(closed->think);
    }
    clients_.push_back(std::move(client));
    if (const auto* closed = std::get_if<ClosedArrivals>(&said.arrivals)) {
      std::vector<std::uint32_t> sources;
      for (std::uint32_t i = 0; i < said.instances; ++i) sources.push_back(add_source(i));
      for (std::uint32_t user = 0; user < closed->users; ++user) {
        Source& source = sources_[sources[user % said.instances]];
        users_.push_back(sources[user % said.instances]);
        push(clients_.back().from + clients_.back().think.draw(source.random), Kind::user,
             static_cast<std::uint32_t>(users_.size() - 1));
        ++open_sources_;
      }
    } else if (const auto* recorded = std::get_if<RecordedArrivals>(&said.arrivals)) {
      const std::uint32_t source = add_source(0);
      ++open_sources_;
      sources_[source].next =
          static_cast<std::size_t>(std::ranges::lower_bound(recorded->at, said.from) - recorded->at.begin());
      schedule_arrival(sources_[source], source);
    } else {
      for (std::uint32_t i = 0; i < said.instances; ++i) {
        const std::uint32_t source = add_source(i);
        ++open_sources_;
        schedule_arrival(sources_[source], source);
      }
    }
  }
}

void World::set_up_writes() {
  const bool any_journal =
      std::ranges::any_of(scenario_.clients, [](const Client& client) { return client.journal.has_value(); });
  const bool any_store = std::ranges::any_of(
      scenario_.services, [](const Service& service) { return service.store.has_value(); });
  if (!any_journal && !any_store) return;
  writes_ = std::make_unique<WriteWorld>();
  std::size_t first_channel = 0;
  for (const Client& said : scenario_.clients) {
    JournalState& journal = writes_->journals.emplace_back();
    const auto channels = client_channels_.begin() + static_cast<std::ptrdiff_t>(first_channel);
    first_channel += said.instances;
    if (!said.journal) continue;
    const DependencyPolicy& policy = *scenario_.policy.find(said.calls);
    journal.said = &*said.journal;
    journal.terms = write_terms_of(policy);
    journal.last_send = policy.write.last_send.value_or(std::chrono::hours(1));
    journal.persist = draw_of(said.journal->persist);
    journal.random = Random(options_.seed, entity("journal", said.name));
    journal.channels.assign(channels, channels + said.instances);
    for (std::uint32_t i = 0; i < said.instances; ++i) journal.processes.push_back(++writes_->processes);
  }
  for (const Service& said : scenario_.services) {
    StoreState& store = writes_->stores.emplace_back();
    if (!said.store) continue;
    store.said = &*said.store;
    store.records = MemoryIdempotencyStore(said.store->durable_after.has_value());
    store.answers = draw_of(said.store->answers);
    if (said.store->replica_lag) store.replica_lag = draw_of(*said.store->replica_lag);
    if (said.store->durable_after) store.durable_after = draw_of(*said.store->durable_after);
    store.random = Random(options_.seed, entity("store", said.name));
  }
  forget_from_now_on();
}

void World::set_up_faults() {
  fault_on_.assign(scenario_.faults.size(), false);
  bool all_end = true;
  for (std::uint32_t i = 0; i < scenario_.faults.size(); ++i) {
    const Fault& fault = scenario_.faults[i];
    Duration at = fault.at;
    if (fault.drawn) {
      if (!fault_strikes({.seed = options_.seed, .fault = i}, *fault.drawn)) continue;
      Random random(options_.seed, entity("fault", std::to_string(i)));
      const auto room = static_cast<double>((fault.at_latest - fault.at).count());
      if (room > 0) at += Duration(static_cast<std::int64_t>(room * random.uniform()));
    }
    crashes_drawn_ = crashes_drawn_ || fault.crash_point.has_value();
    const Instant begins = Instant{} + at;
    push(begins, Kind::fault_begins, i);
    if (!fault.lasts) {
      all_end = false;
      continue;
    }
    const Instant ends = saturating_add(begins, *fault.lasts);
    push(ends, Kind::fault_ends, i);
    const Instant back = fault.crash_point ? saturating_add(ends, fault.restart_after) : ends;
    const Duration over = back - Instant{};
    faults_end_ = std::max(faults_end_.value_or(over), over);
  }
  if (!all_end) faults_end_.reset();
}

}  // namespace overdue::world
