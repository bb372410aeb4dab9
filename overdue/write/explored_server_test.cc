// The server's half of the explored world, and what makes two worlds the same.
#include <algorithm>

#include "overdue/write/explored_world.h"

namespace overdue::explored {
namespace {

using namespace std::chrono_literals;
constexpr Instant kLimit{1'000'000s};

std::string reply_of(std::uint8_t key) { return "done " + scope_of(key).key; }

}  // namespace

KeyScope scope_of(std::uint8_t key) {
  constexpr const char* kKeys[] = {"a", "b", "a2"};
  return {"c", "POST /pay", kKeys[key]};
}

ClaimRequest Rules::claim_of(const Request& request) const {
  ClaimRequest claim{.fingerprint = request.body, .lease = 1s};
  if (settings_.limit && request.key == 0) claim.valid_until = kLimit;
  return claim;
}

void Rules::answer(World& world, const Request& request, std::uint16_t status, RecordSays record,
                   bool limit_passed) const {
  if (request.process > 1) return;  // The caller's new operation only acts.
  const bool proves =
      status == 200 || status == 402 || status == 422 || status == 429 || record != RecordSays::nothing;
  if (!proves && !settings_.noise) return;
  insert(world.answers, {.process = request.process,
                         .slot = request.slot,
                         .status = status,
                         .record = record,
                         .limit_passed = limit_passed});
}

void Rules::effect(World& world, const Request& request) const {
  const KeyScope scope = scope_of(request.key);
  world.ledger.add({.mark = LedgerMark::effect,
                    .caller = scope.caller,
                    .key = scope.key,
                    .intent = "pay",
                    .payload = request.body == 0 ? "x" : "y",
                    .reply = reply_of(request.key)});
}

void Rules::server_steps(const World& world, const Emit& emit) const {
  for (const Request& request : world.requests) {
    request_steps(world, request, emit);
    if (settings_.proxy) continue;
    World next = world;
    std::erase(next.requests, request);
    emit("%s's request is lost", request.process, std::move(next), true);
  }
  for (std::size_t index = 0; index < world.workers.size(); ++index) {
    if (world.workers[index].busy) worker_steps(world, index, emit);
  }
  for (const Asked& asked : world.questions) question_steps(world, asked, emit);
  keeping_steps(world, emit);
}

void Rules::request_steps(const World& world, const Request& request, const Emit& emit) const {
  const bool consumed = !settings_.proxy && request.process < 2;
  World arrived = world;
  if (consumed) std::erase(arrived.requests, request);
  Worker* free = nullptr;
  for (Worker& worker : arrived.workers) {
    if (!worker.busy && free == nullptr) free = &worker;
  }
  const KeyScope scope = scope_of(request.key);
  const bool unkeyed = !settings_.keyed && request.key == 0;
  const RecordState state = world.store.record(scope).state();
  if (settings_.definite && request.process < 2 && (unkeyed || state == RecordState::absent)) {
    World next = arrived;
    answer(next, request, 429);
    emit("%s's request is turned away: 429", request.process, std::move(next), true);
  }
  if (settings_.other_payload && request.process < 2) {
    World next = arrived;
    next.ledger.add({.mark = LedgerMark::other_payload, .caller = scope.caller, .key = scope.key});
    answer(next, request, 422);
    emit("%s's request is answered: 422", request.process, std::move(next), true);
  }
  if (unkeyed) {
    if (free == nullptr) return;
    *free = {.busy = true, .request = request};
    emit("%s's request starts", request.process, std::move(arrived), false);
    return;
  }
  const bool replay_early = is(Mutant::replay_before_durable) && state == RecordState::applied;
  if (replay_early && !world.store.durable(scope)) {
    answer(arrived, request, 200);
    emit("%s: success replayed before it is durable", request.process, std::move(arrived), false);
    return;
  }
  if (world.stored_5xx && request.key == 0) {
    answer(arrived, request, 500);
    emit("%s: stored 5xx replayed", request.process, std::move(arrived), false);
    return;
  }
  ClaimRequest claim = claim_of(request);
  const ClaimReply reply = arrived.store.claim(world.server_now, scope, claim).value();
  switch (reply.answer) {
    case ClaimAnswer::run:
      if (free == nullptr) return;
      *free = {.busy = true, .request = request, .epoch = reply.epoch};
      break;
    case ClaimAnswer::in_flight:
      answer(arrived, request, 409);
      break;
    case ClaimAnswer::other_payload:
      answer(arrived, request, 422);
      break;
    case ClaimAnswer::replay:
      answer(arrived, request, reply.applied ? 200 : 402);
      break;
    case ClaimAnswer::fenced:
      answer(arrived, request, 410, RecordSays::fenced);
      break;
    case ClaimAnswer::expired:
      answer(arrived, request, 410, RecordSays::expired);
      break;
    case ClaimAnswer::too_late:
      answer(arrived, request, 410, RecordSays::absent, reply.limit_passed);
      break;
  }
  emit(reply.answer == ClaimAnswer::run ? "%s's request claims its key" : "%s's request is answered",
       request.process, std::move(arrived), false);
}

void Rules::worker_steps(const World& world, std::size_t index, const Emit& emit) const {
  const Worker worker = world.workers[index];
  const Request request = worker.request;
  const KeyScope scope = scope_of(request.key);
  World idle = world;
  idle.workers[index] = Worker{};
  {
    World next = idle;
    if (!next.store.durable(scope)) {
      next.store.crash();
      next.ledger.add(
          {.mark = LedgerMark::effect_lost, .caller = scope.caller, .key = scope.key, .intent = "pay"});
    }
    emit("%s's worker crashes", request.process, std::move(next), true);
  }
  const bool first_key = request.key == 0;
  if (!settings_.keyed && first_key) {
    World next = idle;
    effect(next, request);
    answer(next, request, 200);
    emit("%s's request commits", request.process, std::move(next), false);
    next = idle;
    answer(next, request, settings_.definite ? 429 : 500);
    emit("%s's request fails, rolled back", request.process, std::move(next), true);
    return;
  }
  if (worker.second_half) {  // Of a server that commits in two steps.
    World next = idle;
    if (is(Mutant::key_then_effect)) effect(next, request);
    if (is(Mutant::effect_then_key))
      (void)next.store.commit(world.server_now, scope, worker.epoch, RecordState::applied,
                              reply_of(request.key), [] { return true; });
    if (is(Mutant::replay_before_durable)) next.store.make_durable(scope);
    answer(next, request, 200);
    emit("%s's request does its second half", request.process, std::move(next), false);
    return;
  }
  const auto commit = [&](World& next, RecordState outcome, bool with_effect) {
    std::uint64_t epoch = worker.epoch;
    const IdempotencyRecord record = next.store.record(scope);
    if (is(Mutant::takeover_unfenced)) epoch = record.epoch();
    const Instant now = is(Mutant::limit_at_claim) && first_key ? Instant{} : next.server_now;
    return next.store
        .commit(now, scope, epoch, outcome, reply_of(request.key),
                [&] {
                  if (with_effect) effect(next, request);
                  return true;
                })
        .value();
  };
  World next = idle;
  if (is(Mutant::effect_then_key) && first_key) {
    next.workers[index] = worker;
    next.workers[index].second_half = true;
    effect(next, request);
    emit("%s's request does its effect, a transaction of its own", request.process, std::move(next), false);
    return;
  }
  const bool applied_unfenced =
      is(Mutant::takeover_unfenced) && first_key && world.store.record(scope).state() == RecordState::applied;
  const bool runs_on = is(Mutant::fence_ignores_worker) && first_key &&
                       world.store.record(scope).state() == RecordState::fenced;
  if (applied_unfenced || runs_on) {
    effect(next, request);
    emit("%s's request commits, though the key is not its own", request.process, std::move(next), false);
    return;
  }
  const CommitAnswer answered =
      commit(next, RecordState::applied, !(is(Mutant::key_then_effect) && first_key));
  if (answered == CommitAnswer::done) {
    if ((is(Mutant::key_then_effect) || is(Mutant::replay_before_durable)) && first_key) {
      next.workers[index] = worker;
      next.workers[index].second_half = true;
    } else {
      answer(next, request, is(Mutant::not_executed_after_commit) ? 429 : 200);
    }
  } else if (answered == CommitAnswer::too_late) {
    answer(next, request, 410, RecordSays::absent, true);
  } else {
    answer(next, request, 500);
  }
  emit(answered == CommitAnswer::done ? "%s's request commits" : "%s's commit is refused", request.process,
       std::move(next), false);
  if (answered != CommitAnswer::done) return;
  if (settings_.records_no) {
    World no = idle;
    if (commit(no, RecordState::rejected, false) == CommitAnswer::done) {
      no.ledger.add({.mark = LedgerMark::rejected, .caller = scope.caller, .key = scope.key, .reply = "no"});
      answer(no, request, 402);
      emit("%s's request is rejected, recorded", request.process, std::move(no), false);
    }
  }
  World undone = idle;
  (void)undone.store.release(scope, worker.epoch);
  answer(undone, request, settings_.definite ? 429 : 500);
  if (is(Mutant::stored_5xx) && first_key) undone.stored_5xx = true;
  emit("%s's request is rolled back, the key released", request.process, std::move(undone), true);
}

void Rules::question_steps(const World& world, const Asked& asked, const Emit& emit) const {
  const KeyScope scope = scope_of(0);
  World next = world;
  const bool limit = settings_.limit && world.limit_passed;
  RecordTold told{.says = RecordSays::nothing};
  if (asked.kind == OnUnknown::list) {
    told.says = world.ledger.effects_under("c", "a") > 0 ? RecordSays::applied : RecordSays::absent;
    told.limit_passed = limit;
  } else if (asked.kind == OnUnknown::fence || settings_.terms.not_found == NotFound::fenced) {
    const bool by_replica =
        is(Mutant::fence_reads_replica) && world.store.replica_state(scope) == RecordState::absent;
    const bool late_tombstone =
        is(Mutant::tombstone_after_answer) && world.store.record(scope).state() == RecordState::absent;
    if (late_tombstone) {
      next.tombstone_due = true;
      told.says = RecordSays::fenced;
      next.ledger.add({.mark = LedgerMark::fenced, .caller = scope.caller, .key = scope.key});
    } else {
      told = next.store.fence(world.server_now, scope).value();
      const bool writes = world.store.record(scope).state() != RecordState::fenced;
      if (by_replica) told.says = RecordSays::fenced;
      if (told.says == RecordSays::fenced && writes)
        next.ledger.add({.mark = LedgerMark::fenced, .caller = scope.caller, .key = scope.key});
    }
  } else {
    const std::optional<Instant> until = settings_.limit ? std::optional(kLimit) : std::nullopt;
    const bool replica = is(Mutant::limit_reads_replica);
    told =
        next.store.status(world.server_now, scope, until, replica ? ReadFrom::any_replica : ReadFrom::primary)
            .value();
    told.at_primary = true;
  }
  if (asked.process > 1 || !world.clients[asked.process].alive) return;
  insert(next.answers, {.process = asked.process,
                        .says = Says::record,
                        .record = told.says,
                        .kind = asked.kind,
                        .after_seal = asked.after_seal,
                        .limit_passed = told.limit_passed,
                        .at_primary = told.at_primary});
  emit("%s's question is answered", asked.process, std::move(next), false);
}

void Rules::keeping_steps(const World& world, const Emit& emit) const {
  const KeyScope scope = scope_of(0);
  const IdempotencyRecord record = world.store.record(scope);
  for (std::uint8_t key = 0; key < 3; ++key) {
    const IdempotencyRecord other = world.store.record(scope_of(key));
    if (other.state() != RecordState::in_flight || other.lease_over(world.server_now)) continue;
    World next = world;
    next.server_now = other.lease_until();
    emit("a lease ends", -1, std::move(next), false);
  }
  if (settings_.limit && !world.limit_passed) {
    World next = world;
    next.limit_passed = true;
    next.server_now = std::max(world.server_now, kLimit);
    next.ledger.add({.mark = LedgerMark::limit_passed, .caller = scope.caller, .key = scope.key});
    emit("the limit passes by the server's clock", -1, std::move(next), false);
  }
  const bool deletes = settings_.terms.expired == ExpiredKeys::deleted;
  const bool held = record.state() == RecordState::applied || record.state() == RecordState::rejected ||
                    record.state() == RecordState::fenced;
  if (settings_.retention && !deletes && record.state() != RecordState::expired) {
    World next = world;
    if (next.store.end_retention(scope, ExpiredKeys::remembered)) {
      next.ledger.add({.mark = LedgerMark::expired, .caller = scope.caller, .key = scope.key});
      emit("retention ends: remembered as expired", -1, std::move(next), true);
    }
  }
  if (settings_.retention && deletes && held && (world.horizon || is(Mutant::retention_short))) {
    World next = world;
    if (next.store.end_retention(scope, ExpiredKeys::deleted)) {
      next.forgotten = true;
      const bool outlive = is(Mutant::retention_short) || is(Mutant::message_outlives_retention);
      if (!outlive) std::erase_if(next.requests, [](const Request& request) { return request.process < 2; });
      if (!is(Mutant::fence_after_retention))
        std::erase_if(next.questions, [](const Asked& asked) { return asked.kind == OnUnknown::fence; });
      emit("retention ends: the record is deleted", -1, std::move(next), true);
    }
  }
  if (settings_.horizon && !world.horizon) {
    World next = world;
    next.horizon = true;
    next.history.push_back({.mark = HistoryMark::horizon, .operation = kFirst});
    for (std::uint8_t p = 0; p < 2; ++p) {
      if (!next.clients[p].alive || is(Mutant::fence_after_retention)) continue;
      next.clients[p].now = Instant(1'000'000s);
      if (!handle(next, p, WakeupReached{})) return;
    }
    emit("the last send passes", -1, std::move(next), false);
  }
  if (is(Mutant::tombstone_dropped) && record.state() == RecordState::fenced) {
    World next = world;
    next.store.end_retention(scope, ExpiredKeys::deleted);
    emit("the tombstone is dropped", -1, std::move(next), true);
  }
  if (world.tombstone_due) {
    World next = world;
    next.tombstone_due = false;
    (void)next.store.fence(world.server_now, scope);
    emit("the tombstone is written", -1, std::move(next), false);
  }
  const bool replica = is(Mutant::fence_reads_replica) || is(Mutant::limit_reads_replica);
  if (replica && world.store.replica_state(scope) != record.state()) {
    World next = world;
    next.store.catch_up(scope);
    emit("the replica catches up", -1, std::move(next), false);
  }
}

namespace {

// Mixes what makes a world what it is into one number.
class Digest {
 public:
  template <typename T>
  Digest& operator<<(T value) {
    auto word = static_cast<std::uint64_t>(value) + 0x9e3779b97f4a7c15U + sum_;
    word = (word ^ (word >> 30)) * 0xbf58476d1ce4e5b9U;
    word = (word ^ (word >> 27)) * 0x94d049bb133111ebU;
    sum_ = word ^ (word >> 31);
    return *this;
  }
  Digest& operator<<(const std::optional<Outcome>& outcome) {
    *this << outcome.has_value();
    if (outcome) *this << outcome->state << outcome->proof;
    return *this;
  }
  std::uint64_t sum() const { return sum_; }

 private:
  std::uint64_t sum_ = 0;
};

void add(Digest& digest, const Client& client, std::uint32_t turns) {
  digest << client.alive << client.told.has_value() << client.heard_absent;
  if (client.told) digest << *client.told;
  if (!client.alive) return;
  const WriteLifecycle& lifecycle = *client.lifecycle;
  const WriteLifecycle::Knowledge known = lifecycle.knowledge();
  digest << lifecycle.state() << lifecycle.answered() << lifecycle.epoch() << known.entry_known
         << known.sealed << known.expired_seen << known.other_payload << known.last_send_passed
         << known.resend_open << known.waiting << known.operation_finished << known.attempts
         << (known.resends > 0) << known.steps % turns << known.steps_after_last_send
         << known.steps_after_both;
  digest << known.outcome << known.question.has_value();
  if (known.question) digest << known.question->kind << known.question->after_seal;
  digest << known.persisting.has_value();
  if (known.persisting) digest << *known.persisting;
  for (std::size_t slot = 1; slot < 4; ++slot) digest << client.slots[slot] << client.heard[slot];
}

}  // namespace

std::uint64_t Rules::digest(const World& world) const {
  Digest digest;
  const auto turns = static_cast<std::uint32_t>(std::max<std::size_t>(settings_.terms.on_unknown.size(), 1));
  for (const Client& client : world.clients) add(digest, client, turns);
  for (const auto& [landed, entry] : world.journal.entries())
    digest << entry.epoch << entry.state << entry.proof << entry.reason << entry.sealed
           << entry.closing.applied << entry.closing.sealed << entry.contradictions.size();
  for (const MemoryJournal::Pending& pending : world.journal.pending())
    digest << pending.process << pending.what.kind << pending.what.outcome.state << pending.what.outcome.proof
           << pending.what.guard.value_or(0) << pending.told_unknown << pending.orphan
           << pending.what.closing.applied;
  digest << world.journal.has_report(0) << world.journal.has_report(1) << world.requests.size();
  for (const Request& request : world.requests) digest << request.process << request.slot << request.key;
  for (const Answer& answer : world.answers)
    digest << answer.process << answer.says << answer.slot << answer.status << answer.record << answer.kind
           << answer.after_seal << answer.limit_passed;
  for (const Asked& asked : world.questions) digest << asked.process << asked.kind << asked.after_seal;
  std::array<std::uint64_t, 2> workers{};
  for (std::size_t index = 0; index < 2; ++index) {
    const Worker& worker = world.workers[index];
    if (!worker.busy) continue;
    Digest one;
    one << worker.request.process << worker.request.slot << worker.request.key << worker.second_half
        << (worker.epoch == world.store.record(scope_of(worker.request.key)).epoch());
    workers[index] = one.sum();
  }
  std::ranges::sort(workers);
  digest << workers[0] << workers[1];
  for (std::uint8_t key = 0; key < 3; ++key) {
    const IdempotencyRecord record = world.store.record(scope_of(key));
    digest << record.state()
           << (record.state() == RecordState::in_flight && record.lease_over(world.server_now))
           << record.fingerprint() << world.store.durable(scope_of(key))
           << world.store.replica_state(scope_of(key)) << world.ledger.effects_under("c", scope_of(key).key);
  }
  for (const LedgerMark mark : {LedgerMark::effect, LedgerMark::rejected, LedgerMark::fenced,
                                LedgerMark::expired, LedgerMark::limit_passed, LedgerMark::other_payload})
    digest << world.ledger.has(mark, "c", "a");
  digest << world.crashed << world.recovered << world.begun_again << world.limit_passed << world.horizon
         << world.tombstone_due << world.ever_ended << world.stored_5xx << world.forgotten;
  return digest.sum();
}

}  // namespace overdue::explored
