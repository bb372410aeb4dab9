#pragma once

#include <compare>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "overdue/base/result.h"
#include "overdue/write/idempotency_record.h"

namespace overdue {

// Whose key, for what: no caller's key ever answers another, nor one route's another's.
struct KeyScope {
  std::string caller, route, key;
  auto operator<=>(const KeyScope&) const = default;
};

struct ClaimRequest {
  std::uint64_t fingerprint = 0;
  Duration lease{30'000'000'000};
  std::optional<Instant> valid_until;
  std::optional<Instant> deadline;
};
struct ClaimReply {
  ClaimAnswer answer = ClaimAnswer::in_flight;
  std::uint64_t epoch = 0;  // Where answer is run.
  bool applied = false;     // Where it is replay: applied, or rejected, and the first reply.
  std::string reply;
  bool limit_passed = false;            // Where it is too_late: valid_until, which is final for the key.
  std::optional<Duration> retry_after;  // Where it is in_flight.
};
enum class ReadFrom : std::uint8_t { primary, any_replica };

// IdempotencyStore keeps the records of keys on the server's side.
//
// What an implementation promises:
//   one transaction  each call is one, serializable for its key. commit() runs `effect` inside its own: the
//                    effect, the record and the reply are there together or not at all.
//   durable          commit() and fence() return, and claim() replays, only what survives a crash of the
//                    server: a replay is as durable as the first reply.
//   epochs           come from one sequence that never repeats, not after an abort nor a crash.
//   clock            one: the database's. `now` is read there, in the same transaction.
//   primary          claim, commit, abort, fence and a status from primary see everything done before. A
//                    status from a replica says at_primary = false.
//   sizes            a reply that cannot be kept makes commit() fail, with nothing done.
// A Result without a value means that nobody knows: answer 5xx, keep no record of it.
//
// Threads: an implementation's own.
class IdempotencyStore {
 public:
  virtual ~IdempotencyStore() = default;

  virtual Result<ClaimReply> claim(Instant now, const KeyScope& scope, const ClaimRequest& request) = 0;
  // `effect` returns false to have nothing done: then the key is free again, and the answer is `lost`.
  virtual Result<CommitAnswer> commit(Instant now, const KeyScope& scope, std::uint64_t epoch,
                                      RecordState outcome, const std::string& reply,
                                      const std::function<bool()>& effect) = 0;
  virtual Result<bool> release(const KeyScope& scope, std::uint64_t epoch) = 0;
  virtual Result<RecordTold> fence(Instant now, const KeyScope& scope) = 0;
  virtual Result<RecordTold> status(Instant now, const KeyScope& scope, std::optional<Instant> valid_until,
                                    ReadFrom from) const = 0;
};

}  // namespace overdue
