#include "overdue/write/idempotency_record.h"

#include <gtest/gtest.h>

#include "overdue/write/memory_idempotency_store.h"

namespace overdue {
namespace {

using namespace std::chrono_literals;
constexpr Instant kNow{100s};

Claim claim_of(std::uint64_t epoch, std::uint64_t fingerprint = 7) {
  return {.epoch = epoch, .fingerprint = fingerprint, .lease_until = kNow + 10s};
}

IdempotencyRecord in_state(RecordState state) {
  IdempotencyRecord record;
  if (state == RecordState::absent) return record;
  if (state == RecordState::fenced) {
    record.fence(kNow);
    return record;
  }
  record.claim(kNow, claim_of(1));
  if (state == RecordState::in_flight) return record;
  record.commit(kNow, 1, state == RecordState::rejected ? state : RecordState::applied, "done");
  if (state == RecordState::expired) record.end_retention(ExpiredKeys::remembered);
  return record;
}

TEST(IdempotencyRecord, AnswersEachRequestByItsState) {
  const struct {
    RecordState state;
    std::uint64_t fingerprint;
    Instant now;
    ClaimAnswer answer;
  } rows[] = {{RecordState::absent, 7, kNow, ClaimAnswer::run},
              {RecordState::in_flight, 7, kNow + 10s - 1ns, ClaimAnswer::in_flight},
              {RecordState::in_flight, 7, kNow + 10s, ClaimAnswer::run},
              {RecordState::in_flight, 8, kNow + 10s, ClaimAnswer::other_payload},
              {RecordState::applied, 7, kNow, ClaimAnswer::replay},
              {RecordState::applied, 8, kNow, ClaimAnswer::other_payload},
              {RecordState::rejected, 7, kNow, ClaimAnswer::replay},
              {RecordState::fenced, 7, kNow, ClaimAnswer::fenced},
              {RecordState::expired, 7, kNow, ClaimAnswer::expired}};
  for (const auto& row : rows) {
    IdempotencyRecord record = in_state(row.state);
    EXPECT_EQ(record.claim(row.now, claim_of(2, row.fingerprint)), row.answer)
        << kRecordStateNames[static_cast<std::size_t>(row.state)];
  }
}

TEST(IdempotencyRecord, ATakeoverFencesTheOldWorkerAtItsCommit) {
  IdempotencyRecord record = in_state(RecordState::in_flight);
  ASSERT_EQ(record.claim(kNow + 10s, claim_of(2)), ClaimAnswer::run);
  EXPECT_EQ(record.commit(kNow + 11s, 1, RecordState::applied, "old"), CommitAnswer::lost);
  EXPECT_FALSE(record.release(1));
  EXPECT_EQ(record.commit(kNow + 11s, 2, RecordState::applied, "new"), CommitAnswer::done);
  EXPECT_EQ(record.reply(), "new");
}

TEST(IdempotencyRecord, AWorkerPastItsLeaseStillCommitsWhereNobodyTookOver) {
  IdempotencyRecord record = in_state(RecordState::in_flight);
  EXPECT_EQ(record.commit(kNow + 60s, 1, RecordState::applied, "late"), CommitAnswer::done);
}

TEST(IdempotencyRecord, AFenceWaitsForALiveLeaseAndStopsADeadOne) {
  IdempotencyRecord record = in_state(RecordState::in_flight);
  EXPECT_EQ(record.fence(kNow + 10s - 1ns).says, RecordSays::in_flight);
  EXPECT_EQ(record.fence(kNow + 10s).says, RecordSays::fenced);
  EXPECT_EQ(record.commit(kNow + 10s, 1, RecordState::applied, "zombie"), CommitAnswer::lost);
  EXPECT_EQ(record.claim(kNow + 10s, claim_of(2)), ClaimAnswer::fenced);
}

TEST(IdempotencyRecord, TheValidityLimitIsHeldAtTheCommitToTheNanosecond) {
  for (const auto& [at, answer] :
       {std::pair{kNow + 5s - 1ns, CommitAnswer::done}, std::pair{kNow + 5s, CommitAnswer::too_late}}) {
    IdempotencyRecord record;
    Claim claim = claim_of(1);
    claim.valid_until = kNow + 5s;
    ASSERT_EQ(record.claim(kNow, claim), ClaimAnswer::run);
    EXPECT_EQ(record.commit(at, 1, RecordState::applied, "done"), answer);
    const bool late = answer == CommitAnswer::too_late;
    const RecordTold told = record.status(at, claim.valid_until);
    EXPECT_EQ(told.says, late ? RecordSays::absent : RecordSays::applied);
    EXPECT_EQ(told.limit_passed, late);
  }
}

TEST(IdempotencyRecord, AnExpiredKeyIsNeverRunAgain) {
  IdempotencyRecord record = in_state(RecordState::expired);
  EXPECT_EQ(record.claim(kNow + 1000s, claim_of(9)), ClaimAnswer::expired);
  EXPECT_EQ(record.fence(kNow + 1000s).says, RecordSays::expired);
}

TEST(MemoryIdempotencyStore, RunsTheEffectOnceAndReplaysItsReplyToThatCallerAlone) {
  MemoryIdempotencyStore store;
  const KeyScope ours{"alice", "POST /pay", "k"}, theirs{"bob", "POST /pay", "k"};
  int effects = 0;
  const auto effect = [&] { return ++effects > 0; };
  const ClaimReply first = store.claim(kNow, ours, {.fingerprint = 1}).value();
  ASSERT_EQ(first.answer, ClaimAnswer::run);
  EXPECT_EQ(store.commit(kNow, ours, first.epoch, RecordState::applied, "paid", effect).value(),
            CommitAnswer::done);
  EXPECT_EQ(store.claim(kNow, ours, {.fingerprint = 1}).value().reply, "paid");
  EXPECT_EQ(store.claim(kNow, theirs, {.fingerprint = 1}).value().answer, ClaimAnswer::run);
  EXPECT_EQ(effects, 1);
}

TEST(MemoryIdempotencyStore, EpochsNeverRepeatNotEvenAfterAnAbort) {
  MemoryIdempotencyStore store;
  const KeyScope scope{"c", "r", "k"};
  const std::uint64_t first = store.claim(kNow, scope, {}).value().epoch;
  ASSERT_TRUE(store.release(scope, first).value());
  EXPECT_GT(store.claim(kNow, scope, {}).value().epoch, first);
}

TEST(MemoryIdempotencyStore, ReplaysNothingThatACrashCouldTakeBack) {
  MemoryIdempotencyStore store(true);
  const KeyScope scope{"c", "r", "k"};
  const std::uint64_t epoch = store.claim(kNow, scope, {}).value().epoch;
  ASSERT_EQ(store.commit(kNow, scope, epoch, RecordState::applied, "done", [] { return true; }).value(),
            CommitAnswer::done);
  EXPECT_EQ(store.claim(kNow, scope, {}).value().answer, ClaimAnswer::in_flight);
  EXPECT_EQ(store.status(kNow, scope, std::nullopt, ReadFrom::primary).value().says, RecordSays::in_flight);
  MemoryIdempotencyStore crashed = store;
  crashed.crash();
  EXPECT_EQ(crashed.record(scope).state(), RecordState::in_flight);
  store.make_durable(scope);
  EXPECT_EQ(store.claim(kNow, scope, {}).value().answer, ClaimAnswer::replay);
}

TEST(MemoryIdempotencyStore, ACommitThatWaitsForItsDiskBeatTheLimit) {
  MemoryIdempotencyStore store(true);
  const KeyScope scope{"c", "r", "k"};
  const Instant limit = kNow + 1s;
  const auto limit_passed = [&](Instant at) {
    return store.status(at, scope, limit, ReadFrom::primary).value().limit_passed;
  };
  const std::uint64_t epoch = store.claim(kNow, scope, {.valid_until = limit}).value().epoch;
  EXPECT_FALSE(limit_passed(limit - 1ns));
  EXPECT_TRUE(limit_passed(limit)) << "in flight, and its commit will fail";
  ASSERT_EQ(store.commit(kNow, scope, epoch, RecordState::applied, "done", [] { return true; }).value(),
            CommitAnswer::done);
  EXPECT_FALSE(limit_passed(limit));
  EXPECT_EQ(store.status(limit, scope, limit, ReadFrom::primary).value().says, RecordSays::in_flight);
}

TEST(MemoryIdempotencyStore, AReplicaLagsAndSaysThatItIsOne) {
  MemoryIdempotencyStore store;
  const KeyScope scope{"c", "r", "k"};
  (void)store.fence(kNow, scope);
  const RecordTold stale = store.status(kNow, scope, std::nullopt, ReadFrom::any_replica).value();
  EXPECT_EQ(stale.says, RecordSays::absent);
  EXPECT_FALSE(stale.at_primary);
  store.catch_up(scope);
  EXPECT_EQ(store.status(kNow, scope, std::nullopt, ReadFrom::any_replica).value().says, RecordSays::fenced);
}

TEST(MemoryIdempotencyStore, AReplicaIsNeverAheadOfWhatIsDurable) {
  MemoryIdempotencyStore store(true);
  const KeyScope scope{"c", "r", "k"};
  const auto replica_says = [&] {
    return store.status(kNow, scope, std::nullopt, ReadFrom::any_replica).value().says;
  };
  const std::uint64_t epoch = store.claim(kNow, scope, {}).value().epoch;
  ASSERT_EQ(store.commit(kNow, scope, epoch, RecordState::applied, "done", [] { return true; }).value(),
            CommitAnswer::done);
  store.catch_up(scope);
  EXPECT_EQ(replica_says(), RecordSays::in_flight) << "a crash could take it back";
  store.make_durable(scope);
  store.catch_up(scope);
  store.crash();
  EXPECT_EQ(replica_says(), RecordSays::applied);
}

}  // namespace
}  // namespace overdue
