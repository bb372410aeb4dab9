#include "overdue/fault/decision.h"
#include "overdue/simulated/world.h"
#include "overdue/simulated/world_status.h"

// The server's side of keys: what a store says of a request before its work, what is committed after it, and
// what questions are answered; rightly, or wrong in the ways its scenario names.

namespace overdue::world {
namespace {

// Which of the draws that a key decides, beside those of the scenario's faults.
constexpr std::uint64_t kRejection = 1'000'001;
constexpr std::uint64_t kLargeReply = 1'000'002;

// FNV-1a.
std::uint64_t fingerprint_of(std::string_view bytes) {
  std::uint64_t hash = 0xcbf29ce484222325U;
  for (const char letter : bytes) hash = (hash ^ static_cast<unsigned char>(letter)) * 0x100000001b3U;
  return hash;
}

// A stored reply begins with its status.
std::uint16_t status_of_reply(const std::string& reply) {
  return static_cast<std::uint16_t>(std::stoul("0" + reply.substr(0, 3)));
}

// Whose worker it is no more, stays as it is.
void free_key(StoreState& store, const KeyScope& scope, std::uint64_t epoch) {
  OVERDUE_CHECK(store.records.release(scope, epoch).has_value());  // One in memory always knows.
}

Ending ending_of(std::uint16_t status) { return status < 300 ? Ending::replied : Ending::rejected; }

}  // namespace

StoreState* WorldState::store_of(const AttemptSlot& attempt) {
  if (attempt.message == kNone) return nullptr;
  StoreState& store = writes_->stores[attempt.replica->service->number];
  return store.said != nullptr ? &store : nullptr;
}

KeyScope WorldState::scope_in(const StoreState& store, const WriteMessage& message) const {
  KeyScope scope = message.scope;
  if (store.said->is(StoreWrong::ignores_caller)) scope.caller.clear();
  return scope;
}

// What a request or question carries, beside what every attempt has.
void World::attach_message(AttemptSlot& attempt, const Question* asks) {
  const Call& call = calls_[attempt.call];
  const Call& root = calls_[call.root];
  const Channel& channel = *call.channel;
  const std::string& route = links_[channel.link].service->said->name;
  attempt.message = writes_->messages.take();
  WriteMessage& message = writes_->messages[attempt.message];
  message = WriteMessage{};
  message.scope.route = route;
  if (asks != nullptr) message.question = *asks;
  if (call.write == kNone) {
    // One that a service makes has a key of its own, derived from its caller's.
    message.scope.caller = call.parent != kNone ? service_of(attempts_[call.parent]).said->name
                                                : clients_[root.client].client->name;
    message.id = "intent-" + std::to_string(call.key);
    if (call.kind == CallKind::keyed_write) message.scope.key = message.id;
    message.intent = message.scope.caller + " " + std::to_string(call.key);
    message.bytes = "do " + message.intent;
    return;
  }
  const WriteOperation& operation = writes_->operation(writes_->slots[call.write].operation);
  const JournalState& journal = writes_->journals[operation.client];
  const std::string number = std::to_string(static_cast<std::uint32_t>(attempt.number));
  message.scope.caller = clients_[operation.client].client->name;
  message.id = operation.key;
  if (journal.terms.keyed) message.scope.key = operation.key;
  message.intent = operation.intent;
  message.bytes = operation.bytes;
  message.valid_until = operation.valid_until;
  if (asks != nullptr) return;
  if (journal.said->is(ClientWrong::fresh_key) && journal.terms.keyed) message.scope.key += "/" + number;
  if (journal.said->is(ClientWrong::new_body)) message.bytes += ", made anew " + number;
}

void World::note_sent(const AttemptSlot& attempt) {
  const Call& call = calls_[attempt.call];
  const WriteMessage& message = writes_->messages[attempt.message];
  if (call.write == kNone || message.question) return;
  const WriteSlot& slot = writes_->slots[call.write];
  note({.mark = HistoryMark::sent,
        .operation = slot.operation,
        .process = slot.process,
        .attempt = static_cast<std::uint32_t>(attempt.number),
        .key = message.scope.key.empty() ? message.id : message.scope.key,
        .text = message.bytes});
}

// Retention is looked at when the key is.
void WorldState::expire(StoreState& store, const KeyScope& scope) {
  if (!store.said->retention) return;
  const auto done = store.done_at.find(scope);
  if (done == store.done_at.end()) return;
  if (saturating_add(now_, store.said->clock_ahead) - done->second < *store.said->retention) return;
  if (!store.records.end_retention(scope, store.said->expired)) return;
  store.done_at.erase(done);
  mark(LedgerMark::expired, scope);
}

void WorldState::mark(LedgerMark what, const KeyScope& scope, const std::string& reply) {
  writes_->ledger.add(
      {.mark = what, .caller = scope.caller, .key = scope.key, .intent = {}, .payload = {}, .reply = reply});
}

// On arrival, before any line. True where the request was answered.
bool World::turned_away(std::uint32_t index, AttemptSlot& attempt) {
  StoreState* const store = store_of(attempt);
  WriteMessage& message = writes_->messages[attempt.message];
  if (message.question) {
    const Duration length = store != nullptr ? store->answers.draw(store->random) : Duration::zero();
    step_after(index, attempt, length, Phase::asking);
    return true;
  }
  if (store == nullptr || store->said->throttles.parts() == 0) return false;
  if (store->random.uniform() >= store->said->throttles.value()) return false;
  message.did_nothing = true;
  answer(index, attempt, Ending::rejected, kThrottled, false);
  return true;
}

// Before the work. True where it is to be done; otherwise the request was answered.
bool World::claim_key(std::uint32_t index, AttemptSlot& attempt) {
  StoreState& store = *store_of(attempt);
  const Store& said = *store.said;
  WriteMessage& message = writes_->messages[attempt.message];
  if (message.scope.key.empty() || said.is(StoreWrong::ignores_keys)) return true;
  const KeyScope scope = scope_in(store, message);
  expire(store, scope);
  if (said.is(StoreWrong::check_then_set)) {
    const RecordState state = store.records.record(scope).state();
    if (state == RecordState::absent || state == RecordState::in_flight) return true;
  }
  ClaimRequest request{.lease = said.lease};
  if (!said.is(StoreWrong::ignores_payload)) request.fingerprint = fingerprint_of(message.bytes);
  if (said.is(StoreWrong::no_lease)) request.lease = Duration::max() / 2;
  const bool limit_passed = message.valid_until && now_ >= *message.valid_until;
  if (!said.is(StoreWrong::limit_at_claim) || limit_passed) request.valid_until = message.valid_until;
  if (service_of(attempt).said->refuses_expired) request.deadline = deadline_of(attempt);
  ClaimReply claim = *store.records.claim(now_, scope, request);
  const IdempotencyRecord record = store.records.record(scope);
  if (claim.answer == ClaimAnswer::in_flight && said.is(StoreWrong::answers_before_durable) &&
      record.state() == RecordState::applied)
    claim = {.answer = ClaimAnswer::replay, .applied = true, .reply = record.reply(), .retry_after = {}};
  if (claim.answer == ClaimAnswer::run) {
    message.epoch = claim.epoch;
    return true;
  }
  answer_claim(index, attempt, claim, limit_passed);
  return false;
}

void World::answer_claim(std::uint32_t index, AttemptSlot& attempt, const ClaimReply& claim,
                         bool limit_passed) {
  StoreState& store = *store_of(attempt);
  WriteMessage& message = writes_->messages[attempt.message];
  const Question retry{.kind = OnUnknown::retry};
  switch (claim.answer) {
    case ClaimAnswer::run:
      return;
    case ClaimAnswer::in_flight:
      message.retry_after =
          claim.retry_after ? std::optional(std::min(*claim.retry_after, store.said->lease)) : std::nullopt;
      return answer(index, attempt, Ending::rejected, kInFlight, false);
    case ClaimAnswer::other_payload:
      mark(LedgerMark::other_payload, message.scope);
      return answer(index, attempt, Ending::rejected, kOtherPayload, false);
    case ClaimAnswer::replay: {
      ++service_of(attempt).result.stored_replies;
      if (store.said->is(StoreWrong::reply_not_kept))
        return answer(index, attempt, Ending::rejected, kWorkFailed, false);
      message.reply = claim.reply;
      if (store.said->is(StoreWrong::replay_differs)) message.reply += ", as it is now";
      const std::uint16_t status = status_of_reply(claim.reply);
      return answer(index, attempt, ending_of(status), status, false);
    }
    case ClaimAnswer::fenced:
      message.told = RecordTold{.question = retry, .says = RecordSays::fenced, .retry_after = {}};
      return answer(index, attempt, Ending::rejected, kClosed, false);
    case ClaimAnswer::expired:
      message.told = RecordTold{.question = retry, .says = RecordSays::expired, .retry_after = {}};
      return answer(index, attempt, Ending::rejected, kClosed, false);
    case ClaimAnswer::too_late:
      return answer_too_late(index, attempt, message, limit_passed);
  }
}

// Past its limit by the server's clock, or past its caller's deadline: nothing was done, and nothing will be.
void World::answer_too_late(std::uint32_t index, AttemptSlot& attempt, WriteMessage& message,
                            bool limit_passed) {
  message.did_nothing = true;
  if (!limit_passed) return answer(index, attempt, Ending::rejected, kExpired, false);
  mark(LedgerMark::limit_passed, message.scope);
  message.told = RecordTold{.question = {.kind = OnUnknown::retry},
                            .says = RecordSays::absent,
                            .limit_passed = true,
                            .retry_after = {}};
  answer(index, attempt, Ending::rejected, kTooLate, false);
}

// The effect happens, once more.
void World::do_effect(AttemptSlot& attempt, const std::string& reply) {
  const WriteMessage& message = writes_->messages[attempt.message];
  ServiceState& service = service_of(attempt);
  Call& root = calls_[calls_[attempt.call].root];
  ++service.result.executions;
  ++row().executions;
  const bool counts = root.client != kNone && clients_[root.client].ledger_service == &service;
  if (counts) ++root.executions;
  if (traced_) [[unlikely]]
    trace_attempt(attempt, "executed");
  if (StoreState* const store = store_of(attempt); store != nullptr)
    store->listed.emplace(message.scope.caller, message.id);
  if (!counts || !has_journal(root.client)) return;
  const std::string& key = message.scope.key;
  writes_->ledger.add({.mark = LedgerMark::effect,
                       .caller = message.scope.caller,
                       .key = key.empty() ? message.id : key,
                       .intent = message.intent,
                       .payload = message.bytes,
                       .reply = reply});
}

// After the work. True where the reply is to leave; otherwise the request was answered or its server died.
bool World::commit_key(std::uint32_t index, AttemptSlot& attempt) {
  StoreState* const store = store_of(attempt);
  WriteMessage& message = writes_->messages[attempt.message];
  const std::string order = "200 order " + std::to_string(++writes_->effects);
  message.reply = order;
  if (store == nullptr || message.scope.key.empty() || store->said->is(StoreWrong::ignores_keys)) {
    do_effect(attempt, order);
    return true;
  }
  const Store& said = *store->said;
  const std::uint64_t drawn = fingerprint_of(message.scope.key);
  const auto strikes = [&](std::uint64_t which, Probability share) {
    return share.parts() > 0 &&
           fault_strikes({.seed = options_.seed, .request_key = drawn, .fault = which}, share);
  };
  const bool rejects = strikes(kRejection, said.rejects);
  if (strikes(kLargeReply, said.large_replies)) {
    message.reply = "200 kept without its text";
    if (said.is(StoreWrong::large_reply_unrecorded)) {
      do_effect(attempt, message.reply);
      free_key(*store, scope_in(*store, message), message.epoch);
      end_work_with(index, attempt, Ending::rejected, kWorkFailed);
      return false;
    }
  }
  if (rejects) message.reply = "402 declined";
  return commit_record(index, attempt, *store, rejects);
}

bool World::commit_record(std::uint32_t index, AttemptSlot& attempt, StoreState& store, bool rejects) {
  const Store& said = *store.said;
  WriteMessage& message = writes_->messages[attempt.message];
  const KeyScope scope = scope_in(store, message);
  const IdempotencyRecord before = store.records.record(scope);
  const bool ours = before.state() == RecordState::in_flight && before.epoch() == message.epoch;
  if (said.is(StoreWrong::check_then_set)) {
    if (!rejects) do_effect(attempt, message.reply);
    const auto claim = store.records.claim(
        now_, scope, {.fingerprint = fingerprint_of(message.bytes), .valid_until = {}, .deadline = {}});
    message.epoch = claim->epoch;
    if (claim->answer == ClaimAnswer::run) write_record(attempt, store, rejects);
    return true;
  }
  if (!rejects && ours && said.is(StoreWrong::effect_then_key)) {
    do_effect(attempt, message.reply);
    message.record_due = true;
    return true;
  }
  const CommitAnswer answered = write_record(attempt, store, rejects);
  if (answered == CommitAnswer::done) {
    if (rejects)
      mark(LedgerMark::rejected, message.scope, message.reply);
    else if (said.is(StoreWrong::key_then_effect))
      message.effect_due = true;
    else
      do_effect(attempt, message.reply);
    return true;
  }
  const bool fenced = before.state() == RecordState::fenced;
  if (answered == CommitAnswer::lost && !rejects &&
      (said.is(StoreWrong::no_fencing) || (fenced && said.is(StoreWrong::fence_spares_worker)))) {
    do_effect(attempt, message.reply);
    return true;
  }
  message.reply.clear();
  if (answered == CommitAnswer::lost) {
    end_work_with(index, attempt, Ending::rejected,
                  kUnavailable);  // Nothing definite: another worker has it.
    return false;
  }
  const bool limit_passed = message.valid_until && now_ >= *message.valid_until;
  end_work(index, attempt);
  take_next(*attempt.replica);
  answer_too_late(index, attempt, message, limit_passed);
  return false;
}

// The record as the transaction leaves it; what it is worth is known a little later.
CommitAnswer World::write_record(AttemptSlot& attempt, StoreState& store, bool rejects) {
  WriteMessage& message = writes_->messages[attempt.message];
  const KeyScope scope = scope_in(store, message);
  const CommitAnswer answered = *store.records.commit(now_, scope, message.epoch,
                                                      rejects ? RecordState::rejected : RecordState::applied,
                                                      message.reply, [] { return true; });
  if (answered != CommitAnswer::done) return answered;
  store.done_at[scope] = now_;
  if (!store.said->durable_after) tell_replica(store, scope);  // Else once it is durable.
  if (store.said->durable_after) {
    const Call& root = calls_[calls_[attempt.call].root];
    store.undurable.push_back({.scope = scope,
                               .number = ++store.commits,
                               .effect = !rejects,
                               .caller = message.scope.caller,
                               .key = message.scope.key,
                               .id = message.id,
                               .intent = message.intent,
                               .root = calls_[attempt.call].root,
                               .root_key = root.key});
    const Instant durable = now_ + store.durable_after.draw(store.random);
    message.commit = store.commits;
    message.reply_not_before = durable;
    push_later({.what = Later::What::durable,
                .store = {.service = number_of(store), .scope = scope, .commit = store.commits}},
               durable);
  }
  return answered;
}

void World::tell_replica(StoreState& store, const KeyScope& scope) {
  if (!store.said->replica_lag) return;
  Later later{.what = Later::What::replicated, .store = {.service = number_of(store), .scope = scope}};
  push_later(std::move(later), now_ + store.replica_lag.draw(store.random));
}

std::uint32_t WorldState::number_of(const StoreState& store) const {
  return static_cast<std::uint32_t>(&store - writes_->stores.data());
}

void World::on_durable(const StoreEvent& event) {
  StoreState& store = writes_->stores[event.service];
  const auto same = [&](const UndurableCommit& commit) { return commit.number == event.commit; };
  if (std::erase_if(store.undurable, same) == 0) return;
  store.records.make_durable(event.scope);
  tell_replica(store, event.scope);
}

// Commits that are not durable are gone, with their effects.
void World::fail_over(std::uint32_t service) {
  StoreState& store = writes_->stores[service];
  store.records.crash();
  for (const UndurableCommit& commit : store.undurable) {
    store.done_at.erase(commit.scope);
    store.lost.insert(commit.number);
    if (!commit.effect) continue;
    store.listed.erase({commit.caller, commit.id});
    Call& root = calls_[commit.root];
    if (root.in_use && root.key == commit.root_key && root.executions > 0) --root.executions;
    writes_->ledger.add({.mark = LedgerMark::effect_lost,
                         .caller = commit.caller,
                         .key = commit.key,
                         .intent = commit.intent,
                         .payload = {},
                         .reply = {}});
  }
  store.undurable.clear();
}

// The work failed, or was stopped: nothing was done, and the key is free again.
void World::give_up_key(AttemptSlot& attempt, bool failed) {
  StoreState* const store = store_of(attempt);
  WriteMessage& message = writes_->messages[attempt.message];
  message.did_nothing = !failed;  // Refused at its commit, or stopped: it is at its end, whoever has the key.
  if (store == nullptr || message.epoch == 0) return;
  const KeyScope scope = scope_in(*store, message);
  if (failed && store->said->is(StoreWrong::stores_errors)) {
    const std::string error = "500 failed";
    const auto stored =
        store->records.commit(now_, scope, message.epoch, RecordState::rejected, error, [] { return true; });
    if (*stored == CommitAnswer::done) mark(LedgerMark::rejected, message.scope, error);
    return;
  }
  free_key(*store, scope, message.epoch);
}

// The reply leaves when its commit is durable, or sooner where the store does not care.
void World::reply_later(std::uint32_t index, AttemptSlot& attempt, Duration length) {
  const StoreState* const store = store_of(attempt);
  const WriteMessage& message = writes_->messages[attempt.message];
  if (store == nullptr || !store->said->is(StoreWrong::answers_before_durable))
    length = std::max(length, message.reply_not_before - now_);
  if (length > Duration::zero()) return step_after(index, attempt, length, Phase::replying);
  reply_with_key(index, attempt);
}

// The reply leaves: what was to be done beside it, in a transaction of its own, and what it says.
void World::reply_with_key(std::uint32_t index, AttemptSlot& attempt) {
  StoreState* const store = store_of(attempt);
  WriteMessage& message = writes_->messages[attempt.message];
  if (std::exchange(message.effect_due, false)) do_effect(attempt, message.reply);
  if (std::exchange(message.record_due, false)) write_record(attempt, *store, false);
  std::uint16_t status = status_of_reply(message.reply);
  // The wait for its commit ended in an error, of which the worker knows no more than that.
  if (message.commit != 0 && store->lost.contains(message.commit)) status = kUnavailable;
  if (store != nullptr && store->said->is(StoreWrong::not_executed_after_commit) && now_ >= attempt.deadline)
    status = kExpired;
  end_work_with(index, attempt, ending_of(status), status);
}

void World::answer_question(std::uint32_t index, AttemptSlot& attempt) {
  attempt.phase = Phase::away;
  StoreState* const store = store_of(attempt);
  WriteMessage& message = writes_->messages[attempt.message];
  if (store == nullptr) return answer(index, attempt, Ending::rejected, kNotFound, false);
  const Store& said = *store->said;
  const KeyScope scope = scope_in(*store, message);
  expire(*store, scope);
  RecordTold told;
  if (store->random.uniform() < said.unavailable.value()) {
    if (!said.is(StoreWrong::unavailable_is_not_found))
      return answer(index, attempt, Ending::rejected, kUnavailable, false);
    told.says = RecordSays::absent;
  } else {
    const std::optional<RecordTold> asked = ask_store(*store, message, scope);
    if (!asked) return answer(index, attempt, Ending::rejected, kNotFound, false);
    told = *asked;
  }
  message.told = told;
  answer(index, attempt, Ending::replied, kDone, false);
}

// What the store says; nothing where it has no such endpoint.
std::optional<RecordTold> World::ask_store(StoreState& store, const WriteMessage& message,
                                           const KeyScope& scope) {
  const Store& said = *store.said;
  const OnUnknown kind = message.question->kind;
  if (kind == OnUnknown::list) {
    if (!said.listing) return std::nullopt;
    RecordTold told{.question = {.kind = kind}, .says = RecordSays::absent, .retry_after = {}};
    // What is not durable yet is on no list, and is not missing from it either.
    if (!store.records.durable(scope))
      told.says = RecordSays::in_flight;
    else if (store.listed.contains({message.scope.caller, message.id}))
      told.says = RecordSays::applied;
    return told;
  }
  if (kind == OnUnknown::fence)
    return said.fence ? std::optional(fence_key(store, message, scope)) : std::nullopt;
  if (!said.status) return std::nullopt;
  if (said.status_fences) return fence_key(store, message, scope);
  RecordTold told = *store.records.status(now_, scope, message.valid_until,
                                          said.replica_lag ? ReadFrom::any_replica : ReadFrom::primary);
  // Its records do not know of the limit, and it says so by the clock alone.
  if (said.is(StoreWrong::limit_at_claim))
    told.limit_passed = message.valid_until && now_ >= *message.valid_until;
  if (said.is(StoreWrong::replica_says_primary)) told.at_primary = true;
  const RecordState stands = store.records.record(scope).state();
  const bool closed = stands == RecordState::absent || stands == RecordState::in_flight;
  if (told.limit_passed && closed && !said.is(StoreWrong::limit_at_claim))
    mark(LedgerMark::limit_passed, message.scope);
  return told;
}

RecordTold World::fence_key(StoreState& store, const WriteMessage& message, const KeyScope& scope) {
  const RecordState stands = store.records.record(scope).state();
  const bool looks = store.said->is(StoreWrong::fence_only_looks) && stands == RecordState::absent;
  const bool lags = store.said->is(StoreWrong::fence_at_replica) &&
                    store.records.replica_state(scope) == RecordState::absent;
  const RecordTold says_fenced{
      .question = {.kind = OnUnknown::fence}, .says = RecordSays::fenced, .retry_after = {}};
  if (looks) return says_fenced;
  const RecordTold told = *store.records.fence(now_, scope);
  if (told.says == RecordSays::fenced && stands != RecordState::fenced) {
    store.done_at[scope] = now_;
    mark(LedgerMark::fenced, message.scope);
    tell_replica(store, scope);
  }
  return lags ? says_fenced : told;
}

}  // namespace overdue::world
