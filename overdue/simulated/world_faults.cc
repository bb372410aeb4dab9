#include "overdue/fault/decision.h"
#include "overdue/simulated/world.h"

// What goes wrong on purpose, and what goes wrong by itself.

namespace overdue::world {

void World::on_fault(std::uint32_t index, bool begins) {
  const Fault& fault = scenario_.faults[index];
  fault_on_[index] = begins;
  fault_came_ = true;
  if (traced_) [[unlikely]]
    trace_part(!fault.service.empty() ? fault.service
               : !fault.link.empty()  ? fault.link
                                      : fault.client,
               begins ? "fault begins" : "fault ends");
  if (fault.kind == FaultKind::partition || fault.kind == FaultKind::loss) {
    // Over what nobody calls nothing travels.
    const std::uint32_t link = link_named_or_none(fault.link);
    if (link != kNone) apply(fault, links_[link], begins);
    return;
  }
  if (fault.kind == FaultKind::client_crash || fault.kind == FaultKind::takeover) {
    const std::uint32_t client = client_named(fault.client);
    return fault.kind == FaultKind::takeover ? take_over(client) : crash_client(client, fault.restart_after);
  }
  const std::uint32_t service = service_named(fault.service);
  if (fault.kind == FaultKind::failover) return fail_over(service);
  for (ReplicaState& replica : replicas_) {
    if (replica.service->number != service) continue;
    if (!fault.replica || replica.name == *fault.replica) apply(fault, replica, begins);
  }
}

void World::apply(const Fault& fault, LinkState& link, bool begins) {
  WayState& way = fault.way == Way::request ? link.request : link.reply;
  if (fault.kind == FaultKind::partition) {
    way.partitions += begins ? 1U : ~0U;
  } else if (begins) {
    way.fault_losses.push_back(fault.probability.value());
  } else {
    way.fault_losses.erase(std::ranges::find(way.fault_losses, fault.probability.value()));
  }
  way.instant = way.is_instant();
}

void World::apply(const Fault& fault, ReplicaState& replica, bool begins) {
  switch (fault.kind) {
    case FaultKind::slow:
    case FaultKind::half_broken:
      if (fault.kind == FaultKind::half_broken) replica.broken += begins ? 1U : ~0U;
      // From all that are on: dividing again would leave a rounding error behind.
      replica.slow = 1;
      for (std::size_t i = 0; i < scenario_.faults.size(); ++i) {
        const Fault& other = scenario_.faults[i];
        const bool same = other.service == replica.service->said->name &&
                          (!other.replica || *other.replica == replica.name);
        const bool slows = other.kind == FaultKind::slow || other.kind == FaultKind::half_broken;
        if (fault_on_[i] && same && slows) replica.slow *= other.factor;
      }
      break;
    case FaultKind::pause:
      stand_still(replica, begins);
      break;
    case FaultKind::crash:
    case FaultKind::dead:
      if (fault.crash_point) break;  // Strikes at requests, while it is on.
      if (begins) {
        crash(replica, fault.kind == FaultKind::dead);
      } else {
        restart(replica);
      }
      break;
    default:
      OVERDUE_CHECK(false);
  }
}

void World::stand_still(ReplicaState& replica, bool begins) {
  Standstill& still = replica.standstill;
  if (begins) {
    if (still.causes++ == 0) still.since = now_;
    return;
  }
  if (--still.causes > 0) return;
  still.before += now_ - still.since;
  const std::vector<std::uint32_t> stalled = std::exchange(replica.stalled, {});
  for (const std::uint32_t index : stalled) {
    AttemptSlot& attempt = attempts_[index];
    step_after(index, attempt, attempt.work.paused, attempt.phase);
  }
  take_next(replica);
}

// The process ends: its callers hear a reset, or nothing where its host is gone too.
void World::crash(ReplicaState& replica, bool silently) {
  if (!replica.up) {
    replica.dead = replica.dead || silently;
    return;
  }
  if (traced_) [[unlikely]]
    trace_part(replica.name, silently ? "is dead" : "crashes");
  replica.up = false;
  replica.dead = silently;
  ServiceState& service = *replica.service;
  service.queue -= replica.queue.length;
  queued_ -= replica.queue.length;
  replica.queue = Line{};
  std::vector<std::uint32_t> held;
  for (std::uint32_t i = 0; i < attempts_.made(); ++i) {
    const AttemptSlot& attempt = attempts_[i];
    if (attempt.in_use && attempt.replica == &replica && attempt.phase != Phase::away) held.push_back(i);
  }
  for (const std::uint32_t index : held) {
    AttemptSlot& attempt = attempts_[index];
    if (is_at_work(attempt.phase)) {
      stop_work(index, attempt);
      end_work(index, attempt);
    }
    std::erase(replica.stalled, index);  // A question takes no worker, and stood still all the same.
    attempt.work.step = 0;
    attempt.phase = Phase::away;
  }
  for (const std::uint32_t index : held) {
    if (silently) {
      release_attempt(index);
    } else {
      answer(index, attempts_[index], Ending::reset, 0, false);
    }
  }
  forget_connections(replica);
}

void World::restart(ReplicaState& replica) {
  if (traced_) [[unlikely]]
    trace_part(replica.name, "is back");
  if (replica.dead) forget_connections(replica);
  replica.up = true;
  replica.dead = false;
}

void World::crash_and_restart(ReplicaState& replica, Duration restart_after) {
  crash(replica, false);
  push(saturating_add(now_, restart_after), Kind::restart, replica.number);
}

// The fault that crashes the replica at this point of this attempt's work, if one does.
const Fault* WorldState::crash_at(const AttemptSlot& attempt, CrashPoint point) const {
  const ReplicaState& replica = *attempt.replica;
  for (std::size_t i = 0; i < scenario_.faults.size(); ++i) {
    const Fault& fault = scenario_.faults[i];
    if (!fault_on_[i] || fault.kind != FaultKind::crash || fault.crash_point != point) continue;
    if (fault.service != replica.service->said->name) continue;
    if (fault.replica && *fault.replica != replica.name) continue;
    const FaultSubject subject{.seed = options_.seed,
                               .request_key = calls_[attempt.call].key,
                               .fault = i,
                               .attempt = static_cast<std::uint64_t>(attempt.number)};
    if (fault_strikes(subject, fault.probability)) return &fault;
  }
  return nullptr;
}

// True where the replica crashed, with the attempt's work.
bool World::crash_strikes(const AttemptSlot& attempt, CrashPoint point) {
  const Fault* const fault = crash_at(attempt, point);
  if (fault != nullptr) crash_and_restart(*attempt.replica, fault->restart_after);
  return fault != nullptr;
}

void World::on_pause(std::uint32_t index) {
  PauseSource& source = pauses_[index];
  source.on = !source.on;
  const Duration gap = source.gap.draw(source.random);
  const Duration length = source.on ? source.lasts.draw(source.random) : gap;
  push(now_ + length, Kind::pause, index);
  if (!source.stands_still) return;
  for (ReplicaState& replica : replicas_) {
    if (replica.pause == index) stand_still(replica, source.on);
  }
}

// What a health check sees of the replica now: it does not wait in line, and no network lies between.
void World::on_probe(ReplicaState& replica) {
  ServiceState& service = *replica.service;
  const ServiceProbe& probe = *service.said->probe;
  push(now_ + probe.every, Kind::probe, replica.number);
  bool passes = replica.up && replica.standstill.causes == 0;
  if (probe.kind == ProbeKind::deep) {
    const auto drawn = static_cast<double>(service.service_time.draw(service.probe_random).count());
    passes =
        passes && replica.broken == 0 && drawn * replica.slow <= static_cast<double>(probe.timeout.count());
  }
  ++replica.probes;
  if (passes) ++replica.probes_passed;
  replica.probe_ok = passes;
}

}  // namespace overdue::world
