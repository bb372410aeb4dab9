#include "overdue/simulated/world.h"

// Messages: what a network does to them, one direction at a time.

namespace overdue::world {

bool WorldState::lost(WayState& way, Random& random) {
  if (way.partitions > 0) return true;
  double kept = 1 - (way.bursts != nullptr && way.bursts->bad_at(now_) ? way.burst_loss : way.loss);
  for (const double loss : way.fault_losses) kept *= 1 - loss;
  return kept < 1 && random.uniform() >= kept;
}

// What most requests have nothing of: a deadline to tell, a write's message, something that repeats them; and
// a network that takes time.
void World::send_with_terms(std::uint32_t index, AttemptSlot& attempt) {
  Channel& channel = *attempt.channel;
  LinkState& link = *channel.link_state;
  std::optional<Duration> allowance;
  if (attempt.deadline != kNever) {
    allowance = channel.dependency.allowance_for_next_hop(now_, attempt.deadline);
    if (!allowance) return;  // No time is left: the limit ends it.
    attempt.sent = now_;
  }
  if (attempt.message != kNone) note_sent(attempt);
  if (link.repeats && channel.random.uniform() < link.link->repeats->share.value())
    send_copy(index,
              now_ + link.repeats_after.draw(channel.random) + link.request.delay.draw(channel.random));
  if (!link.request.instant) return send_over_network(index, attempt, allowance);
  if (traced_) [[unlikely]]
    trace_attempt(attempt, "sent");
  if (allowance) attempt.deadline = saturating_add(now_, *allowance);
  ++attempt.references;
  arrive(index, attempt);
}

// `allowance`: what the server is told it has.
void World::send_over_network(std::uint32_t index, AttemptSlot& attempt, std::optional<Duration> allowance) {
  Channel& channel = *attempt.channel;
  WayState& way = channel.link_state->request;
  if (traced_) [[unlikely]]
    trace_attempt(attempt, "sent");
  if (lost(way, channel.random)) {
    if (traced_) [[unlikely]]
      trace_attempt(attempt, "request lost");
    return;
  }
  const Instant arrives = now_ + way.delay.draw(channel.random);
  // A deadline travels as what is left: by the server's clock it counts from the arrival.
  if (allowance) attempt.deadline = saturating_add(arrives, *allowance);
  ++attempt.references;
  push(arrives, Kind::request, index);
  if (way.duplication > 0 && channel.random.uniform() < way.duplication) {
    send_copy(index, now_ + way.delay.draw(channel.random));
  }
}

// The same request once more, by something on the way.
void World::send_copy(std::uint32_t index, Instant arrives) {
  AttemptSlot& attempt = attempts_[index];
  const std::uint32_t copy = attempts_.take();
  static_cast<Attempt&>(attempts_[copy]) = attempt;
  attempts_[copy].is_copy = true;
  attempts_[copy].original = index;
  attempts_[copy].references = 1;
  attempts_[copy].awaited = false;
  attempts_[copy].watched = false;
  attempts_[copy].has_connection = false;
  ++attempt.references;
  ++calls_[attempt.call].references;
  if (attempt.message != kNone) [[unlikely]] {
    ++writes_->messages[attempt.message].copies;
    attempts_[copy].message = writes_->messages.take();
    writes_->messages[attempts_[copy].message] = writes_->messages[attempt.message];
  }
  push(arrives, Kind::request, copy);
}

void World::on_request(std::uint32_t index) { arrive(index, attempts_[index]); }

// Sends an answer to one copy of a request; the server's reference goes with it. `at_once`: it may be heard
// before this returns, where the way takes no time.
void World::answer(std::uint32_t index, AttemptSlot& copy, Ending ending, std::uint16_t status,
                   bool at_once) {
  copy.answer = ending;
  copy.status = status;
  copy.phase = Phase::away;
  copy.work.server_time = now_ - copy.arrived;
  if (!copy.channel->link_state->reply.instant) return answer_over_network(index, copy);
  if (at_once) return on_reply(index, copy);
  at_once_.push_back(index);
}

void World::answer_over_network(std::uint32_t index, AttemptSlot& copy) {
  Channel& channel = *copy.channel;
  WayState& way = channel.link_state->reply;
  if (lost(way, channel.random)) {
    if (traced_) [[unlikely]]
      trace_attempt(copy, "reply lost");
    return release_attempt(index, copy);
  }
  push(now_ + way.delay.draw(channel.random), Kind::reply, index);
  if (way.duplication > 0 && channel.random.uniform() < way.duplication) {
    ++copy.references;
    push(now_ + way.delay.draw(channel.random), Kind::reply, index);
  }
}

void World::send_cancellation(std::uint32_t index) {
  Channel& channel = *attempts_[index].channel;
  WayState& way = channel.link_state->request;
  if (lost(way, channel.random)) return;
  ++attempts_[index].references;
  push(now_ + way.delay.draw(channel.random), Kind::cancellation, index);
}

}  // namespace overdue::world
