#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "overdue/base/time.h"
#include "overdue/write/outcome.h"
#include "overdue/write/write_event.h"

namespace overdue {

// One write as the journal keeps it. What comes before `epoch` is frozen with the entry.
struct JournalEntry {
  OperationId id{};
  std::string intent;  // What the caller wants done once; at most one entry of an intent may be open.
  std::string key;     // Sent with every attempt, for ever the same.
  std::string target;  // Where to, and how it is framed.
  std::string bytes;
  WallTime last_send{};
  std::optional<OperationId> replaces;  // The entry of this intent that ended not applied.

  std::uint64_t epoch = 1;
  EntryState state = EntryState::sent;
  Proof proof = Proof::none;
  PersonReason reason = PersonReason::nothing_offered;
  bool sealed = false;
  Closing closing;
  std::vector<Outcome> contradictions;
};

// Does what `what` asks to an entry, or says why not; the one place where it is decided:
//
//     an entry that has ended stays as it is (only a contradiction is appended to one closed by a person);
//     where there is a guard, the entry's epoch must be it;
//     a closing needs an entry that waits for a person.
//
// In SQL: UPDATE ... WHERE id = ? AND state IN (sent, needs_person) [AND epoch = ?], and a read where no row
// changed. Requires: what.kind is not entry.
PersistEnded apply_persist(JournalEntry& entry, const Persist& what);

// Whether a new entry may be written beside those of its intent: each other has ended not applied, and the
// newest of them is the one it replaces.
bool may_insert(const JournalEntry& entry, const std::vector<JournalEntry>& of_this_intent);

enum class PersistTicket : std::uint64_t {};
struct PersistReport {
  PersistTicket ticket{};
  OperationId id{};
  PersistEnded ended;
};

// Journal keeps writes from before their first byte to their end, on a disk that outlives the process.
//
// What an implementation promises:
//   durable          `done` is reported when what was asked survives a crash of the process and of the
//   machine
//                    (SQLite: synchronous = FULL; PostgreSQL: synchronous_commit on), and never sooner. Until
//                    then it may be there or not, now or later.
//   rolled back      surely not there, and never will be. A conflict with may_insert() is told so.
//   unknown          the connection broke in COMMIT, the disk said neither yes nor no. For an entry the
//                    journal asks on by itself and reports again, done or rolled_back. The rest may simply be
//                    asked twice.
//   order            what one process asks of one entry is done in the order asked. Nothing is said of the
//                    order among processes: apply_persist() makes every order safe.
//   epoch            counts the owners of an entry. A take_over adds one; no number ever comes back.
//   recovery         unresolved() and "no entry" are meant only once all that dead processes asked for has
//                    landed or is sure not to (open the WAL; end the old backends). A write that is still on
//                    its way is not one that was never made.
//   deletion         entries go only through collect(): confirmed or closed, and heard of by their caller.
//                    Of one intent the oldest goes first: one collected while an older one is there stays
//                    until that is collected too. Without it the next would replace none that is there.
//
// Threads: an implementation's own; it is called by one owner.
class Journal {
 public:
  virtual ~Journal() = default;

  virtual PersistTicket ask_entry(const JournalEntry& entry) = 0;
  // Requires: what.kind is not entry.
  virtual PersistTicket ask(OperationId id, const Persist& what) = 0;
  // What became of one thing asked, if anything new is known. Each is reported once, in any order.
  virtual std::optional<PersistReport> next_report() = 0;

  virtual std::optional<JournalEntry> find(OperationId id) const = 0;
  // Entries in state sent or needs_person, for a process that starts or takes over.
  virtual std::vector<JournalEntry> unresolved() const = 0;
  // It goes, now or with the last older one of its intent. False where it has not ended, or there is none.
  virtual bool collect(OperationId id) = 0;
};

}  // namespace overdue
