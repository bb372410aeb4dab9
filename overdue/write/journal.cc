#include "overdue/write/journal.h"

#include <algorithm>

#include "overdue/base/check.h"

namespace overdue {
namespace {

bool has_ended(EntryState state) { return is_confirmed(state) || state == EntryState::closed; }

}  // namespace

PersistEnded apply_persist(JournalEntry& entry, const Persist& what) {
  OVERDUE_CHECK(what.kind != PersistKind::entry);
  PersistEnded ended{.kind = what.kind,
                     .result = PersistResult::done,
                     .found = {.state = entry.state, .proof = entry.proof},
                     .closing = entry.closing};
  if (what.kind == PersistKind::contradiction) {
    entry.contradictions.push_back(what.outcome);
    return ended;
  }
  if (has_ended(entry.state)) {
    ended.result = PersistResult::ended;
    return ended;
  }
  if (what.guard && *what.guard != entry.epoch) {
    ended.result = PersistResult::epoch_lost;
    return ended;
  }
  switch (what.kind) {
    case PersistKind::take_over:
      ++entry.epoch;
      break;
    case PersistKind::outcome:
      entry.state = what.outcome.state;
      entry.proof = what.outcome.proof;
      break;
    case PersistKind::person:
      entry.state = EntryState::needs_person;
      entry.reason = what.reason;
      break;
    case PersistKind::seal:
      entry.sealed = true;
      break;
    case PersistKind::closing:
      if (entry.state != EntryState::needs_person) {
        ended.result = PersistResult::rolled_back;
        return ended;
      }
      entry.state = EntryState::closed;
      entry.closing = what.closing;
      break;
    case PersistKind::entry:
    case PersistKind::contradiction:
      break;
  }
  ended.found = {.state = entry.state, .proof = entry.proof};
  ended.closing = entry.closing;
  return ended;
}

bool may_insert(const JournalEntry& entry, const std::vector<JournalEntry>& of_this_intent) {
  if (of_this_intent.empty()) return true;
  const auto not_applied = [](const JournalEntry& other) {
    return other.state == EntryState::never || other.state == EntryState::rejected ||
           (other.state == EntryState::closed && !other.closing.applied);
  };
  return std::ranges::all_of(of_this_intent, not_applied) && entry.replaces == of_this_intent.back().id;
}

}  // namespace overdue
