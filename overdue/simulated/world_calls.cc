#include "overdue/simulated/world.h"
#include "overdue/simulated/world_status.h"

// The caller's side: an Operation is told what happened and this does what it asks for.
//
// What most events begin with holds all that it goes through in its file (flatten), but for perform(), which
// is large and asked by several: the steps are small, and handing on to the next was 7 % of a run's
// instructions.

namespace overdue::world {
namespace {

// An attempt that is given up because another one brought the answer did not time out.
bool is_answered(const ActionList& actions) {
  for (const Action& action : actions) {
    const auto* finish = std::get_if<FinishCall>(&action);
    if (finish != nullptr && finish->verdict == Verdict::applied) return true;
  }
  return false;
}

}  // namespace

// Does what the operation asks for, and sets the timer. The call stays in use meanwhile.
[[gnu::always_inline]] inline void World::perform(std::uint32_t index, Call& call, const ActionList& actions,
                                                  bool caller_left) {
  ++call.references;
  const StartAttempt* start = nullptr;
  for (const Action& action : actions) {
    if (const auto* begun = std::get_if<StartAttempt>(&action)) {
      start = begun;
    } else if (const auto* abandoned = std::get_if<AbandonAttempt>(&action)) {
      // Begun and abandoned in one breath: it was never there.
      if (start != nullptr && start->attempt == abandoned->attempt) {
        start = nullptr;
      } else {
        give_up(call, *abandoned, caller_left || (actions.size() > 1 && is_answered(actions)));
      }
    } else if (const auto* finish = std::get_if<FinishCall>(&action)) {
      on_verdict(call, *finish);
      if (call.parent != kNone) on_callee_verdict(call.parent, call.outcome == Outcome::answered);
    }
  }
  if (start != nullptr) {
    AttemptSlot* const connected = begin_attempt(index, call, *start);
    if (connected != nullptr) {
      call.operation.connected_at_once();
      send_request(call.attempt, *connected);
    }
  }
  wake_at(call.operation.next_wakeup().value_or(kNever), index, call, start != nullptr);
  release_call(index, call);
}

// Held by who asks for it, as the list of actions is: that costs as much to hand on as to look through.
template <typename OneEvent>
[[gnu::always_inline]] inline void World::tell(std::uint32_t index, Call& call, const OneEvent& event) {
  if (!call.has_operation) [[unlikely]]
    return tell_write(index, Event(event));
  perform(index, call, call.operation.handle(now_, event), std::is_same_v<OneEvent, CallerLeft>);
}

// A call that is only just there, with one reference: its maker's.
std::uint32_t World::take_call(const NewCall& made) {
  const std::uint32_t index = calls_.take();
  OVERDUE_CHECK(index <= kIndexMax);
  Call& call = calls_[index];
  ++made.channel->calls;
  call.has_operation = false;
  call.write = kNone;
  call.wakeup_at = kNever;
  call.started = now_;
  call.remembered = 0;
  call.channel = made.channel;
  call.parent = made.parent;
  call.attempt = kNone;
  call.references = 1;
  call.executions = 0;
  call.client = made.client;
  call.user = made.user;
  call.kind = made.kind;
  call.outcome = Outcome::open;
  call.in_use = true;
  if (made.root == kNone) {
    call.root = index;
    call.key = ++calls_made_;
  } else {
    call.root = made.root;
    call.key = calls_[made.root].key;
    ++calls_[made.root].references;
  }
  return index;
}

[[gnu::flatten]] void World::start_call(const NewCall& made) {
  if (has_journal(made.client)) [[unlikely]]
    return begin_operation(made);
  const std::uint32_t index = take_call(made);
  Call& call = calls_[index];
  Channel& channel = *made.channel;
  std::construct_at(&call.operation, channel.dependency, made.kind, channel.random.next());
  call.has_operation = true;
  if (traced_) [[unlikely]]
    trace_call(call, "begins");
  CallStarted started;
  if (made.deadline) started.deadline = *made.deadline;
  tell(index, call, started);
  release_call(index, call);
}

template void World::tell(std::uint32_t, Call&, const AttemptConnected&);
template void World::tell(std::uint32_t, Call&, const AttemptEnded&);
template void World::tell(std::uint32_t, Call&, const CallerLeft&);

[[gnu::flatten]] void World::on_wakeup(std::uint32_t index, EventQueue::Ticket ticket) {
  // Of the next one whose limit passes: it has been out of sight for as long as that is.
  const std::uint32_t next = queue_.next_limit() & kIndexMax;
  if (next < calls_.made()) calls_.prefetch(next);
  Call& call = calls_[index];
  if (call.timer != ticket) return;
  call.timer_at = kNever;
  if (call.wakeup_at <= now_) return tell(index, call, WakeupReached{});
  if (call.wakeup_at == kNever) return;
  call.timer_at = call.wakeup_at;
  call.timer = push(call.timer_at, Kind::wakeup, index);
}

std::uint32_t WorldState::pick_replica_of_several(Channel& channel) {
  const auto count = static_cast<std::uint32_t>(channel.in_flight.size());
  switch (channel.link_state->link->balance) {
    case Balance::round_robin:
      return channel.turn++ % count;
    case Balance::random:
      return static_cast<std::uint32_t>(channel.random.below(count));
    case Balance::least_loaded_of_two: {
      // Mitzenmacher, "The Power of Two Choices in Randomized Load Balancing" (2001): of two different ones.
      const auto one = static_cast<std::uint32_t>(channel.random.below(count));
      auto other = static_cast<std::uint32_t>(channel.random.below(count - 1));
      other += other >= one ? 1 : 0;
      return channel.in_flight[other] < channel.in_flight[one] ? other : one;
    }
  }
  return 0;
}

// The attempt, where it is connected at once.
AttemptSlot* World::begin_attempt(std::uint32_t index, Call& call, const StartAttempt& start,
                                  const Question* asks) {
  Channel& channel = *call.channel;
  LinkState& link = *channel.link_state;
  const std::uint32_t place = pick_replica(channel);
  ++channel.in_flight[place];
  const std::uint32_t slot = attempts_.take();
  OVERDUE_CHECK(slot <= kIndexMax);
  AttemptSlot& attempt = attempts_[slot];
  static_cast<Attempt&>(attempt) = kFreshAttempt;
  attempt.in_use = true;
  attempt.call = index;
  attempt.channel = &channel;
  attempt.replica = link.first_replica + place;
  attempt.started = now_;
  attempt.number = start.attempt;
  attempt.awaited = true;
  attempt.references = 1;  // Its caller's.
  if (link.tells_deadlines) attempt.deadline = start.answer_by.value_or(kNever);
  ++call.references;
  call.attempt = slot;
  if (writes_ != nullptr) [[unlikely]] {
    if (call.write != kNone || writes_->stores[link.service->number].said != nullptr)
      attach_message(attempt, asks);
  }
  TimelineRow& seconds = row();
  if (asks == nullptr) {
    ++seconds.attempts;
    ++channel.attempts;
    const std::uint64_t retries = start.attempt > AttemptNumber{1} ? 1 : 0;
    seconds.retries += retries;
    channel.retries += retries;
  } else {
    ++channel.questions;
  }
  ++attempt.replica->attempts;
  if (link.always_connected && attempt.replica->up) [[likely]] {
    attempt.connected = true;
    return &attempt;
  }
  return acquire_connection(slot, attempt) ? &attempt : nullptr;
}

// The caller stops waiting for an attempt.
void World::give_up(Call& call, const AbandonAttempt& action, bool caller_left) {
  const std::uint32_t slot = call.attempt;
  AttemptSlot& attempt = attempts_[slot];
  OVERDUE_CHECK(slot != kNone && attempt.number == action.attempt && attempt.awaited);
  if (traced_) [[unlikely]]
    trace_attempt(attempt, caller_left ? "abandoned" : "timed out");
  Channel& channel = *call.channel;
  attempt.watched = action.watch && attempt.connected;
  attempt.timed_out = attempt.connected && !caller_left;
  const bool was_connected = attempt.connected;
  end_attempt(channel, attempt, caller_left ? Ending::abandoned : Ending::timed_out, false);
  if (was_connected && channel.link_state->link->cancellation) send_cancellation(slot);
  release_attempt(slot, attempt);
}

// Counts the end of an attempt and lets go of its connection; its caller's reference stays.
void World::end_attempt(Channel& channel, AttemptSlot& attempt, Ending ending, bool keeps_connection) {
  LinkState& link = *channel.link_state;
  ReplicaState& replica = *attempt.replica;
  attempt.awaited = false;
  ++replica.ended;
  --channel.in_flight[replica.place];
  if (!is_question(attempt)) ++channel.endings[static_cast<std::size_t>(ending)];
  switch (ending) {
    case Ending::replied:
      replica.replies.add(now_ - attempt.started);
      break;
    case Ending::rejected:
      ++replica.rejected;
      break;
    case Ending::timed_out:
      ++replica.timeouts;
      if (!is_question(attempt)) ++row().timeouts;
      break;
    default:
      break;
  }
  if (ending == Ending::refused || (!attempt.connected && ending != Ending::abandoned)) {
    link.connect_failures.add(now_ - attempt.started);
    ++link.connect_failure_count;
  }
  if (attempt.has_connection || attempt.in_pool_queue) release_connection(channel, attempt, keeps_connection);
}

// A limit that passes at the very moment of an event comes before it, in the operation as in its world.
void World::settle(std::uint32_t index, Call& call) {
  if (call.wakeup_at <= now_) [[unlikely]]
    tell(index, call, WakeupReached{});
}

[[gnu::flatten]] void World::on_reply(std::uint32_t index, AttemptSlot& copy) {
  const std::uint32_t original = copy.is_copy ? copy.original : index;
  AttemptSlot& attempt = original_of(copy);
  Call& call = calls_[attempt.call];
  settle(attempt.call, call);
  if (attempt.timed_out && copy.answer == Ending::replied) {
    attempt.timed_out = false;
    if (!is_question(attempt)) ++call.channel->link_state->false_timeouts;
  }
  if (attempt.awaited || attempt.watched) {
    const bool awaited = attempt.awaited;
    if (traced_) [[unlikely]]
      trace_attempt(attempt, copy.answer == Ending::reset      ? (awaited ? "reset" : "reset late")
                             : copy.answer == Ending::rejected ? (awaited ? "rejected" : "rejected late")
                                                               : (awaited ? "answered" : "answered late"));
    AttemptEnded ended{.attempt = attempt.number, .ending = copy.answer, .status = copy.status};
    const bool kept = copy.answer != Ending::reset;
    const bool was_open = call.outcome == Outcome::open;
    if (attempt.deadline != kNever && kept) ended.way = way_of(now_ - attempt.sent, copy.work.server_time);
    if (copy.answer == Ending::rejected && is_refused_for_now(copy.status) && !is_question(attempt))
      ended.retry_after = service_of(copy).said->retry_after;
    attempt.watched = false;
    if (awaited) end_attempt(*call.channel, attempt, copy.answer, kept);
    if (call.has_operation) [[likely]] {
      tell(attempt.call, call, ended);
    } else {
      hear(attempt.call, original, index, ended);
    }
    // Its caller had left it and not the call.
    if (copy.wasted && was_open && call.outcome == Outcome::answered) [[unlikely]] {
      const Work& work = copy.work;
      service_of(copy).wasted_time -= copy.arrived + work.server_time - work.begun;
    }
    if (awaited) release_attempt(original, attempt);  // Its caller's.
  }
  release_attempt(index, copy);
}

// Nobody refers to it any more.
void World::forget_attempt(std::uint32_t index, AttemptSlot& attempt) {
  attempt.in_use = false;
  const std::uint32_t call = attempt.call;
  if (attempt.is_copy) [[unlikely]]
    release_attempt(attempt.original);
  if (attempt.message != kNone) [[unlikely]]
    writes_->messages.give_back(std::exchange(attempt.message, kNone));
  attempts_.give_back(index);
  release_call(call);
}

// Nobody refers to it any more; one that waits for its next attempt goes on.
void World::end_call(std::uint32_t index, Call& call) {
  if (!call.has_operation) [[unlikely]] {
    if (call.write != kNone && !write_is_over(call)) return;
    if (call.write != kNone) {
      ++call.references;  // It may be its own root, and is let go of once.
      release_write(index);
      --call.references;
    }
    if (call.holds > 0) return;
  } else if (!call.operation.finished()) {
    return;
  }
  drop_call(index, call);
}

void World::drop_call(std::uint32_t index, Call& call) {
  if (call.client != kNone) fold(call);
  call.in_use = false;
  call.wakeup_at = kNever;
  const std::uint32_t root = call.root;
  calls_.give_back(index);
  if (root != index) release_call(root);
}

}  // namespace overdue::world
