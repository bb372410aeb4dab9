#include "overdue/simulated/world.h"

// A client's journal, and the processes that share it: one dies with all it knew, another takes over what is
// not ended.

namespace overdue::world {
namespace {

constexpr Duration kLookAgain = std::chrono::milliseconds(10);

}  // namespace

void World::persist(std::uint32_t index, WriteSlot& slot, const Persist& what) {
  WriteOperation& operation = writes_->operation(slot.operation);
  JournalState& journal = writes_->journals[operation.client];
  if (traced_) [[unlikely]]
    trace_call(calls_[index],
               "persists " + std::string(kPersistKindNames[static_cast<std::size_t>(what.kind)]));
  if (what.kind == PersistKind::entry) {
    if (!journal.said->is(ClientWrong::journal_after_send)) return ask_entry(index, slot);
    operation.entry_due = true;
    return schedule(index, slot, {.kind = what.kind, .pretended = true}, now_);
  }
  if (what.kind == PersistKind::person && now_ >= operation.last_send)
    note({.mark = HistoryMark::horizon, .operation = slot.operation});
  Persist asked = what;
  if (journal.said->is(ClientWrong::no_epoch) && what.kind != PersistKind::take_over) asked.guard.reset();
  journal.journal.as(slot.process);
  const PersistTicket ticket = journal.journal.ask(slot.operation, asked);
  schedule(index, slot, {.ticket = ticket, .kind = what.kind}, now_ + journal.persist.draw(journal.random));
}

void World::ask_entry(std::uint32_t index, WriteSlot& slot) {
  WriteOperation& operation = writes_->operation(slot.operation);
  JournalState& journal = writes_->journals[operation.client];
  operation.entry_due = false;
  JournalEntry entry{.id = slot.operation,
                     .intent = operation.intent,
                     .key = operation.key,
                     .target = links_[calls_[index].channel->link].link->name,
                     .bytes = operation.bytes,
                     .last_send = WallTime(operation.last_send.time_since_epoch()),
                     .replaces = operation.replaces};
  // Whoever orders again against the rules does not tell the journal that it is the same intent.
  if (journal.said->wrong.any()) entry.intent += "/" + operation.key;
  journal.journal.as(slot.process);
  const PersistTicket ticket = journal.journal.ask_entry(entry);
  schedule(index, slot, {.ticket = ticket}, now_ + journal.persist.draw(journal.random));
}

// What one process asks is done in the order asked.
void World::schedule(std::uint32_t index, WriteSlot& slot, JournalEvent event, Instant at) {
  event.client = writes_->operation(slot.operation).client;
  event.call = index;
  event.operation = slot.operation;
  event.process = slot.process;
  ++calls_[index].references;
  slot.journal_free = std::max(slot.journal_free, at);
  push_later({.journal = event}, slot.journal_free);
}

void World::push_later(Later later, Instant at) {
  const std::uint32_t number = writes_->later.take();
  writes_->later[number] = std::move(later);
  push(at, Kind::write, number);
}

void World::on_later(std::uint32_t number) {
  forget_ended_writes();
  const Later later = std::move(writes_->later[number]);
  writes_->later.give_back(number);
  switch (later.what) {
    case Later::What::journal:
      return on_journal(later.journal);
    case Later::What::recovery:
      return recover_client(later.client);
    case Later::What::durable:
      return on_durable(later.store);
    case Later::What::replicated:
      return writes_->stores[later.store.service].records.catch_up(later.store.scope);
  }
}

void World::on_journal(const JournalEvent& event) {
  JournalState& journal = writes_->journals[event.client];
  if (event.pretended) {
    tell_write(event.call, WriteEvent(PersistEnded{.kind = event.kind}));
    return release_call(event.call);
  }
  const bool entry = event.kind == PersistKind::entry;
  const double drawn = entry ? journal.random.uniform() : 1;
  const double rolled_back = event.was_unknown ? 0.5 : journal.said->rolled_back.value();
  if (drawn < rolled_back) {
    journal.journal.roll_back(event.ticket);
  } else if (!event.was_unknown && drawn < rolled_back + journal.said->unknown.value()) {
    journal.journal.leave_unknown(event.ticket);
    Later known{.journal = event};
    known.journal.was_unknown = true;
    ++calls_[event.call].references;
    push_later(std::move(known), saturating_add(now_, journal.said->unknown_for));
  } else {
    land(journal, event);
  }
  journal.journal.as(event.process);
  while (const auto report = journal.journal.next_report()) tell_write(event.call, WriteEvent(report->ended));
  release_call(event.call);
}

// Makes it durable, and notes what the journal says from here on.
void World::land(JournalState& journal, const JournalEvent& event) {
  const std::optional<JournalEntry> before = journal.journal.find(event.operation);
  journal.journal.land(event.ticket);
  const std::optional<JournalEntry> after = journal.journal.find(event.operation);
  HistoryEntry said{.operation = event.operation, .process = event.process};
  if (!after) return;
  if (!before) {
    said.mark = HistoryMark::persisted;
  } else if (before->state != after->state || before->proof != after->proof) {
    said.mark = HistoryMark::journaled;
    said.state = after->state;
    said.proof = after->proof;
    said.reason = after->reason;
    said.closing = after->closing;
  } else if (before->contradictions.size() != after->contradictions.size()) {
    said.mark = HistoryMark::contradicted;
  } else {
    return;
  }
  note(std::move(said));
}

// All of a client's processes die; what they sent goes on.
void World::crash_client(std::uint32_t client, Duration restart_after) {
  JournalState& journal = writes_->journals[client];
  if (std::exchange(journal.down, true)) return;
  if (traced_) [[unlikely]]
    trace_part(clients_[client].client->name, "crashes");
  // The end of one may be the end of another: all are held until all are through.
  const auto working = journal.calls;
  for (const auto& [who, index] : working) ++calls_[index].references;
  for (const auto& [who, index] : working) {
    const auto& [id, process] = who;
    Call& call = calls_[index];
    WriteOperation& operation = writes_->operation(id);
    note({.mark = HistoryMark::crashed, .operation = id, .process = process});
    journal.journal.crash(process);
    WriteSlot& slot = writes_->slots[call.write];
    slot.lifecycle.reset();
    slot.step = kNone;
    call.wakeup_at = kNever;
    operation.entry_due = false;
    if (!operation.ended()) journal.orphans.push_back(id);
    if (!std::exchange(operation.answered, true)) {
      operation.told_unknown = true;
      on_verdict(call, {.verdict = Verdict::unknown,
                        .proof = Proof::none,
                        .stop = Stop::caller_left,
                        .attempt = AttemptNumber{},
                        .last_ending = Ending::abandoned,
                        .last_status = 0});
    }
    forget_attempts(index);
  }
  for (const auto& [who, index] : working) release_call(index);
  push_later({.what = Later::What::recovery, .client = client}, saturating_add(now_, restart_after));
}

// Its process is gone: nobody waits for them, and nobody will hear of them.
void World::forget_attempts(std::uint32_t call) {
  for (std::uint32_t i = 0; i < attempts_.made(); ++i) {
    AttemptSlot& attempt = attempts_[i];
    if (!attempt.in_use || attempt.call != call) continue;
    attempt.watched = false;
    attempt.timed_out = false;
    if (!attempt.awaited) continue;
    if (traced_) [[unlikely]]
      trace_attempt(attempt, "abandoned");
    end_attempt(*attempt.channel, attempt, Ending::abandoned, false);
    release_attempt(i);
  }
}

// Another process is there, and reads what the dead ones left: once all they asked for has landed.
void World::recover_client(std::uint32_t client) {
  JournalState& journal = writes_->journals[client];
  if (!journal.journal.settled())
    return push_later({.what = Later::What::recovery, .client = client}, now_ + kLookAgain);
  journal.down = false;
  if (journal.said->is(ClientWrong::reused_keys)) journal.keys = 0;
  for (std::uint32_t& process : journal.processes) process = ++writes_->processes;
  const std::vector<OperationId> orphans = std::exchange(journal.orphans, {});
  for (const OperationId id : orphans) {
    WriteOperation& operation = writes_->operation(id);
    if (operation.ended()) continue;
    const std::optional<JournalEntry> entry = journal.journal.find(id);
    if (entry && !is_confirmed(entry->state)) continue;  // Taken over below.
    operation.state = entry ? entry->state : EntryState::never;
    operation.proof = entry ? entry->proof : Proof::never_sent;
    // Who asks by its id is told: there is no entry, so nothing was sent.
    if (!entry)
      note({.mark = HistoryMark::told,
            .operation = id,
            .process = journal.processes[operation.instance],
            .verdict = Verdict::not_applied,
            .proof = Proof::never_sent});
    if (operation.state != EntryState::applied) order_again(id);
    if (operation.processes == 0) {
      journal.journal.collect(id);
      release_root(id);
    }
  }
  take_over(client);
}

// A process of its own for every entry that has not ended, whoever else may be at work on it.
void World::take_over(std::uint32_t client) {
  JournalState& journal = writes_->journals[client];
  const std::uint32_t process = ++writes_->processes;
  if (traced_) [[unlikely]]
    trace_part(clients_[client].client->name, "another process takes over");
  for (const JournalEntry& entry : journal.journal.unresolved()) {
    WriteOperation& operation = writes_->operation(entry.id);
    if (!operation.ended()) operation.state = entry.state;  // A dead process may have asked a person.
    if (journal.said->is(ClientWrong::key_not_kept)) operation.key += "'";
    start_lifecycle({.channel = channels_[journal.channels[operation.instance]].get(),
                     .kind = clients_[client].client->kind,
                     .root = operation.holds_root ? operation.root : kNone},
                    entry.id, process,
                    EntryRecovered{.state = entry.state,
                                   .epoch = entry.epoch,
                                   .sealed = entry.sealed || (entry.state == EntryState::needs_person &&
                                                              entry.reason == PersonReason::key_expired)});
  }
}

}  // namespace overdue::world
