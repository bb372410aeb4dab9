#include "overdue/simulated/world.h"

// Connections: kept in a pool, made for the attempt, or always there.

namespace overdue::world {

// Whether a connection that was used last then is open for its caller: it closes those that are idle for too
// long, and the news that the server did takes the way back.
bool WorldState::is_open(Channel& channel, Instant since) {
  const LinkState& link = *channel.link_state;
  const auto& idle_max = link.link->pool->idle_max;
  if (idle_max && now_ - since > *idle_max) return false;
  const auto& keep_alive = link.service->said->keep_alive;
  if (!keep_alive || now_ < saturating_add(since, *keep_alive)) return true;
  return now_ < saturating_add(since, *keep_alive) + link.reply.delay.draw(channel.random);
}

// Whether the server has closed it by the time that a request sent now is there.
bool WorldState::meets_closed(Channel& channel, Instant since) {
  const LinkState& link = *channel.link_state;
  const auto& keep_alive = link.service->said->keep_alive;
  return keep_alive && now_ + link.request.delay.draw(channel.random) >= saturating_add(since, *keep_alive);
}

// True where the attempt is connected at once.
bool World::acquire_connection(std::uint32_t index, AttemptSlot& attempt) {
  Channel& channel = *attempt.channel;
  const LinkState& link = *channel.link_state;
  if (!link.link->pool) return connect(index, attempt);
  const Pool& pool = *link.link->pool;
  Connections& connections = channel.connections[attempt.replica->place];
  if (!connections.idle.empty()) {
    if (const Instant since = connections.idle.back(); is_open(channel, since)) {
      connections.idle.pop_back();
      attempt.meets_closed = meets_closed(channel, since);
      attempt.has_connection = true;
      attempt.connected = true;
      return true;
    }
    // The latest has been idle for too long, so all have.
    connections.open -= static_cast<std::uint32_t>(connections.idle.size());
    connections.idle.clear();
  }
  if (connections.open < pool.connections_max) {
    ++connections.open;
    attempt.has_connection = true;
    return connect(index, attempt);
  }
  ++attempt.references;
  if (pool.waiting_max && connections.patient >= *pool.waiting_max) {
    push(now_, Kind::refused, index);
    return false;
  }
  attempt.in_pool_queue = true;
  append(connections.waiting, index);
  ++connections.patient;
  return false;
}

// True where the attempt is connected at once.
bool World::connect(std::uint32_t index, AttemptSlot& attempt) {
  Channel& channel = *attempt.channel;
  LinkState& link = *channel.link_state;
  const ReplicaState& replica = *attempt.replica;
  const auto& phase = link.network->connect;
  if (!phase && (replica.up || replica.dead)) {
    attempt.connected = true;
    return true;
  }
  const Duration round_trip = link.request.delay.draw(channel.random) + link.reply.delay.draw(channel.random);
  bool refused = !replica.up;
  if (phase) {
    const double drawn = channel.random.uniform();
    const double swallowed = phase->swallowed.value();
    // Nothing comes back: only the caller's own limit ends it.
    if (replica.dead || link.request.partitions > 0 || link.reply.partitions > 0 || drawn < swallowed) {
      return false;
    }
    refused = refused || drawn < swallowed + phase->refused.value();
  }
  ++attempt.references;
  push(now_ + round_trip, refused ? Kind::refused : Kind::connected, index);
  return false;
}

void World::on_connected(std::uint32_t index) {
  AttemptSlot& attempt = attempts_[index];
  Call& call = calls_[attempt.call];
  settle(attempt.call, call);
  if (attempt.awaited) {
    attempt.connected = true;
    tell(attempt.call, call, AttemptConnected{attempt.number});
    if (attempt.awaited) send_request(index, attempt);
  }
  release_attempt(index);
}

void World::on_refused(std::uint32_t index) {
  AttemptSlot& attempt = attempts_[index];
  Call& call = calls_[attempt.call];
  settle(attempt.call, call);
  if (attempt.awaited) {
    if (traced_) [[unlikely]]
      trace_attempt(attempt, "refused");
    end_attempt(*call.channel, attempt, Ending::refused, false);
    const AttemptEnded ended{.attempt = attempt.number, .ending = Ending::refused, .nothing_written = true};
    if (call.has_operation) [[likely]] {
      tell(attempt.call, call, ended);
    } else {
      hear(attempt.call, index, index, ended);
    }
    release_attempt(index);  // Its caller's.
  }
  release_attempt(index);
}

void World::release_connection(Channel& channel, AttemptSlot& attempt, bool kept) {
  LinkState& link = *channel.link_state;
  const std::uint32_t place = attempt.replica->place;
  Connections& connections = channel.connections[place];
  if (attempt.in_pool_queue) {
    // Its place in the line is passed over when it comes up.
    attempt.in_pool_queue = false;
    --connections.patient;
    link.pool_wait += now_ - attempt.started;
    return;
  }
  attempt.has_connection = false;
  if (kept && attempt.replica->up) {
    connections.idle.push_back(now_);
  } else {
    --connections.open;
  }
  serve_next_waiting(channel, place);
}

void World::serve_next_waiting(Channel& channel, std::uint32_t place) {
  LinkState& link = *channel.link_state;
  Connections& connections = channel.connections[place];
  while (connections.waiting.length > 0) {
    const std::uint32_t index = connections.waiting.first;
    AttemptSlot& attempt = attempts_[index];
    if (!attempt.in_pool_queue) {
      take_first(connections.waiting);
      release_attempt(index);
      continue;
    }
    const bool idle = !connections.idle.empty();
    if (!idle && connections.open >= link.link->pool->connections_max) return;
    take_first(connections.waiting);
    attempt.in_pool_queue = false;
    --connections.patient;
    attempt.has_connection = true;
    link.pool_wait += now_ - attempt.started;
    // Through the queue, so that one call is not told of anything while another is.
    if (idle) {
      connections.idle.pop_back();
      push(now_, Kind::connected, index);  // With the line's reference.
    } else {
      ++connections.open;
      if (connect(index, attempt)) {
        attempt.connected = false;
        push(now_, Kind::connected, index);
      } else {
        release_attempt(index);
      }
    }
  }
}

// Those that nobody uses, to a replica that is gone.
void World::forget_connections(const ReplicaState& replica) {
  for (const auto& place : channels_) {
    Channel& channel = *place;
    const LinkState& link = *channel.link_state;
    if (link.service != replica.service) continue;
    Connections& connections = channel.connections[replica.place];
    connections.open -= static_cast<std::uint32_t>(connections.idle.size());
    connections.idle.clear();
  }
}

void WorldState::append(Line& line, std::uint32_t index) {
  attempts_[index].next = kNone;
  (line.length == 0 ? line.first : attempts_[line.last].next) = index;
  line.last = index;
  ++line.length;
}

void WorldState::prepend(Line& line, std::uint32_t index) {
  attempts_[index].next = line.first;
  if (line.length == 0) {
    attempts_[index].next = kNone;
    line.last = index;
  }
  line.first = index;
  ++line.length;
}

// Requires: somebody waits.
std::uint32_t WorldState::take_first(Line& line) {
  const std::uint32_t index = line.first;
  line.first = attempts_[index].next;
  --line.length;
  return index;
}

// From the middle; nothing where it is not in the line.
void WorldState::take_out(Line& line, std::uint32_t index) {
  std::uint32_t before = kNone;
  std::uint32_t at = line.first;
  for (std::uint32_t i = 0; i < line.length; ++i) {
    const std::uint32_t next = attempts_[at].next;
    if (at == index) {
      (before == kNone ? line.first : attempts_[before].next) = next;
      if (line.last == index) line.last = before;
      --line.length;
      return;
    }
    before = at;
    at = next;
  }
}

}  // namespace overdue::world
