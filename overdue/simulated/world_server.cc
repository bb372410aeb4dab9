#include "overdue/call/deadline.h"
#include "overdue/simulated/world.h"
#include "overdue/simulated/world_status.h"

// The server's side: queue, workers, work, effect, reply. It does not know whether its caller still waits.

namespace overdue::world {
namespace {

// Until one more piece of work would be done if each took as long as its server says: what is ahead of it,
// the rest of what runs and in a first-in first-out queue all that waits, is shared by the workers.
Duration time_needed(const ReplicaState& replica, Instant now) {
  const Service& said = *replica.service->said;
  const auto each = static_cast<double>(said.sheds_late->count());
  double ahead = 0;
  if (replica.busy >= replica.workers) {
    const auto now_ns = static_cast<std::uint64_t>(now.time_since_epoch().count());
    const auto done = static_cast<double>(now_ns * replica.busy - replica.begun_ns);
    const bool waits_for_all = said.queue_order == QueueOrder::fifo;
    ahead = std::max(0.0, each * replica.busy - done) + (waits_for_all ? each * replica.queue.length : 0);
    ahead /= replica.workers;
  }
  return Duration(static_cast<std::int64_t>(std::min(ahead + each, DurationDraw::kLongestNs)));
}

}  // namespace

// Its reference came with the message.
void World::arrive(std::uint32_t index, AttemptSlot& attempt) {
  ReplicaState& replica = *attempt.replica;
  if (!replica.up) [[unlikely]] {
    if (replica.dead) return release_attempt(index);
    return answer(index, attempt, Ending::reset, 0, false);
  }
  if (attempt.meets_closed) [[unlikely]]
    return answer(index, attempt, Ending::reset, 0, false);
  attempt.arrived = now_;
  ServiceState& service = *replica.service;
  ++service.result.arrivals;
  if (traced_) [[unlikely]]
    trace_attempt(attempt, "arrived");
  if (attempt.message != kNone && turned_away(index, attempt)) [[unlikely]]
    return;
  const Service& said = *service.said;
  const auto turn_away = [&] {
    if (attempt.message != kNone) writes_->messages[attempt.message].did_nothing = true;
    answer(index, attempt, Ending::rejected, kUnavailable, false);
  };
  // Field case C34: what cannot be done in time is not left to wait.
  if (said.sheds_late) [[unlikely]] {
    const Instant done_at = saturating_add(now_, time_needed(replica, now_));
    if (!ServerGuard(deadline_of(attempt)).try_admit(done_at)) {
      ++service.result.refused_late;
      return turn_away();
    }
  }
  if (replica.busy < replica.workers && replica.standstill.causes == 0 && replica.queue.length == 0) {
    begin_work(index, attempt);
    return;
  }
  if (said.queue_max && replica.queue.length >= *said.queue_max) {
    ++service.result.refused_full;
    if (said.when_full == WhenFull::drop) return release_attempt(index);
    return turn_away();
  }
  attempt.phase = Phase::queued;
  if (said.queue_order == QueueOrder::fifo) {
    append(replica.queue, index);
  } else {
    prepend(replica.queue, index);
  }
  replica.queue_max = std::max(replica.queue_max, replica.queue.length);
  service.result.queue_max = std::max(service.result.queue_max, ++service.queue);
  ++queued_;
  row().queue = std::max(row().queue, queued_);
}

void World::take_next(ReplicaState& replica) {
  while (replica.queue.length > 0 && replica.busy < replica.workers && replica.standstill.causes == 0) {
    const std::uint32_t index = take_first(replica.queue);
    if (replica.queue.length > 0) __builtin_prefetch(&attempts_[replica.queue.first]);
    --replica.service->queue;
    --queued_;
    begin_work(index, attempts_[index]);
  }
}

bool WorldState::stored(const AttemptSlot& attempt) const {
  const Call& call = calls_[attempt.call];
  const std::uint32_t link = call.channel->link;
  return call.kind == CallKind::keyed_write && (calls_[call.root].remembered >> link & 1) != 0 &&
         links_[link].service->said->remembers_keys;
}

// True where it took a worker.
bool World::begin_work(std::uint32_t index, AttemptSlot& attempt) {
  ReplicaState& replica = *attempt.replica;
  ServiceState& service = *replica.service;
  const Service& said = *service.said;
  attempt.phase = Phase::away;
  if (said.refuses_expired && !ServerGuard(deadline_of(attempt)).try_start(now_)) {
    ++service.result.refused_expired;
    if (attempt.message != kNone) writes_->messages[attempt.message].did_nothing = true;
    answer(index, attempt, Ending::rejected, kExpired, false);
    return false;
  }
  if (said.cancel_checks && original_of(attempt).cancelled) {
    ++service.result.stopped;
    release_attempt(index);
    return false;
  }
  if (said.remembers_keys && stored(attempt)) {
    ++service.result.stored_replies;
    answer(index, attempt, Ending::replied, kDone, false);
    return false;
  }
  if (said.store && !claim_key(index, attempt)) [[unlikely]]
    return false;
  // Its call is wanted at the commit, and has been out of sight for as long as the line is.
  __builtin_prefetch(&calls_[attempt.call]);
  ++replica.busy;
  replica.begun_ns += static_cast<std::uint64_t>(now_.time_since_epoch().count());
  ++service.result.started;
  attempt.work = {.begun = now_,
                  .step = 0,
                  .paused = {},
                  .server_time = {},
                  .group = 0,
                  .pending = 0,
                  .fails = replica.broken > 0};
  const Duration waited = now_ - attempt.arrived;
  service.waits.add(waited);
  service.wait += waited;
  if (waited > Duration::zero()) ++service.waited;
  Duration length = service.service_time.draw(replica.random);
  if (replica.pause != kNone && pauses_[replica.pause].on && !pauses_[replica.pause].stands_still) {
    length = pauses_[replica.pause].service_time.draw(replica.random);
  }
  if (replica.slow != 1) {
    const double slowed = static_cast<double>(length.count()) * replica.slow;
    length = Duration(static_cast<std::int64_t>(std::min(slowed, DurationDraw::kLongestNs)));
  }
  step_after(index, attempt, length, Phase::working);
  return true;
}

void World::step_after(std::uint32_t index, AttemptSlot& attempt, Duration length, Phase phase) {
  attempt.phase = phase;
  Work& work = attempt.work;
  work.paused = attempt.replica->standstill.total(now_);
  work.step = push(now_ + length, Kind::step, index);
}

void World::on_step(std::uint32_t index, EventQueue::Ticket ticket) {
  AttemptSlot& attempt = attempts_[index];
  if (attempt.work.step != ticket) return;  // Stopped, or gone with its process.
  Work& work = attempt.work;
  work.step = 0;
  ReplicaState& replica = *attempt.replica;
  // What stood still is still to be done.
  const Duration missed = replica.standstill.total(now_) - work.paused;
  if (missed > Duration::zero()) [[unlikely]] {
    if (replica.standstill.causes == 0) return step_after(index, attempt, missed, attempt.phase);
    work.paused = missed;
    replica.stalled.push_back(index);
    return;
  }
  switch (attempt.phase) {
    case Phase::working:
      return service_time_over(index, attempt);
    case Phase::holding:
      leave_lock(service_of(attempt));
      return begin_calls(index, attempt);
    case Phase::calling:
      return after_calls(index, attempt);
    case Phase::replying:
      if (attempt.message != kNone) return reply_with_key(index, attempt);
      return end_work_with(index, attempt, Ending::replied, kDone);
    case Phase::asking:
      return answer_question(index, attempt);
    default:
      OVERDUE_CHECK(false);
  }
}

inline void World::service_time_over(std::uint32_t index, AttemptSlot& attempt) {
  ServiceState& service = service_of(attempt);
  if (attempt.work.fails) [[unlikely]] {
    ++service.result.failed;
    if (attempt.message != kNone) give_up_key(attempt, true);
    return end_work_with(index, attempt, Ending::rejected, kWorkFailed);
  }
  const auto& lock = service.said->lock;
  if (lock && attempt.replica->random.uniform() < lock->share.value()) {
    return take_lock(index, attempt);
  }
  begin_calls(index, attempt);
}

void World::take_lock(std::uint32_t index, AttemptSlot& attempt) {
  ServiceState& service = service_of(attempt);
  if (service.lock_holder != kNone) {
    attempt.phase = Phase::locking;
    return append(service.lock_waiting, index);
  }
  service.lock_holder = index;
  step_after(index, attempt, service.lock_hold.draw(attempt.replica->random), Phase::holding);
}

void World::leave_lock(ServiceState& service) {
  service.lock_holder = kNone;
  if (service.lock_waiting.length == 0) return;
  const std::uint32_t index = take_first(service.lock_waiting);
  take_lock(index, attempts_[index]);
}

// The next group of calls, or the commit after the last.
inline void World::begin_calls(std::uint32_t index, AttemptSlot& attempt) {
  ServiceState& service = service_of(attempt);
  Work& work = attempt.work;
  if (work.group >= service.calls.size()) return commit(index, attempt);
  const std::vector<std::uint32_t>& group = service.calls[work.group];
  attempt.phase = Phase::calling;
  work.pending = static_cast<std::uint8_t>(group.size());
  NewCall made{.channel = nullptr,
               .kind = calls_[attempt.call].kind,
               .root = calls_[attempt.call].root,
               .parent = index};
  if (service.said->passes_deadline_on) made.deadline = deadline_of(attempt);
  const std::vector<Channel*>& channels = attempt.replica->channels;
  for (const std::uint32_t link : group) {
    made.channel = channels[link];
    start_call(made);  // May end at once, and with the last one the work goes on.
  }
}

void World::on_callee_verdict(std::uint32_t index, bool answered) {
  AttemptSlot& attempt = attempts_[index];
  ReplicaState& replica = *attempt.replica;
  Work& work = attempt.work;
  if (!answered && !replica.service->said->ignores_failed_calls) work.fails = true;
  if (--work.pending > 0) return;
  if (replica.standstill.causes > 0) {
    work.paused = Duration::zero();
    replica.stalled.push_back(index);
    return;
  }
  after_calls(index, attempt);
}

void World::after_calls(std::uint32_t index, AttemptSlot& attempt) {
  Work& work = attempt.work;
  if (work.fails) {
    ++service_of(attempt).result.failed;
    if (attempt.message != kNone) give_up_key(attempt, true);
    return end_work_with(index, attempt, Ending::rejected, kCalleeFailed);
  }
  ++work.group;
  begin_calls(index, attempt);
}

// Calls made for a piece of work that is no more: their callers have left.
void World::abandon_calls(std::uint32_t index) {
  if (attempts_[index].phase != Phase::calling) return;
  for (std::uint32_t call = 0; call < calls_.made(); ++call) {
    if (!calls_[call].in_use || calls_[call].parent != index) continue;
    calls_[call].parent = kNone;
    if (!calls_[call].operation.finished()) tell(call, calls_[call], CallerLeft{});
  }
}

void World::commit(std::uint32_t index, AttemptSlot& attempt) {
  ServiceState& service = service_of(attempt);
  const Service& said = *service.said;
  if (said.refuses_expired) {
    ServerGuard guard(deadline_of(attempt));
    OVERDUE_CHECK(guard.try_start(attempt.work.begun));
    if (!guard.try_commit(now_)) {
      ++service.result.refused_expired;
      if (attempt.message != kNone) give_up_key(attempt, false);
      return end_work_with(index, attempt, Ending::rejected, kExpired);
    }
  }
  if (crashes_drawn_ && crash_strikes(attempt, CrashPoint::before_effect)) return;
  if (attempt.message != kNone) [[unlikely]] {
    if (!commit_key(index, attempt)) return;
  } else if (said.remembers_keys && stored(attempt)) {
    ++service.result.stored_replies;
  } else {
    Call& root = calls_[calls_[attempt.call].root];
    ++service.result.executions;
    ++row().executions;
    if (clients_[root.client].ledger_service == attempt.replica->service) ++root.executions;
    if (said.remembers_keys) root.remembered |= std::uint64_t{1} << attempt.channel->link;
    if (traced_) [[unlikely]]
      trace_attempt(attempt, "executed");
  }
  if (crashes_drawn_ && crash_strikes(attempt, CrashPoint::after_effect)) return;
  if (attempt.message != kNone) [[unlikely]]
    return reply_later(index, attempt, service.commit_to_reply.draw(attempt.replica->random));
  if (said.commit_to_reply) {
    const Duration length = service.commit_to_reply.draw(attempt.replica->random);
    return step_after(index, attempt, length, Phase::replying);
  }
  end_work_with(index, attempt, Ending::replied, kDone);
}

// The worker is free again.
void World::end_work(std::uint32_t index, AttemptSlot& attempt) {
  ReplicaState& replica = *attempt.replica;
  ServiceState& service = *replica.service;
  Work& work = attempt.work;
  const Duration spent = now_ - work.begun;
  work.step = 0;
  attempt.phase = Phase::away;
  --replica.busy;
  replica.begun_ns -= static_cast<std::uint64_t>(work.begun.time_since_epoch().count());
  replica.busy_time += spent;
  service.busy_time += spent;
  if (!original_of(attempt).awaited) {
    attempt.wasted = true;
    service.wasted_time += spent;
  }
  service.response += now_ - attempt.arrived;
  ++service.finished;
  if (service.lock_holder == index) leave_lock(service);
}

// Holds all that the end of one piece of work and the beginning of the next go through here (flatten).
[[gnu::flatten, gnu::noinline]] void World::end_work_with(std::uint32_t index, AttemptSlot& attempt,
                                                          Ending ending, std::uint16_t status) {
  ReplicaState& replica = *attempt.replica;
  end_work(index, attempt);
  const Fault* const fault =
      crashes_drawn_ && status == kDone ? crash_at(attempt, CrashPoint::after_reply) : nullptr;
  if (fault == nullptr) take_next(replica);
  answer(index, attempt, ending, status, true);
  if (fault != nullptr) crash_and_restart(replica, fault->restart_after);
}

void World::on_cancellation(std::uint32_t index) {
  AttemptSlot& attempt = attempts_[index];
  attempt.cancelled = true;
  const auto& checks = service_of(attempt).said->cancel_checks;
  if (checks && is_at_work(attempt.phase)) {
    // At the next whole interval since the work began.
    const Duration late = (now_ - attempt.work.begun) % *checks;
    const Duration left = late == Duration::zero() ? late : *checks - late;
    push(saturating_add(now_, left), Kind::check, index);  // With the message's reference.
  } else {
    release_attempt(index);
  }
}

void World::on_check(std::uint32_t index) {
  AttemptSlot& attempt = attempts_[index];
  const Phase phase = attempt.phase;
  if (is_at_work(phase) && phase != Phase::replying) {
    ++service_of(attempt).result.stopped;
    if (traced_) [[unlikely]]
      trace_attempt(attempt, "stopped its work");
    ReplicaState& replica = *attempt.replica;
    if (attempt.message != kNone) give_up_key(attempt, false);
    stop_work(index, attempt);
    end_work(index, attempt);
    release_attempt(index);  // The server's.
    take_next(replica);
  }
  release_attempt(index);
}

// Whatever the work waits for, it waits no longer.
void World::stop_work(std::uint32_t index, AttemptSlot& attempt) {
  abandon_calls(index);
  if (attempt.phase == Phase::locking) take_out(service_of(attempt).lock_waiting, index);
  std::erase(attempt.replica->stalled, index);
  attempt.work.step = 0;
}

}  // namespace overdue::world
