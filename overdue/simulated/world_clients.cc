#include "overdue/simulated/world.h"

// Where calls come from, and what becomes of them.

namespace overdue::world {

// Schedules the source's next arrival, or counts it as done.
void World::schedule_arrival(Source& source, std::uint32_t index) {
  const ClientState& client = clients_[source.client];
  std::optional<Instant> at;
  if (const auto* recorded = std::get_if<RecordedArrivals>(&client.client->arrivals)) {
    if (source.next < recorded->at.size()) at = Instant{} + recorded->at[source.next++];
  } else {
    at = client.rate.after(std::max(now_, client.from), standard_exponential(source.random));
  }
  if (at && *at < client.to) {
    push(std::max(*at, now_), Kind::arrival, index);
  } else {
    source.done = true;
    --open_sources_;
  }
}

[[gnu::flatten]] void World::on_arrival(std::uint32_t index) {
  Source& source = sources_[index];
  schedule_arrival(source, index);
  begin_clients_call(source, kNone);
}

void World::on_user(std::uint32_t user) {
  Source& source = sources_[users_[user]];
  if (now_ < clients_[source.client].to) {
    begin_clients_call(source, user);
  } else {
    --open_sources_;
  }
}

void World::begin_clients_call(Source& source, std::uint32_t user) {
  ClientState& client = clients_[source.client];
  if (is_down(source.client)) [[unlikely]] {
    // Nobody is there to ask. A user comes back.
    if (user != kNone) push(now_ + std::chrono::milliseconds(100), Kind::user, user);
    return;
  }
  ++client.result.calls.total;
  ++row().offered;
  std::uint32_t channel = source.channel;
  // Recorded arrivals are dealt out to the client's processes in turn.
  if (client.client->instances > 1 && std::holds_alternative<RecordedArrivals>(client.client->arrivals)) {
    channel += static_cast<std::uint32_t>(source.next % client.client->instances);
  }
  start_call({.channel = channels_[channel].get(),
              .kind = client.client->kind,
              .client = source.client,
              .user = user});
}

namespace {

// Of a read an explicit error as the last word is a rejection, whatever it proves: there is no effect to know
// of.
Outcome outcome_of(const FinishCall& finish, CallKind kind) {
  if (finish.verdict == Verdict::applied) return Outcome::answered;
  if (finish.verdict == Verdict::not_applied) {
    if (finish.proof == Proof::never_sent) return Outcome::not_sent;
    return finish.last_ending == Ending::refused ? Outcome::not_sent : Outcome::rejected;
  }
  const bool explicit_error = finish.stop != Stop::deadline && finish.stop != Stop::caller_left &&
                              finish.attempt != AttemptNumber{} && finish.last_ending == Ending::rejected;
  return kind == CallKind::read && explicit_error ? Outcome::rejected : Outcome::unknown;
}

}  // namespace

void World::on_verdict(Call& call, const FinishCall& finish) {
  call.outcome = outcome_of(finish, call.kind);
  if (traced_) [[unlikely]] {
    trace_call(call, call.outcome == Outcome::answered        ? "answered"
                     : finish.verdict == Verdict::not_applied ? "not applied"
                     : call.outcome == Outcome::rejected      ? "rejected"
                                                              : "ended without an answer");
  }
  if (call.outcome == Outcome::answered) ++call.channel->link_state->answered;
  if (call.client == kNone) {
    // Of a write ordered again; the call in whose place it is had a no.
    if (call.write != kNone && calls_[call.root].outcome == Outcome::open)
      calls_[call.root].outcome = call.outcome;
    return;
  }
  hash_ = (hash_ ^ static_cast<std::uint64_t>(call.outcome)) * 0x9e3779b97f4a7c15U;
  ClientState& client = clients_[call.client];
  CallCounts& counts = client.result.calls;
  switch (call.outcome) {
    case Outcome::answered:
      ++counts.answered;
      ++row_of(call.started).goodput;
      client.answered.add(now_ - call.started);
      client.answered_sum += now_ - call.started;
      break;
    case Outcome::rejected:
      ++counts.rejected;
      ++row().rejected;
      break;
    case Outcome::not_sent:
      ++counts.not_sent;
      ++row().rejected;
      break;
    case Outcome::unknown:
    case Outcome::open:
      ++counts.unknown;
      ++row().unknown;
      break;
  }
  if (call.user != kNone) {
    Source& source = sources_[users_[call.user]];
    push(now_ + client.think.draw(source.random), Kind::user, call.user);
  }
}

// What became of the intent, once nothing is left that could still have an effect for it, or the run is over.
void WorldState::fold(const Call& call) {
  LedgerCounts& ledger = clients_[call.client].result.ledger;
  ++ledger.intents;
  ledger.executions += call.executions;
  ++(call.executions == 0 ? ledger.lost : call.executions == 1 ? ledger.applied_once : ledger.duplicates);
  if (call.outcome == Outcome::unknown) {
    ++(call.executions == 0 ? ledger.timed_out_not_applied : ledger.timed_out_applied);
  }
  if (said_no(call.outcome) && call.executions > 0) ++ledger.failed_applied;
}

}  // namespace overdue::world
