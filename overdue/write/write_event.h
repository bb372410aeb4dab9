#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <variant>
#include <vector>

#include "overdue/call/event.h"
#include "overdue/write/outcome.h"
#include "overdue/write/write_terms.h"

namespace overdue {

// What a WriteLifecycle asks its journal to keep.
enum class PersistKind : std::uint8_t {
  entry,          // The write itself: key, frozen bytes, target. Nothing is sent before it is acknowledged.
  take_over,      // The next epoch: this process owns the entry from here.
  outcome,        // applied, rejected or never, with its proof.
  person,         // A person must look, and why.
  seal,           // The key was seen to be closed. What is listed from here on is all there will be.
  closing,        // What a person decided.
  contradiction,  // Proof that says otherwise than the person did. Appended, nothing is rewritten.
};
inline constexpr std::array<std::string_view, 7> kPersistKindNames = {
    "entry", "take_over", "outcome", "person", "seal", "closing", "contradiction"};

// What became of it. `unknown` is told where nobody can say yet; for an entry another result follows.
enum class PersistResult : std::uint8_t {
  done,         // Durable.
  rolled_back,  // Surely not there, and never will be.
  unknown,      // It may be there, now or later.
  epoch_lost,   // Not done: the entry belongs to another process.
  ended,        // Not done: it has ended before, and nothing changes an end.
};

// What the server's record of our key says.
enum class RecordSays : std::uint8_t {
  applied,
  rejected,
  fenced,
  absent,  // No such key; of a listing: our id is not on it.
  in_flight,
  expired,        // The key is closed and was kept as such; what it did is forgotten.
  other_payload,  // The key belongs to other bytes.
  nothing,        // Unreachable, stale, an error, or no answer within its time.
};

// A question, or a request sent again, as the lifecycle asked for it. It comes back with its answer.
struct Question {
  OnUnknown kind = OnUnknown::query;
  bool after_seal = false;  // Asked when the key was known to be closed.
  bool operator==(const Question&) const = default;
};

// Events beside those of an Operation (call/event.h), which come to the lifecycle too.

// A process found the entry after a crash, or in another's place. First event of such a lifecycle.
struct EntryRecovered {
  EntryState state = EntryState::sent;  // sent or needs_person.
  std::uint64_t epoch = 0;              // As read.
  bool sealed = false;                  // A seal was noted, or a person asked because the key expired.
};
struct PersistEnded {
  PersistKind kind = PersistKind::entry;
  PersistResult result = PersistResult::done;
  Outcome found;    // Where it had ended before: how,
  Closing closing;  // and of an entry closed by a person (found.state closed), what the person said.
};
// The record spoke. Where it spoke in the reply to an attempt (fenced, expired, limit passed) the kind is
// retry, and the attempt's own AttemptEnded comes first.
struct RecordTold {
  Question question;
  RecordSays says = RecordSays::nothing;
  bool limit_passed = false;  // By the server's clock, read together with the record.
  bool at_primary = true;
  std::optional<Duration> retry_after;
};
struct PersonDecided {
  bool applied = false;
  bool unproven = false;  // The person knows that "not applied" may be overtaken, and says so all the same.
};
using WriteEvent = std::variant<CallStarted, AttemptConnected, AttemptEnded, CallerLeft, WakeupReached,
                                EntryRecovered, PersistEnded, RecordTold, PersonDecided>;

// Actions beside StartAttempt and AbandonAttempt, to be done in order.

// Ask the journal; the result comes as PersistEnded. Refused unless the entry's epoch is `guard`, where there
// is one. Never done to an entry that has ended, but for a contradiction.
struct Persist {
  PersistKind kind = PersistKind::entry;
  std::optional<std::uint64_t> guard;
  Outcome outcome;                                      // Of an outcome, or a contradiction.
  PersonReason reason = PersonReason::nothing_offered;  // Of person.
  Closing closing;                                      // Of a closing.
};
// Send the same bytes under the same key, as an attempt of this number; or put the question.
struct SendAgain {
  AttemptNumber attempt{};
  Instant answer_by;
};
struct Ask {
  Question question;
  Instant answer_by;
};
// The caller's answer, exactly once and by its deadline.
struct Tell {
  Verdict verdict = Verdict::unknown;
  Outcome outcome;  // Where the verdict is not unknown.
};
// How an unknown write stands now: told at least once, again after a crash.
struct Resolved {
  Outcome outcome;
};
struct AskPerson {
  PersonReason reason;
};
struct PersonAnswered {  // The decision stands, or is declined because nothing keeps the key from acting yet.
  Closing closing;
  bool declined = false;
};
// A person closed it, and proof says otherwise.
struct RaiseAlarm {
  Outcome outcome;
  Closing closing;
};
using WriteAction = std::variant<Persist, StartAttempt, AbandonAttempt, SendAgain, Ask, Tell, Resolved,
                                 AskPerson, PersonAnswered, RaiseAlarm>;

// The rows of the tables (docs/unknown-writes.md) that were taken, for traces and for tests.
enum class WriteRow : std::uint8_t {
  O1,
  O2,
  O3,
  O4,
  O5,
  O6,
  O7,
  O8,
  O9,
  O10,
  O11,
  O12,
  O13,
  O14,
  O15,
  O16,
  L0,
  L1,
  L2,
  L3,
  L4,
  L5,
  L6,
  L7,
  L8,
  L9,
  L10,
  L11,
  L12,
  L13,
  L14,
  L15,
  L16,
  L17,
  L18,
  L19,
  L20,
};
inline constexpr std::size_t kWriteRowCount = 37;

// A write costs a flush to a disk: an allocation beside it is nothing, and a list may be as long as it needs.
struct WriteActions {
  std::vector<WriteAction> actions;
  std::vector<WriteRow> rows;
};

}  // namespace overdue
