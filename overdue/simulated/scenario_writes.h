#pragma once

#include <array>
#include <bitset>
#include <cstdint>
#include <optional>
#include <string_view>

#include "overdue/base/probability.h"
#include "overdue/base/time.h"
#include "overdue/simulated/scenario_time.h"
#include "overdue/write/write_terms.h"

namespace overdue {

// What a scenario says of writes that end confirmed: the server's record of keys (a service's `store`) and
// the client's journal (a client's `journal`). Each may be wrong in named ways, which real ones are: a
// scenario shows what that does.

enum class StoreWrong : std::uint8_t {
  ignores_keys,               // No record is kept: every request runs.
  check_then_set,             // Looks first and writes the record at the end: two at once both run.
  effect_then_key,            // The effect in one transaction, the record in a later one, with the reply.
  key_then_effect,            // The other way round.
  no_fencing,                 // A worker whose lease was taken over commits all the same.
  no_lease,                   // A claim whose worker died is held for ever.
  answers_before_durable,     // Replies and replays what a failover can still take back.
  stores_errors,              // A failure of the server's own (500) becomes the key's answer.
  replay_differs,             // A repeat is answered with something else than the first time.
  ignores_payload,            // Other bytes under the same key get the first one's reply.
  ignores_caller,             // One caller's key answers another's request.
  fence_only_looks,           // Says fenced, and writes no tombstone.
  fence_spares_worker,        // The tombstone does not stop a worker that runs.
  fence_at_replica,           // Absence is judged on a replica that lags.
  limit_at_claim,             // The validity limit is checked before the work, not in the commit.
  replica_says_primary,       // A lagging replica's status passes for the primary's.
  unavailable_is_not_found,   // A gateway says "not found" where the store cannot be reached.
  not_executed_after_commit,  // Says "deadline passed, not executed" though it committed.
  large_reply_unrecorded,     // A reply too large to keep: the effect stays, the record is lost.
  reply_not_kept,             // A repeat of a finished request finds no reply and fails.
};
inline constexpr std::size_t kStoreWrongCount = 20;
inline constexpr std::array<std::string_view, kStoreWrongCount> kStoreWrongNames = {
    "ignores_keys",
    "check_then_set",
    "effect_then_key",
    "key_then_effect",
    "no_fencing",
    "no_lease",
    "answers_before_durable",
    "stores_errors",
    "replay_differs",
    "ignores_payload",
    "ignores_caller",
    "fence_only_looks",
    "fence_spares_worker",
    "fence_at_replica",
    "limit_at_claim",
    "replica_says_primary",
    "unavailable_is_not_found",
    "not_executed_after_commit",
    "large_reply_unrecorded",
    "reply_not_kept"};

// One idempotency store of a service, shared by its replicas as a database is: it outlives their crashes.
struct Store {
  Duration lease{30'000'000'000};
  std::optional<Duration> retention;  // From completion. None: for as long as the run lasts.
  ExpiredKeys expired = ExpiredKeys::remembered;
  Duration clock_ahead{};  // The clock that judges retention is ahead by this.
  // Questions are answered by a replica, without a worker, after this.
  TimeDistribution answers;
  bool status = true;
  bool status_fences = false;  // A status that finds nothing writes a tombstone in the same transaction.
  bool fence = true;
  bool listing = true;
  Probability unavailable;  // Of questions: the store cannot be reached.
  // A status is read from a replica that is this far behind. None: at the primary.
  std::optional<TimeDistribution> replica_lag;
  // A commit is durable after this; a failover before takes it back. None: at once.
  std::optional<TimeDistribution> durable_after;
  Probability rejects;        // Of keys: a no (402) is recorded.
  Probability throttles;      // Of requests: turned away before anything (429).
  Probability large_replies;  // Of keys: the reply is too large to keep, and only that there was one is.
  std::bitset<kStoreWrongCount> wrong;

  bool is(StoreWrong one) const { return wrong[static_cast<std::size_t>(one)]; }
};

enum class ClientWrong : std::uint8_t {
  fresh_key,           // Every attempt under a key of its own.
  new_body,            // Every attempt with newly made bytes.
  reused_keys,         // Keys count from 1 again in every caller.
  journal_after_send,  // The entry is written only when the caller has been answered.
  key_not_kept,        // The entry is there after a crash, its key is not: a new one is made.
  no_epoch,            // What a process writes to the journal is done whoever owns the entry.
  reset_is_nothing,    // A connection that broke passes for a request that was never sent.
  unknown_is_failure,  // Told unknown, the caller orders again.
  person_is_failure,   // Where a person must look, the caller is told no and orders again.
};
inline constexpr std::size_t kClientWrongCount = 9;
inline constexpr std::array<std::string_view, kClientWrongCount> kClientWrongNames = {
    "fresh_key", "new_body",         "reused_keys",        "journal_after_send", "key_not_kept",
    "no_epoch",  "reset_is_nothing", "unknown_is_failure", "person_is_failure"};

// A client with a journal: its calls are WriteLifecycles over it. All its processes share the journal; when
// one crashes (a fault), another takes its entries over. The policy's write table says what is done with a
// write that stays unknown.
struct ClientJournal {
  TimeDistribution persist;  // How long one write to the journal takes.
  Probability rolled_back;   // Of entries: surely not there.
  Probability unknown;       // Of entries: the answer is lost, and known only `unknown_for` later.
  Duration unknown_for{1'000'000'000};
  // A request says until when it may be done: this long after its write began. None: it does not.
  std::optional<Duration> valid_for;
  // How often the caller, told that its write was not applied, begins a new one for the same intent.
  std::uint32_t orders_again = 0;
  std::bitset<kClientWrongCount> wrong;

  bool is(ClientWrong one) const { return wrong[static_cast<std::size_t>(one)]; }
};

// Something on the way that repeats requests on its own, without anybody's knowledge: of `share` of them a
// second copy is sent `after` the first.
struct Repeats {
  Probability share;
  TimeDistribution after;
  std::uint32_t line = 0;  // Where it stands; 0 where it is said on the command line.
};

}  // namespace overdue
