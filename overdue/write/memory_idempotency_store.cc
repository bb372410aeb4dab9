#include "overdue/write/memory_idempotency_store.h"

namespace overdue {

Result<ClaimReply> MemoryIdempotencyStore::claim(Instant now, const KeyScope& scope,
                                                 const ClaimRequest& request) {
  Kept& kept = kept_[scope];
  ClaimReply reply;
  if (kept.durable) return reply;  // In flight until it is as durable as the first reply has to be.
  const Claim claim{.epoch = epochs_ + 1,
                    .fingerprint = request.fingerprint,
                    .lease_until = saturating_add(now, request.lease),
                    .valid_until = request.valid_until,
                    .deadline = request.deadline};
  reply.answer = kept.record.claim(now, claim);
  if (reply.answer == ClaimAnswer::run) reply.epoch = ++epochs_;
  if (reply.answer == ClaimAnswer::replay) {
    reply.applied = kept.record.state() == RecordState::applied;
    reply.reply = kept.record.reply();
  }
  reply.limit_passed = request.valid_until && now >= *request.valid_until;
  if (reply.answer == ClaimAnswer::in_flight) reply.retry_after = kept.record.lease_until() - now;
  return reply;
}

Result<CommitAnswer> MemoryIdempotencyStore::commit(Instant now, const KeyScope& scope, std::uint64_t epoch,
                                                    RecordState outcome, const std::string& reply,
                                                    const std::function<bool()>& effect) {
  Kept& kept = kept_[scope];
  const IdempotencyRecord before = kept.record;
  const CommitAnswer answer = kept.record.commit(now, epoch, outcome, reply);
  if (answer != CommitAnswer::done) return answer;
  if (!effect()) {
    kept.record = before;
    kept.record.release(epoch);
    return CommitAnswer::lost;
  }
  if (lag_) kept.durable = before;
  return answer;
}

Result<bool> MemoryIdempotencyStore::release(const KeyScope& scope, std::uint64_t epoch) {
  return kept_[scope].record.release(epoch);
}

Result<RecordTold> MemoryIdempotencyStore::fence(Instant now, const KeyScope& scope) {
  Kept& kept = kept_[scope];
  if (kept.durable) return RecordTold{.question = {.kind = OnUnknown::fence}, .says = RecordSays::in_flight};
  return kept.record.fence(now);
}

Result<RecordTold> MemoryIdempotencyStore::status(Instant now, const KeyScope& scope,
                                                  std::optional<Instant> valid_until, ReadFrom from) const {
  const auto found = kept_.find(scope);
  const Kept kept = found == kept_.end() ? Kept{} : found->second;
  const bool replica = from == ReadFrom::any_replica;
  const IdempotencyRecord& record = replica ? kept.replica : kept.durable ? *kept.durable : kept.record;
  RecordTold told = record.status(now, valid_until);
  told.at_primary = !replica;
  // In flight though it may be, its commit beat the limit and only waits for the disk.
  if (!replica && kept.durable) told.limit_passed = false;
  return told;
}

IdempotencyRecord MemoryIdempotencyStore::record(const KeyScope& scope) const {
  const auto found = kept_.find(scope);
  return found == kept_.end() ? IdempotencyRecord{} : found->second.record;
}

bool MemoryIdempotencyStore::durable(const KeyScope& scope) const {
  const auto found = kept_.find(scope);
  return found == kept_.end() || !found->second.durable;
}

void MemoryIdempotencyStore::make_durable(const KeyScope& scope) { kept_[scope].durable.reset(); }

void MemoryIdempotencyStore::crash() {
  for (auto& [scope, kept] : kept_) {
    if (kept.durable) kept.record = *kept.durable;
    kept.durable.reset();
  }
}

void MemoryIdempotencyStore::catch_up(const KeyScope& scope) {
  Kept& kept = kept_[scope];
  kept.replica = kept.durable.value_or(kept.record);
}

RecordState MemoryIdempotencyStore::replica_state(const KeyScope& scope) const {
  const auto found = kept_.find(scope);
  return found == kept_.end() ? RecordState::absent : found->second.replica.state();
}

bool MemoryIdempotencyStore::end_retention(const KeyScope& scope, ExpiredKeys expired) {
  Kept& kept = kept_[scope];
  if (kept.durable || kept.record.state() == RecordState::in_flight) return false;
  kept.record.end_retention(expired);
  return true;
}

void MemoryIdempotencyStore::forget_if(const std::function<bool(const KeyScope&)>& unwanted) {
  std::erase_if(kept_, [&](const auto& kept) { return unwanted(kept.first); });
}

}  // namespace overdue
