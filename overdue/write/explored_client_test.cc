// The client's half of the explored world.
#include <algorithm>

#include "overdue/write/explored_world.h"
#include "overdue/write/scripted_write.h"

namespace overdue::explored {
namespace {

using namespace std::chrono_literals;
constexpr Instant kDeadline{1000s};
constexpr Instant kLastSend{1'000'000s};
constexpr Instant kValidUntil{
    2'000'000s};  // By the client's clock; the server's own says when it has passed.

CallPolicy policy_of(const Settings& settings) {
  CallPolicyOptions options = two_attempts();
  options.via_proxy = !settings.believes_direct;
  options.attempts_max = settings.attempts;
  if (settings.mutant == Mutant::in_flight_did_nothing)
    options.errors.set(409, StatusMeaning::nothing_happened);
  return CallPolicy::create(options).value();
}

std::uint8_t slot_of(const WriteLifecycle& lifecycle, AttemptNumber attempt) {
  const auto number = static_cast<std::uint32_t>(attempt);
  return number > lifecycle.knowledge().attempts ? kResend : static_cast<std::uint8_t>(number);
}

}  // namespace

Rules::Rules(const Settings& settings) : settings_(settings), dependency_(policy_of(settings), Instant{}) {
  settings_.terms.between_steps = {.base = 1s, .cap = 1s, .jitter = Jitter::none};
  settings_.terms.steps_after_last_send_max = 1;
}

WriteLifecycle Rules::lifecycle() const {
  const bool bounded = settings_.horizon && !is(Mutant::fence_after_retention);
  return {dependency_,
          settings_.terms,
          {.last_send = bounded ? kLastSend : Instant::max(),
           .valid_until = settings_.limit ? std::optional(kValidUntil) : std::nullopt}};
}

World Rules::first() const {
  World world;
  world.store = MemoryIdempotencyStore(is(Mutant::replay_before_durable));
  world.clients[0].alive = true;
  world.clients[0].lifecycle.emplace(lifecycle());
  world.history.push_back(
      {.mark = HistoryMark::begun, .operation = kFirst, .caller = "c", .key = "a", .text = "pay"});
  return world;
}

void Rules::steps(const World& world, const Emit& emit) const {
  for (std::uint8_t p = 0; p < 2; ++p) {
    if (!world.clients[p].alive) continue;
    client_steps(world, p, emit);
    clock_steps(world, p, emit);
    answer_steps(world, p, emit);
    person_steps(world, p, emit);
  }
  journal_steps(world, emit);
  recovery_steps(world, emit);
  caller_steps(world, emit);
  server_steps(world, emit);
}

// False where the step cannot be told apart from one that was sent before, and is not taken.
bool Rules::handle(World& world, std::uint8_t p, WriteEvent event) const {
  Client& client = world.clients[p];
  const WriteLifecycle::State before = client.lifecycle->state();
  const WriteActions out = client.lifecycle->handle(client.now, event);
  const WriteLifecycle::State after = client.lifecycle->state();
  if (before != after)
    transitions_.emplace(WriteLifecycle::kStateNames[static_cast<std::size_t>(before)],
                         WriteLifecycle::kStateNames[static_cast<std::size_t>(after)]);
  for (const WriteRow row : out.rows) ++rows_[static_cast<std::size_t>(row)];
  bool taken = true;
  for (const WriteAction& action : out.actions) taken = perform(world, p, action) && taken;
  return taken;
}

bool Rules::perform(World& world, std::uint8_t p, const WriteAction& action) const {
  Client& client = world.clients[p];
  if (const auto* what = std::get_if<Persist>(&action)) {
    persist(world, p, *what);
  } else if (const auto* start = std::get_if<StartAttempt>(&action)) {
    client.slots[static_cast<std::size_t>(start->attempt)] = Slot::starting;
  } else if (const auto* abandon = std::get_if<AbandonAttempt>(&action)) {
    Slot& slot = client.slots[static_cast<std::size_t>(abandon->attempt)];
    slot = slot == Slot::starting ? Slot::unused : Slot::given_up;
  } else if (std::holds_alternative<SendAgain>(action)) {
    if (!settings_.proxy && resend_under_way(world, p)) return false;
    // Answers to what was sent again before are lost on a direct network: the number is another.
    if (!settings_.proxy) {
      std::erase_if(world.answers,
                    [&](const Answer& answer) { return answer.process == p && answer.slot == kResend; });
      client.heard[kResend] = 0;
    }
    send(world, p, kResend);
  } else if (const auto* ask = std::get_if<Ask>(&action)) {
    insert(world.questions, {p, ask->question.kind, ask->question.after_seal});
  } else if (const auto* told = std::get_if<Tell>(&action)) {
    const bool pending = is(Mutant::pending_is_not_sent) && told->verdict == Verdict::unknown &&
                         !client.lifecycle->knowledge().entry_known;
    if (client.told) return true;  // A mutant was faster.
    if (pending)
      tell(world, p, Verdict::not_applied, {EntryState::never, Proof::never_sent});
    else
      tell(world, p, told->verdict, told->outcome);
  } else if (std::holds_alternative<RaiseAlarm>(action)) {
    world.history.push_back({.mark = HistoryMark::contradicted, .operation = kFirst, .process = p});
  }
  return true;
}

void Rules::tell(World& world, std::uint8_t p, Verdict verdict, const Outcome& outcome) const {
  world.clients[p].told = verdict;
  HistoryEntry told{.mark = HistoryMark::told, .operation = kFirst, .process = p, .verdict = verdict};
  told.state = outcome.state;
  told.proof = outcome.proof;
  if (outcome.proof == Proof::reply) told.text = "done a";
  world.history.push_back(told);
}

void Rules::persist(World& world, std::uint8_t p, const Persist& what) const {
  world.journal.as(p);
  if (what.kind == PersistKind::entry) {
    world.journal.ask_entry({.id = kFirst, .intent = "pay", .key = "a", .bytes = "x"});
    if (is(Mutant::journal_after_send)) handle(world, p, PersistEnded{.kind = PersistKind::entry});
    return;
  }
  world.journal.ask(kFirst, what);
  const bool fragile = what.kind == PersistKind::outcome && is_attempt_proof(what.outcome.proof);
  if (is(Mutant::told_before_persisted) && fragile && !world.clients[p].told)
    tell(world, p, Verdict::not_applied, what.outcome);
}

void Rules::send(World& world, std::uint8_t p, std::uint8_t slot) const {
  const bool again = slot != 1;
  Request request{.process = p, .slot = slot};
  if (is(Mutant::fresh_key) && again) request.key = 2;
  if ((is(Mutant::new_bytes) || is(Mutant::new_bytes_and_422_is_failure)) && again) request.body = 1;
  world.clients[p].slots[slot] = Slot::out;
  insert(world.requests, request);
  const auto sent = std::ranges::find_if(world.history, [&](const HistoryEntry& entry) {
    return entry.mark == HistoryMark::sent && entry.process == p && entry.attempt == slot;
  });
  if (sent != world.history.end() && slot == kResend) return;
  world.history.push_back({.mark = HistoryMark::sent,
                           .operation = kFirst,
                           .process = p,
                           .attempt = slot,
                           .key = scope_of(request.key).key,
                           .text = request.body == 0 ? "x" : "y"});
}

bool Rules::resend_under_way(const World& world, std::uint8_t p) const {
  const auto ours = [&](const Request& request) { return request.process == p && request.slot == kResend; };
  return std::ranges::any_of(world.requests, ours) ||
         std::ranges::any_of(world.workers,
                             [&](const Worker& worker) { return worker.busy && ours(worker.request); });
}

void Rules::client_steps(const World& world, std::uint8_t p, const Emit& emit) const {
  const Client& client = world.clients[p];
  if (client.lifecycle->state() == WriteLifecycle::State::idle && p == 0) {
    World next = world;
    handle(next, p, CallStarted{.deadline = kDeadline});
    emit("%s asks to persist the entry", p, std::move(next), false);
    next = world;
    handle(next, p, CallStarted{.deadline = Instant{}});
    emit("%s is asked past the deadline", p, std::move(next), true);
  }
  for (std::uint8_t slot = 1; slot < kResend; ++slot) {
    const AttemptNumber attempt{slot};
    if (client.slots[slot] == Slot::starting) {
      World next = world;
      send(next, p, slot);
      handle(next, p, AttemptConnected{attempt});
      emit(slot == 1 ? "%s sends A1" : "%s sends A2", p, std::move(next), false);
      if (settings_.definite) {
        next = world;
        next.clients[p].slots[slot] = Slot::ended;
        handle(next, p, AttemptEnded{.attempt = attempt, .ending = Ending::refused});
        emit(slot == 1 ? "%s: A1 refused before the first byte" : "%s: A2 refused before the first byte", p,
             std::move(next), true);
      }
    }
    if (client.slots[slot] == Slot::out && is(Mutant::reset_is_nothing)) {
      World next = world;
      next.clients[p].slots[slot] = Slot::ended;
      next.history.push_back(
          {.mark = HistoryMark::did_nothing, .operation = kFirst, .process = p, .attempt = slot});
      handle(next, p, AttemptEnded{.attempt = attempt, .ending = Ending::reset, .nothing_written = true});
      emit("%s: reset after the first byte, read as nothing", p, std::move(next), true);
    }
  }
  if (p == 0 && settings_.crash && !world.crashed &&
      client.lifecycle->state() != WriteLifecycle::State::idle) {
    World next = world;
    ++rows_[kWriteRowCount + (client.lifecycle->answered() ? 1 : 0)];
    next.crashed = true;
    next.journal.crash(p);
    next.clients[p] = Client{.told = client.told};
    next.history.push_back({.mark = HistoryMark::crashed, .operation = kFirst, .process = p});
    emit("%s crashes", p, std::move(next), true);
  }
}

void Rules::clock_steps(const World& world, std::uint8_t p, const Emit& emit) const {
  const Client& client = world.clients[p];
  const std::optional<Instant> wakeup = client.lifecycle->next_wakeup();
  if (wakeup && !(settings_.horizon && !world.horizon && *wakeup >= kLastSend)) {
    World next = world;
    next.clients[p].now = std::max(client.now, *wakeup);
    if (handle(next, p, WakeupReached{})) emit("%s wakes up", p, std::move(next), false);
  }
  if (!client.lifecycle->answered() && client.lifecycle->state() != WriteLifecycle::State::idle) {
    World next = world;
    next.clients[p].now = std::max(client.now, kDeadline);
    if (handle(next, p, WakeupReached{})) emit("%s: the deadline comes", p, std::move(next), false);
  }
  if (is(Mutant::unreachable_is_absent) && client.lifecycle->knowledge().question) {
    World next = world;
    handle(next, p,
           RecordTold{.question = *client.lifecycle->knowledge().question, .says = RecordSays::absent});
    emit("%s: status unreachable, read as not found", p, std::move(next), true);
  }
}

void Rules::land(World& world, PersistTicket ticket) const {
  const auto found = std::ranges::find(world.journal.pending(), ticket, &MemoryJournal::Pending::ticket);
  // NOLINTNEXTLINE(performance-unnecessary-copy-initialization): it is gone from the journal once it lands.
  const MemoryJournal::Pending pending = *found;
  const std::optional<JournalEntry> before = world.journal.find(kFirst);
  const bool no_epoch = is(Mutant::journal_without_epoch) || is(Mutant::journal_unconditional);
  if (no_epoch && before && pending.what.guard && pending.what.kind != PersistKind::take_over) {
    JournalEntry entry = *before;
    entry.epoch = *pending.what.guard;
    const bool ended = is_confirmed(entry.state) && is(Mutant::journal_unconditional);
    if (ended) entry.state = EntryState::sent;
    world.journal.overwrite(entry);
  }
  world.journal.land(ticket);
  const std::optional<JournalEntry> after = world.journal.find(kFirst);
  if (!before && after) world.history.push_back({.mark = HistoryMark::persisted, .operation = kFirst});
  if (!before || !after || (before->state == after->state && before->proof == after->proof)) return;
  world.history.push_back({.mark = HistoryMark::journaled,
                           .operation = kFirst,
                           .process = pending.process,
                           .state = after->state,
                           .proof = after->proof,
                           .reason = after->reason,
                           .closing = after->closing});
  world.ever_ended = world.ever_ended || is_confirmed(after->state);
}

void Rules::hear_reports(World& world, std::uint8_t p) const {
  if (!world.clients[p].alive) return;
  for (;;) {
    world.journal.as(p);
    const auto report = world.journal.next_report();
    if (!report) return;
    handle(world, p, report->ended);
  }
}

void Rules::journal_steps(const World& world, const Emit& emit) const {
  for (const MemoryJournal::Pending& pending : world.journal.pending()) {
    const auto p = static_cast<std::uint8_t>(pending.process);
    const bool entry = pending.what.kind == PersistKind::entry;
    World next = world;
    land(next, pending.ticket);
    if (!entry) hear_reports(next, p);
    emit(entry ? "%s's entry is durable" : "%s's journal write lands", p, std::move(next), false);
    if (!entry) continue;
    next = world;
    next.journal.roll_back(pending.ticket);
    hear_reports(next, p);
    emit("%s's entry is rolled back", p, std::move(next), true);
    if (pending.told_unknown || pending.orphan) continue;
    next = world;
    next.journal.leave_unknown(pending.ticket);
    hear_reports(next, p);
    emit("%s's persist: nobody can say", p, std::move(next), true);
  }
  for (std::uint8_t p = 0; p < 2; ++p) {
    if (!world.clients[p].alive || !world.journal.has_report(p)) continue;
    World next = world;
    hear_reports(next, p);
    emit("%s is told 'persisted'", p, std::move(next), false);
  }
}

void Rules::recovery_steps(const World& world, const Emit& emit) const {
  if (!world.recovered && (!world.clients[0].alive || settings_.take_over)) recover(world, 1, emit);
  if (settings_.restarts && world.crashed && !world.clients[0].alive) recover(world, 0, emit);
}

void Rules::recover(const World& world, std::uint8_t p, const Emit& emit) const {
  for (const JournalEntry& entry : world.journal.unresolved()) {
    World next = world;
    next.recovered = next.recovered || p == 1;
    Client& client = next.clients[p];
    client.alive = true;
    client.now = world.horizon ? kLastSend : Instant{};
    client.lifecycle.emplace(lifecycle());
    if (is(Mutant::recovered_as_unsent)) {
      next.journal.as(p);
      land(next, next.journal.ask(kFirst, {.kind = PersistKind::outcome,
                                           .outcome = {EntryState::never, Proof::never_sent}}));
      client.alive = false;
    } else {
      const bool sealed = entry.sealed || (entry.state == EntryState::needs_person &&
                                           entry.reason == PersonReason::key_expired);
      handle(next, p, EntryRecovered{.state = entry.state, .epoch = entry.epoch, .sealed = sealed});
    }
    emit("%s recovers the entry", p, std::move(next), false);
  }
}

void Rules::caller_steps(const World& world, const Emit& emit) const {
  if (!settings_.new_operation || world.begun_again) return;
  const Client& first = world.clients[0];
  const std::optional<JournalEntry> entry = world.journal.find(kFirst);
  const bool never_there = !entry && !first.alive && world.crashed &&
                           (world.journal.settled() || is(Mutant::pending_write_ignored));
  const bool not_applied =
      first.told == Verdict::not_applied ||
      (entry && (entry->state == EntryState::never || entry->state == EntryState::rejected));
  const bool absent =
      is(Mutant::not_found_new_operation) && (first.heard_absent || world.clients[1].heard_absent);
  if (!never_there && !not_applied && !absent) return;
  World next = world;
  next.begun_again = true;
  insert(next.requests, {.process = 2, .slot = 1, .key = 1});
  next.history.push_back({.mark = HistoryMark::begun,
                          .operation = kSecond,
                          .process = 2,
                          .caller = "c",
                          .key = "b",
                          .text = "pay"});
  next.history.push_back({.mark = HistoryMark::persisted, .operation = kSecond, .process = 2});
  next.history.push_back(
      {.mark = HistoryMark::sent, .operation = kSecond, .process = 2, .attempt = 1, .key = "b", .text = "x"});
  emit("the caller begins a new operation", -1, std::move(next), false);
}

void Rules::person_steps(const World& world, std::uint8_t p, const Emit& emit) const {
  const Client& client = world.clients[p];
  if (!settings_.person || client.lifecycle->state() != WriteLifecycle::State::needs_person) return;
  const int effects = world.ledger.effects_of("pay");
  World next = world;
  if (effects == 1) {
    handle(next, p, PersonDecided{.applied = true});
    emit("%s: a person finds the effect", p, std::move(next), true);
  } else if (effects == 0) {
    if (is(Mutant::person_looks))
      handle(next, p, RecordTold{.question = {.kind = OnUnknown::query}, .says = RecordSays::expired});
    handle(next, p, PersonDecided{.applied = false, .unproven = settings_.unproven});
    emit("%s: a person finds no effect", p, std::move(next), true);
  }
}

// What the server's words are to a client that misreads them.
void Rules::hear(World& world, const Answer& answer) const {
  const std::uint8_t p = answer.process;
  Client& client = world.clients[p];
  if (answer.says == Says::record) {
    RecordTold told{.question = {.kind = answer.kind, .after_seal = answer.after_seal},
                    .says = answer.record,
                    .limit_passed = answer.limit_passed,
                    .at_primary = answer.at_primary};
    const bool absent = told.says == RecordSays::absent, query = answer.kind == OnUnknown::query;
    if (absent && query) client.heard_absent = true;
    if (is(Mutant::not_found_final) && absent && query) told.says = RecordSays::fenced;
    if (is(Mutant::limit_by_client_clock) && absent) told.limit_passed = true;
    const bool list = answer.kind == OnUnknown::list;
    if (is(Mutant::absent_from_list_final) && list) told.question.after_seal = true;
    if (is(Mutant::stale_listing) && list && client.lifecycle->knowledge().sealed)
      told.question.after_seal = true;
    handle(world, p, told);
    return;
  }
  const std::uint8_t slot = answer.slot;
  const WriteLifecycle::Knowledge known = client.lifecycle->knowledge();
  const AttemptNumber number{slot == kResend ? known.attempts + known.resends : slot};
  std::uint16_t status = answer.status;
  const bool other_out = slot < kResend && client.slots[3U - slot] == Slot::out;
  if (is(Mutant::in_flight_is_failure) && status == 409) status = 402;
  if (is(Mutant::new_bytes_and_422_is_failure) && status == 422) status = 402;
  if (is(Mutant::late_failure_ends) && status == 429 && other_out) status = 402;
  if (is(Mutant::recovered_ends_on_rejection) && status == 429 && p == 1) status = 402;
  const bool nothing = dependency_.policy()->errors.meaning_of(status) == StatusMeaning::nothing_happened;
  if (nothing && settings_.believes_direct && slot_of(*client.lifecycle, number) == slot)
    world.history.push_back(
        {.mark = HistoryMark::did_nothing, .operation = kFirst, .process = p, .attempt = slot});
  if (client.slots[slot] != Slot::given_up || answer.status < 500) client.slots[slot] = Slot::ended;
  handle(world, p, AttemptEnded{.attempt = number, .ending = Ending::replied, .status = status});
  if (answer.record != RecordSays::nothing)
    handle(world, p,
           RecordTold{.question = {.kind = OnUnknown::retry},
                      .says = answer.record,
                      .limit_passed = answer.limit_passed});
}

void Rules::answer_steps(const World& world, std::uint8_t p, const Emit& emit) const {
  for (const Answer& answer : world.answers) {
    if (answer.process != p) continue;
    World next = world;
    if (answer.says == Says::attempt) {
      // Nothing of a process's next life answers the attempts of the one before.
      if (world.clients[p].slots[answer.slot] == Slot::unused) continue;
      const auto bit = static_cast<std::uint16_t>(1U << (answer.status % 17));
      const bool is_new = (world.clients[p].heard[answer.slot] & bit) == 0;
      // On a direct network an answer repeats; what it repeats changes nothing in an attempt that has ended.
      if (!is_new && world.clients[p].slots[answer.slot] == Slot::ended && answer.status != 200 &&
          answer.slot != kResend)
        continue;
      next.clients[p].heard[answer.slot] |= bit;
    }
    hear(next, answer);
    emit("%s hears an answer", p, std::move(next), false);
  }
}

}  // namespace overdue::explored
