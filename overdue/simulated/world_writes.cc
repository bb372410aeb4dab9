#include "overdue/simulated/world.h"

// The caller's side of writes that end confirmed: a WriteLifecycle is told what happened and this does what
// it asks for, over a journal whose answers take their time.

namespace overdue::world {
namespace {

WriteEvent as_write_event(const Event& event) {
  return std::visit([](const auto& one) { return WriteEvent(one); }, event);
}

// Nothing more is sent or asked; what is still heard is written down.
bool is_at_rest(const WriteLifecycle& lifecycle) {
  switch (lifecycle.state()) {
    case WriteLifecycle::State::needs_person:
    case WriteLifecycle::State::confirmed:
    case WriteLifecycle::State::closed:
    case WriteLifecycle::State::stopped:
      return true;
    default:
      return false;
  }
}

}  // namespace

void WorldState::note(HistoryEntry entry) {
  hash_ = (hash_ ^ (static_cast<std::uint64_t>(entry.operation) << 16) ^
           (static_cast<std::uint64_t>(entry.mark) << 8) ^ static_cast<std::uint64_t>(entry.state)) *
          0x9e3779b97f4a7c15U;
  writes_->history.push_back(std::move(entry));
}

// A client begins a write for an intent of its own.
void World::begin_operation(const NewCall& made) {
  JournalState& journal = writes_->journals[made.client];
  const OperationId id{++writes_->begun};
  WriteOperation& operation = writes_->operations[id];
  operation.client = made.client;
  operation.instance = made.channel->number - journal.channels.front();
  operation.number = calls_made_ + 1;  // The call's that is made for it below.
  operation.intent = clients_[made.client].client->name + " " + std::to_string(operation.number);
  operation.orders_left = journal.said->orders_again;
  const bool orders_anyway =
      journal.said->is(ClientWrong::unknown_is_failure) || journal.said->is(ClientWrong::person_is_failure);
  if (orders_anyway && operation.orders_left == 0) operation.orders_left = 1;
  freeze(operation, id);
  start_lifecycle(made, id, journal.processes[operation.instance], std::nullopt);
}

// What never changes from here on.
void World::freeze(WriteOperation& operation, OperationId id) {
  JournalState& journal = writes_->journals[operation.client];
  const std::string number = std::to_string(static_cast<std::uint64_t>(id));
  ++journal.keys;
  operation.key = journal.said->is(ClientWrong::reused_keys) ? std::to_string(journal.keys) : "key-" + number;
  operation.bytes = "do " + operation.intent;
  operation.last_send = saturating_add(now_, journal.last_send);
  if (journal.said->valid_for) operation.valid_until = saturating_add(now_, *journal.said->valid_for);
  note({.mark = HistoryMark::begun,
        .operation = id,
        .caller = clients_[operation.client].client->name,
        .key = operation.key,
        .text = operation.intent});
}

// Told that it was not applied (or believing so), the caller begins a new one for the same intent.
void World::order_again(OperationId id) {
  const WriteOperation before = writes_->operation(id);
  JournalState& journal = writes_->journals[before.client];
  if (before.orders_left == 0 || before.superseded || journal.down) return;
  writes_->operation(id).superseded = true;
  Call& root = calls_[before.root];
  if (said_no(root.outcome)) root.outcome = Outcome::open;  // The next verdict is the intent's.
  const OperationId next{++writes_->begun};
  WriteOperation& operation = writes_->operations[next];
  operation.client = before.client;
  operation.instance = before.instance;
  operation.number = before.number;
  operation.intent = before.intent;
  operation.orders_left = before.orders_left - 1;
  operation.replaces = journal.journal.find(id) ? id : before.replaces;
  freeze(operation, next);
  Channel* const channel = channels_[journal.channels[before.instance]].get();
  ++channel->ordered_again;
  start_lifecycle({.channel = channel, .kind = clients_[before.client].client->kind, .root = before.root},
                  next, journal.processes[before.instance], std::nullopt);
}

// Sets a process to work on an operation. Where the call is nobody's part it becomes the root.
void World::start_lifecycle(const NewCall& made, OperationId id, std::uint32_t process,
                            const std::optional<EntryRecovered>& recovered) {
  const std::uint32_t index = take_call(made);
  Call& call = calls_[index];
  WriteOperation& operation = writes_->operation(id);
  JournalState& journal = writes_->journals[operation.client];
  if (!std::exchange(operation.holds_root, true)) {
    operation.root = call.root;
    call.key = operation.number;  // One taken over after its first call is gone is still the same intent.
    ++calls_[operation.root].holds;
  }
  ++operation.processes;
  call.write = writes_->slots.take();
  WriteSlot& slot = writes_->slots[call.write];
  slot = WriteSlot{};
  slot.operation = id;
  slot.process = process;
  Channel& channel = *made.channel;
  slot.lifecycle.emplace(channel.dependency, journal.terms,
                         WriteLifecycle::Identity{.last_send = operation.last_send,
                                                  .valid_until = operation.valid_until,
                                                  .seed = channel.random.next()});
  journal.calls[{id, process}] = index;
  if (recovered) ++channel.taken_over;
  if (traced_) [[unlikely]]
    trace_call(call, recovered ? "is taken over" : "begins");
  tell_write(index, recovered ? WriteEvent(*recovered) : WriteEvent(CallStarted{}));
  release_call(index);
}

void World::tell_write(std::uint32_t index, const Event& event) { tell_write(index, as_write_event(event)); }

void World::tell_write(std::uint32_t index, const WriteEvent& event) {
  Call& call = calls_[index];
  if (call.write == kNone || !writes_->slots[call.write].lifecycle) return;  // Its process is gone.
  WriteSlot& slot = writes_->slots[call.write];
  ++call.references;
  std::uint32_t connected = perform(index, slot.lifecycle->handle(now_, event));
  while (connected != kNone) {
    const std::uint32_t sends = connected;
    const AttemptNumber number = attempts_[sends].number;
    connected = perform(index, slot.lifecycle->handle(now_, AttemptConnected{number}));
    if (attempts_[sends].awaited && attempts_[sends].call == index && attempts_[sends].number == number)
      send_request(sends, attempts_[sends]);
  }
  if (slot.step != kNone && slot.step_by <= now_) end_step(slot);
  if (is_at_rest(*slot.lifecycle)) end_awaited(index, slot);
  wake_at(write_wakeup(call).value_or(kNever), index, call, false);
  release_call(index);
}

// Does what the lifecycle asks for, in order. The attempt that was begun and is connected already, or none.
std::uint32_t World::perform(std::uint32_t index, const WriteActions& asked) {
  Call& call = calls_[index];
  WriteSlot& slot = writes_->slots[call.write];
  const StartAttempt* start = nullptr;
  std::uint32_t connected = kNone;
  for (const WriteAction& action : asked.actions) {
    if (const auto* what = std::get_if<Persist>(&action)) {
      persist(index, slot, *what);
    } else if (const auto* begun = std::get_if<StartAttempt>(&action)) {
      start = begun;
    } else if (const auto* abandoned = std::get_if<AbandonAttempt>(&action)) {
      if (start != nullptr && start->attempt == abandoned->attempt)
        start = nullptr;  // It was never there.
      else
        give_up(call, *abandoned, slot.lifecycle->knowledge().outcome.has_value());
    } else if (const auto* again = std::get_if<SendAgain>(&action)) {
      if (begin_step(index, slot, again->attempt, again->answer_by, std::nullopt)) connected = slot.step;
    } else if (const auto* ask = std::get_if<Ask>(&action)) {
      if (begin_step(index, slot, AttemptNumber{0}, ask->answer_by, ask->question)) connected = slot.step;
    } else if (const auto* told = std::get_if<Tell>(&action)) {
      on_told(index, slot, *told);
    } else if (const auto* resolved = std::get_if<Resolved>(&action)) {
      on_resolved(call, slot.operation, resolved->outcome);
    } else if (std::holds_alternative<AskPerson>(action)) {
      on_person_asked(call, slot);
    }
  }
  if (start != nullptr && begin_attempt(index, call, *start) != nullptr) connected = call.attempt;
  return connected;
}

bool World::begin_step(std::uint32_t index, WriteSlot& slot, AttemptNumber number, Instant answer_by,
                       const std::optional<Question>& question) {
  Call& call = calls_[index];
  if (slot.step != kNone) end_step(slot);
  if (traced_) [[unlikely]]
    trace_call(call,
               question ? kOnUnknownNames[static_cast<std::size_t>(question->kind)] : "sends once more");
  const bool connected =
      begin_attempt(index, call, {.attempt = number, .connect_by = {}, .answer_by = answer_by},
                    question ? &*question : nullptr) != nullptr;
  slot.step = call.attempt;
  slot.step_by = answer_by;
  return connected;
}

// Nobody waits for it any longer; what comes after all is still heard.
void World::end_step(WriteSlot& slot) {
  const std::uint32_t index = std::exchange(slot.step, kNone);
  AttemptSlot& attempt = attempts_[index];
  if (!attempt.awaited) return;
  if (traced_) [[unlikely]]
    trace_attempt(attempt, "timed out");
  attempt.watched = attempt.connected;
  attempt.timed_out = attempt.connected;
  end_attempt(*attempt.channel, attempt, Ending::timed_out, false);
  release_attempt(index);
}

// The write has its end, or another process: no attempt of it is waited for.
void World::end_awaited(std::uint32_t index, WriteSlot& slot) {
  slot.step = calls_[index].attempt;
  if (slot.step == kNone) return;
  const AttemptSlot& attempt = attempts_[slot.step];
  if (attempt.in_use && attempt.call == index && attempt.awaited) return end_step(slot);
  slot.step = kNone;
}

// What an attempt, or the copy of it that was answered, came to.
void World::hear(std::uint32_t index, std::uint32_t original, std::uint32_t copy, AttemptEnded ended) {
  Call& call = calls_[index];
  if (call.write == kNone) return;
  WriteSlot& slot = writes_->slots[call.write];
  if (slot.step == original) slot.step = kNone;
  const WriteMessage& message = writes_->messages[attempts_[copy].message];
  std::optional<RecordTold> told = message.told;
  const bool answered = ended.ending == Ending::replied || ended.ending == Ending::rejected;
  if (message.question) {
    if (!told || !answered) told = RecordTold{};
    told->question = *message.question;
    return tell_write(index, WriteEvent(*told));
  }
  WriteOperation& operation = writes_->operation(slot.operation);
  const bool alone = writes_->messages[attempts_[original].message].copies == 1;
  if (ended.ending == Ending::refused || (answered && message.did_nothing && alone)) {
    note({.mark = HistoryMark::did_nothing,
          .operation = slot.operation,
          .process = slot.process,
          .attempt = static_cast<std::uint32_t>(attempts_[original].number)});
  }
  if (ended.ending == Ending::reset &&
      writes_->journals[operation.client].said->is(ClientWrong::reset_is_nothing))
    ended.nothing_written = true;
  if (answered) {
    if (message.retry_after) ended.retry_after = message.retry_after;
    if (ended.ending == Ending::replied) operation.reply = message.reply;
  }
  tell_write(index, WriteEvent(ended));
  if (told && answered) tell_write(index, WriteEvent(*told));
}

void World::on_told(std::uint32_t index, WriteSlot& slot, const Tell& told) {
  Call& call = calls_[index];
  const OperationId id = slot.operation;
  WriteOperation& operation = writes_->operation(id);
  const JournalState& journal = writes_->journals[operation.client];
  const bool unknown = told.verdict == Verdict::unknown;
  operation.answered = true;
  operation.told_unknown = operation.told_unknown || unknown;
  note({.mark = HistoryMark::told,
        .operation = id,
        .process = slot.process,
        .verdict = told.verdict,
        .proof = told.outcome.proof,
        .text = told.outcome.proof == Proof::reply ? operation.reply : ""});
  if (operation.entry_due) ask_entry(index, slot);
  const Outcome before = call.outcome;
  on_verdict(call, {.verdict = told.verdict,
                    .proof = told.outcome.proof,
                    .stop = Stop::answered,
                    .attempt = AttemptNumber{1},
                    .last_ending = Ending::rejected,
                    .last_status = 0});
  // Another process found it out first, and the caller has ordered again.
  if (operation.superseded && said_no(call.outcome)) call.outcome = before;
  if (!unknown) return on_resolved(call, id, told.outcome);
  if (journal.said->is(ClientWrong::unknown_is_failure)) order_again(id);
}

void World::on_resolved(const Call& call, OperationId id, const overdue::Outcome& outcome) {
  WriteOperation& operation = writes_->operation(id);
  if (!operation.ended()) {
    operation.state = outcome.state;
    operation.proof = outcome.proof;
  }
  if (traced_) [[unlikely]] {
    trace_call(call, outcome.state == EntryState::applied ? "is applied" : "is not applied");
    trace_call(call, kProofNames[static_cast<std::size_t>(outcome.proof)]);
  }
  if (outcome.state != EntryState::applied) order_again(id);
}

void World::on_person_asked(const Call& call, const WriteSlot& slot) {
  const OperationId id = slot.operation;
  WriteOperation& operation = writes_->operation(id);
  if (!operation.ended()) operation.state = EntryState::needs_person;
  if (traced_) [[unlikely]]
    trace_call(call, "needs a person");
  if (!writes_->journals[operation.client].said->is(ClientWrong::person_is_failure)) return;
  note(
      {.mark = HistoryMark::told, .operation = id, .process = slot.process, .verdict = Verdict::not_applied});
  order_again(id);
}

std::optional<Instant> WorldState::write_wakeup(const Call& call) const {
  const WriteSlot& slot = writes_->slots[call.write];
  if (!slot.lifecycle) return std::nullopt;
  const std::optional<Instant> wanted = slot.lifecycle->next_wakeup();
  if (slot.step == kNone) return wanted;
  return std::min(wanted.value_or(kNever), slot.step_by);
}

bool WorldState::write_is_over(const Call& call) const {
  const WriteSlot& slot = writes_->slots[call.write];
  return !slot.lifecycle || is_at_rest(*slot.lifecycle);
}

// A process is through with an operation, or gone.
void World::release_write(std::uint32_t index) {
  Call& call = calls_[index];
  WriteSlot& slot = writes_->slots[call.write];
  const OperationId id = slot.operation;
  WriteOperation& operation = writes_->operation(id);
  JournalState& journal = writes_->journals[operation.client];
  journal.calls.erase({id, slot.process});
  slot.lifecycle.reset();
  writes_->slots.give_back(call.write);
  call.write = kNone;
  if (--operation.processes > 0) return;
  if (operation.ended()) journal.journal.collect(id);
  if (operation.ended() || operation.state == EntryState::needs_person) release_root(id);
}

void World::release_root(OperationId id) {
  WriteOperation& operation = writes_->operation(id);
  if (!std::exchange(operation.holds_root, false)) return;
  Call& root = calls_[operation.root];
  if (--root.holds == 0 && root.references == 0) drop_call(operation.root, root);
}

}  // namespace overdue::world
