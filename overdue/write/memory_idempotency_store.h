#pragma once

#include <functional>
#include <map>

#include "overdue/write/idempotency_store.h"

namespace overdue {

// MemoryIdempotencyStore is an IdempotencyStore for simulations. Its replica lags until catch_up(). With
// `lag` its commits are not durable until make_durable(): a claim that meets one is told in_flight till then,
// and crash() takes it back; whoever keeps the effects takes them back too. The replica is never ahead of
// what is durable, and so a crash leaves it as it is.
//
// Threads: none. Copies are whole stores.
class MemoryIdempotencyStore final : public IdempotencyStore {
 public:
  explicit MemoryIdempotencyStore(bool lag = false) : lag_(lag) {}

  Result<ClaimReply> claim(Instant now, const KeyScope& scope, const ClaimRequest& request) override;
  Result<CommitAnswer> commit(Instant now, const KeyScope& scope, std::uint64_t epoch, RecordState outcome,
                              const std::string& reply, const std::function<bool()>& effect) override;
  Result<bool> release(const KeyScope& scope, std::uint64_t epoch) override;
  Result<RecordTold> fence(Instant now, const KeyScope& scope) override;
  Result<RecordTold> status(Instant now, const KeyScope& scope, std::optional<Instant> valid_until,
                            ReadFrom from) const override;

  // As it stands, durable or not; a new one where there is none.
  IdempotencyRecord record(const KeyScope& scope) const;
  bool durable(const KeyScope& scope) const;
  void make_durable(const KeyScope& scope);
  void crash();
  void catch_up(const KeyScope& scope);  // With what is durable by now.
  RecordState replica_state(const KeyScope& scope) const;
  // The records of these keys go, as if there never was one. For those that nobody asks for any more.
  void forget_if(const std::function<bool(const KeyScope&)>& unwanted);
  // Does nothing to a key in flight, or one whose commit is not durable.
  bool end_retention(const KeyScope& scope, ExpiredKeys expired);

 private:
  struct Kept {
    IdempotencyRecord record, replica;
    std::optional<IdempotencyRecord> durable;  // Where it differs from `record`.
  };
  std::map<KeyScope, Kept> kept_;
  std::uint64_t epochs_ = 0;
  bool lag_;
};

}  // namespace overdue
