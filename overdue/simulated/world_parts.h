#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "overdue/base/random.h"
#include "overdue/base/time.h"
#include "overdue/call/dependency.h"
#include "overdue/latency/duration_draw.h"
#include "overdue/latency/histogram.h"
#include "overdue/simulated/rate_curve.h"
#include "overdue/simulated/run_result.h"
#include "overdue/simulated/scenario.h"
#include "overdue/simulated/world_bursts.h"
#include "overdue/simulated/world_slots.h"

// What a world is built of: the scenario's parts with their state, their random streams and their counts.

namespace overdue::world {

struct ServiceState;

// Attempts that wait in line.
struct Line {
  std::uint32_t first = kNone;
  std::uint32_t last = kNone;
  std::uint32_t length = 0;
};

// One direction of a link.
struct WayState {
  DurationDraw delay;
  double loss = 0;
  double duplication = 0;
  double burst_loss = 0;
  Bursts* bursts = nullptr;  // The network's.
  std::uint32_t partitions = 0;
  std::vector<double> fault_losses;
  bool instant = false;  // is_instant(), at hand.

  // Nothing happens to a message now, and it takes no time.
  bool is_instant() const {
    return delay.always_zero() && loss == 0 && duplication == 0 && bursts == nullptr && partitions == 0 &&
           fault_losses.empty();
  }
};

struct LinkState {
  const Link* link = nullptr;
  const Network* network = nullptr;
  ServiceState* service = nullptr;
  WayState request;
  WayState reply;
  ReplicaState* first_replica = nullptr;  // Of the service; the others lie beside it.
  bool tells_deadlines = false;           // The service has a use for them.
  bool always_connected = false;          // No pool and no connect phase.
  bool repeats = false;                   // Something on the way may repeat a request.
  std::uint64_t answered = 0, false_timeouts = 0;
  LatencyHistogram connect_failures;
  std::uint64_t connect_failure_count = 0;
  Duration pool_wait{};
  std::uint64_t open = 0;      // At the end: attempts that are waited for.
  DurationDraw repeats_after;  // By something on the way.
};

// A caller's connections to one replica.
struct Connections {
  std::uint32_t open = 0;     // In use, idle or being made.
  std::vector<Instant> idle;  // Since when; the latest last.
  Line waiting;               // Those who have left are still in it,
  std::uint32_t patient = 0;  // and not among these.
};

// One process that calls over one link: its Dependency, and what it knows of the replicas.
struct Channel {
  Channel(const CallPolicy& policy, std::uint64_t seed, std::uint64_t entity, std::size_t replicas)
      : dependency(policy, Instant{}), random(seed, entity), in_flight(replicas), connections(replicas) {}

  Dependency dependency;
  Random random;
  std::uint32_t number = kNone;
  std::uint32_t link = kNone;
  LinkState* link_state = nullptr;
  std::uint32_t turn = 0;  // Round robin.
  std::uint64_t calls = 0;
  std::uint64_t attempts = 0;
  std::uint64_t retries = 0;  // Begun; the dependency counts those granted, of which some end in their wait.
  std::array<std::uint64_t, kEndingCount> endings{};  // Of those attempts, past a write's deadline too.
  std::vector<std::uint32_t> in_flight;
  std::vector<Connections> connections;
  std::uint64_t questions = 0, taken_over = 0, ordered_again = 0;  // As in LinkResult.
};

// Time that stood still, for work that is to go on afterwards.
struct Standstill {
  std::uint32_t causes = 0;
  Instant since{};
  Duration before{};
  Duration total(Instant now) const { return causes > 0 ? before + (now - since) : before; }
};

struct ReplicaState {
  ServiceState* service = nullptr;
  std::uint32_t number = kNone;  // Of all services' replicas.
  std::uint32_t place = kNone;   // Among its service's.
  std::string name;
  Random random{0};
  std::uint32_t workers = kNone;  // kNone: without bound.
  std::uint32_t busy = 0;
  std::uint64_t begun_ns = 0;  // Sum over the work there of when it began, modulo 2^64.
  Line queue;
  bool up = true;
  bool dead = false;
  std::uint32_t broken = 0;  // Half-broken by so many faults.
  double slow = 1;
  Standstill standstill;
  std::vector<std::uint32_t> stalled;  // Attempts whose step ended while the replica stood still.
  std::uint32_t pause = kNone;         // Its source of pauses.
  std::vector<Channel*> channels;      // For each link its service calls, in LinkState's order; or none.

  LatencyHistogram replies;
  std::uint64_t attempts = 0;
  std::uint64_t ended = 0;
  std::uint64_t timeouts = 0;
  std::uint64_t rejected = 0;
  std::uint32_t queue_max = 0;
  Duration busy_time{};
  double under_way_ns = 0;  // At the end: of work that goes on.
  std::uint64_t probes = 0;
  std::uint64_t probes_passed = 0;
  bool probe_ok = false;
};

// Spells of one replica or of all of a service's.
struct PauseSource {
  Random random{0};
  DurationDraw gap;  // Between one and the next.
  DurationDraw lasts;
  DurationDraw service_time;  // In a spell, where it does not stand still.
  bool stands_still = true;
  bool on = false;
};

struct ServiceState {
  const Service* said = nullptr;
  std::uint32_t number = kNone;
  std::uint32_t first_replica = 0;  // Of all services' replicas.
  DurationDraw service_time;
  DurationDraw lock_hold;
  DurationDraw commit_to_reply;
  Line lock_waiting;
  std::uint32_t lock_holder = kNone;
  std::vector<std::vector<std::uint32_t>> calls;  // Links, group after group.
  Random probe_random{0};
  ServiceResult result;
  LatencyHistogram waits;
  std::uint64_t waited = 0;
  Duration wait{};
  Duration response{};
  std::uint64_t finished = 0;
  Duration busy_time{};
  Duration wasted_time{};
  double under_way_ns = 0;  // At the end: of work that goes on, beside the two above.
  double under_way_wasted_ns = 0;
  std::uint32_t queue = 0;
};

// One process of a client, or all users of one.
struct Source {
  Random random{0};
  std::uint32_t client = kNone;
  std::uint32_t channel = kNone;
  std::size_t next = 0;  // Recorded arrivals.
  bool done = false;
};

struct ClientState {
  const Client* client = nullptr;
  const ServiceState* ledger_service = nullptr;
  Instant from{};
  Instant to{};
  RateCurve rate;
  DurationDraw think;
  std::vector<std::uint32_t> sources;
  ClientResult result;
  LatencyHistogram answered;
  Duration answered_sum{};
};

}  // namespace overdue::world
