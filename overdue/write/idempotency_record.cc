#include "overdue/write/idempotency_record.h"

#include "overdue/base/check.h"

namespace overdue {
namespace {

bool past(Instant now, const std::optional<Instant>& limit) { return limit && now >= *limit; }

RecordSays says_of(RecordState state) {
  switch (state) {
    case RecordState::absent:
      return RecordSays::absent;
    case RecordState::in_flight:
      return RecordSays::in_flight;
    case RecordState::applied:
      return RecordSays::applied;
    case RecordState::rejected:
      return RecordSays::rejected;
    case RecordState::fenced:
      return RecordSays::fenced;
    case RecordState::expired:
      return RecordSays::expired;
  }
  return RecordSays::nothing;
}

}  // namespace

ClaimAnswer IdempotencyRecord::claim(Instant now, const Claim& claim) {
  switch (state_) {
    case RecordState::fenced:
      return ClaimAnswer::fenced;
    case RecordState::expired:
      return ClaimAnswer::expired;
    case RecordState::applied:
    case RecordState::rejected:
      return claim.fingerprint == fingerprint_ ? ClaimAnswer::replay : ClaimAnswer::other_payload;
    case RecordState::in_flight:
      if (claim.fingerprint != fingerprint_) return ClaimAnswer::other_payload;
      if (!lease_over(now)) return ClaimAnswer::in_flight;
      break;
    case RecordState::absent:
      break;
  }
  if (past(now, claim.valid_until) || past(now, claim.deadline)) return ClaimAnswer::too_late;
  OVERDUE_CHECK(claim.epoch > epoch_);
  state_ = RecordState::in_flight;
  epoch_ = claim.epoch;
  fingerprint_ = claim.fingerprint;
  lease_until_ = claim.lease_until;
  valid_until_ = claim.valid_until;
  deadline_ = claim.deadline;
  return ClaimAnswer::run;
}

CommitAnswer IdempotencyRecord::commit(Instant now, std::uint64_t epoch, RecordState outcome,
                                       std::string_view reply) {
  OVERDUE_CHECK(outcome == RecordState::applied || outcome == RecordState::rejected);
  if (state_ != RecordState::in_flight || epoch != epoch_) return CommitAnswer::lost;
  if (past(now, valid_until_) || past(now, deadline_)) {
    release(epoch);
    return CommitAnswer::too_late;
  }
  state_ = outcome;
  reply_ = reply;
  return CommitAnswer::done;
}

bool IdempotencyRecord::release(std::uint64_t epoch) {
  if (state_ != RecordState::in_flight || epoch != epoch_) return false;
  state_ = RecordState::absent;  // The epoch stays: the next one is larger.
  return true;
}

RecordTold IdempotencyRecord::fence(Instant now) {
  const bool free = state_ == RecordState::absent || (state_ == RecordState::in_flight && lease_over(now));
  if (free) state_ = RecordState::fenced;
  RecordTold told{.question = {.kind = OnUnknown::fence}, .says = says_of(state_)};
  if (state_ == RecordState::in_flight) told.retry_after = lease_until_ - now;
  return told;
}

RecordTold IdempotencyRecord::status(Instant now, std::optional<Instant> valid_until) const {
  const std::optional<Instant> limit = state_ == RecordState::in_flight ? valid_until_ : valid_until;
  return {.question = {.kind = OnUnknown::query}, .says = says_of(state_), .limit_passed = past(now, limit)};
}

void IdempotencyRecord::end_retention(ExpiredKeys expired) {
  OVERDUE_CHECK(state_ != RecordState::in_flight);
  state_ = expired == ExpiredKeys::remembered ? RecordState::expired : RecordState::absent;
  reply_.clear();
}

}  // namespace overdue
