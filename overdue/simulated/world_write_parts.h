#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "overdue/base/random.h"
#include "overdue/base/time.h"
#include "overdue/latency/duration_draw.h"
#include "overdue/simulated/scenario_writes.h"
#include "overdue/simulated/slot_pool.h"
#include "overdue/simulated/world_slots.h"
#include "overdue/simulated/write_counts.h"
#include "overdue/write/checker.h"
#include "overdue/write/memory_idempotency_store.h"
#include "overdue/write/memory_journal.h"
#include "overdue/write/write_lifecycle.h"

// What a world keeps for writes that end confirmed, on both sides. A world without a journal or a store has
// none of it.

namespace overdue::world {

// What one copy of a request carries beside its AttemptSlot, what its server notes of it, and what the answer
// says beside its status.
struct WriteMessage {
  KeyScope scope;
  std::string id;  // What a listing shows of it, key or not.
  std::string intent;
  std::string bytes;
  std::optional<Instant> valid_until;
  std::optional<Question> question;  // None: the write itself.
  std::uint32_t copies = 1;          // Of the original, sent so far.

  std::uint64_t epoch = 0;  // Of its claim.
  bool effect_due = false;  // The record says applied, the effect is still to come.
  bool record_due = false;  // The other way round.

  std::uint64_t commit = 0;    // The store's number of it, where it takes time to become durable,
  Instant reply_not_before{};  // and when it will be.
  std::string reply;
  std::optional<RecordTold> told;
  std::optional<Duration> retry_after;
  bool did_nothing = false;  // This copy was turned away, and is at its end.
};

// One begun write: what became of it, whoever was at work on it. Kept until nothing can change it.
struct WriteOperation {
  std::uint32_t client = kNone;
  std::uint32_t instance = 0;
  std::uint32_t root = kNone;  // The call in whose place all this is done; held until the write has ended.
  std::uint64_t number = 0;    // Its intent's, as a trace prints it.
  std::string intent, key, bytes, reply;
  Instant last_send{};
  std::optional<Instant> valid_until;
  std::optional<OperationId> replaces;
  std::uint32_t orders_left = 0;
  std::uint32_t processes = 0;  // At work on it.
  EntryState state = EntryState::sent;
  Proof proof = Proof::none;
  bool told_unknown = false;
  bool answered = false;    // Its caller has a verdict, or died.
  bool superseded = false;  // Another operation was begun for its intent.
  bool holds_root = false;
  bool entry_due = false;  // Told to be durable, and not yet asked for.

  bool ended() const { return is_confirmed(state) || state == EntryState::closed; }
};

// One lifecycle in one process.
struct WriteSlot {
  std::optional<WriteLifecycle> lifecycle;  // None: its process is gone.
  OperationId operation{};
  std::uint32_t process = 0;
  std::uint32_t step = kNone;  // The attempt of the step that is out,
  Instant step_by{};           // and until when it is waited for.
  Instant journal_free{};      // When the last thing asked of the journal will be done.
};

// What the checker found, of writes in whatever order they ended.
struct Findings {
  std::array<std::uint64_t, kFindingKindCount> found{};
  std::set<std::pair<OperationId, std::string>> first;  // The earliest operations', at most five.
};

// A client's journal and the processes that share it.
struct JournalState {
  const ClientJournal* said = nullptr;
  MemoryJournal journal;
  WriteTerms terms;
  Duration last_send{};
  DurationDraw persist;
  Random random{0};
  std::vector<std::uint32_t> channels;   // One a process,
  std::vector<std::uint32_t> processes;  // and its present number.
  std::vector<OperationId> orphans;      // Begun by processes that died; looked after when another is there.
  std::uint64_t keys = 0;
  bool down = false;
  WriteCounts counts;  // Of the writes that were forgotten.
  Findings findings;
  std::map<std::pair<OperationId, std::uint32_t>, std::uint32_t> calls;  // By operation and process.
};

// Something asked of a journal, until it is done.
struct JournalEvent {
  std::uint32_t client = kNone;
  std::uint32_t call = kNone;
  PersistTicket ticket{};
  PersistKind kind = PersistKind::entry;
  OperationId operation{};
  std::uint32_t process = 0;
  bool pretended = false;    // Nothing was asked, and the answer is "done".
  bool was_unknown = false;  // And is known now.
};

// A commit that a failover can still take back.
struct UndurableCommit {
  KeyScope scope;
  std::uint64_t number = 0;
  bool effect = false;
  std::string caller, key, id, intent;
  std::uint32_t root = kNone;
  std::uint64_t root_key = 0;
};

struct StoreState {
  const Store* said = nullptr;
  MemoryIdempotencyStore records;
  DurationDraw answers, replica_lag, durable_after;
  Random random{0};
  std::map<KeyScope, Instant> done_at;  // Since when its record stands: retention counts from here.
  std::vector<UndurableCommit> undurable;
  std::set<std::pair<std::string, std::string>> listed;  // Caller and id of every effect.
  std::set<std::uint64_t> lost;                          // Commits that a failover took back.
  std::uint64_t commits = 0;
};

// A record that becomes durable, or reaches the replica.
struct StoreEvent {
  std::uint32_t service = kNone;
  KeyScope scope;
  std::uint64_t commit = 0;
};

// What happens later, one event of the queue.
struct Later {
  enum class What : std::uint8_t { journal, recovery, durable, replicated };
  What what = What::journal;
  JournalEvent journal;
  StoreEvent store;
  std::uint32_t client = kNone;  // Of a recovery.
};

struct WriteWorld {
  History history;
  Ledger ledger;
  std::map<OperationId, WriteOperation> operations;
  std::uint64_t begun = 0;  // Operations, in all: their ids count from 1.
  bool forgets = false;     // Nobody is wrong, so an intent has its keys for itself.
  std::size_t forget_at{};  // When so much is kept, what has ended is forgotten.
  Findings findings;        // Of the writes that were forgotten, all clients'.
  SlotPool<WriteSlot> slots;
  SlotPool<WriteMessage> messages;
  SlotPool<Later> later;
  std::vector<JournalState> journals;  // By client; `said` is null where it has none.
  std::vector<StoreState> stores;      // By service, likewise.
  std::uint32_t processes = 0;
  std::uint64_t effects = 0;

  WriteOperation& operation(OperationId id) { return operations.at(id); }
};

}  // namespace overdue::world
