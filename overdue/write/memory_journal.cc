#include "overdue/write/memory_journal.h"

#include <algorithm>

#include "overdue/base/check.h"

namespace overdue {

PersistTicket MemoryJournal::ask_entry(const JournalEntry& entry) {
  const PersistTicket ticket{++tickets_};
  pending_.push_back({.ticket = ticket, .process = process_, .entry = entry, .what = {}});
  return ticket;
}

PersistTicket MemoryJournal::ask(OperationId id, const Persist& what) {
  OVERDUE_CHECK(what.kind != PersistKind::entry);
  const PersistTicket ticket{++tickets_};
  pending_.push_back({.ticket = ticket, .process = process_, .entry = {}, .what = what});
  pending_.back().entry.id = id;
  return ticket;
}

std::optional<PersistReport> MemoryJournal::next_report() {
  const auto ours = std::ranges::find(reports_, process_, &Report::process);
  if (ours == reports_.end()) return std::nullopt;
  const PersistReport report = ours->report;
  reports_.erase(ours);
  return report;
}

std::optional<JournalEntry> MemoryJournal::find(OperationId id) const {
  const auto found = std::ranges::find(entries_, id, &JournalEntry::id);
  if (found == entries_.end()) return std::nullopt;
  return *found;
}

std::vector<JournalEntry> MemoryJournal::unresolved() const {
  std::vector<JournalEntry> open;
  for (const JournalEntry& entry : entries_) {
    if (entry.state == EntryState::sent || entry.state == EntryState::needs_person) open.push_back(entry);
  }
  return open;
}

bool MemoryJournal::collect(OperationId id) {
  const JournalEntry* entry = at(id);
  if (entry == nullptr || entry->state == EntryState::sent || entry->state == EntryState::needs_person)
    return false;
  collected_.insert(id);
  const std::string intent = entry->intent;
  auto oldest = std::ranges::find(entries_, intent, &JournalEntry::intent);
  while (oldest != entries_.end() && collected_.erase(oldest->id) > 0) {
    oldest = entries_.erase(oldest);
    oldest = std::ranges::find(oldest, entries_.end(), intent, &JournalEntry::intent);
  }
  return true;
}

bool MemoryJournal::has_report(std::uint32_t process) const {
  return std::ranges::find(reports_, process, &Report::process) != reports_.end();
}

void MemoryJournal::land(PersistTicket ticket) {
  const Pending pending = take(ticket);
  PersistEnded ended{.kind = pending.what.kind};
  JournalEntry* entry = at(pending.entry.id);
  if (pending.what.kind != PersistKind::entry) {
    if (entry == nullptr)
      ended.result = PersistResult::rolled_back;
    else
      ended = apply_persist(*entry, pending.what);
  } else {
    std::vector<JournalEntry> of_intent;
    for (const JournalEntry& other : entries_) {
      if (other.intent == pending.entry.intent) of_intent.push_back(other);
    }
    if (entry == nullptr && may_insert(pending.entry, of_intent))
      entries_.push_back(pending.entry);
    else
      ended.result = PersistResult::rolled_back;
  }
  report(pending, ended);
}

void MemoryJournal::roll_back(PersistTicket ticket) {
  const Pending pending = take(ticket);
  report(pending, {.kind = pending.what.kind, .result = PersistResult::rolled_back});
}

void MemoryJournal::leave_unknown(PersistTicket ticket) {
  const auto found = std::ranges::find(pending_, ticket, &Pending::ticket);
  OVERDUE_CHECK(found != pending_.end() && !found->told_unknown);
  found->told_unknown = true;
  report(*found, {.kind = found->what.kind, .result = PersistResult::unknown});
}

void MemoryJournal::crash(std::uint32_t process) {
  std::erase_if(reports_, [&](const Report& report) { return report.process == process; });
  for (Pending& pending : pending_) {
    if (pending.process == process) pending.orphan = true;
  }
}

bool MemoryJournal::settled() const { return std::ranges::none_of(pending_, &Pending::orphan); }

void MemoryJournal::overwrite(const JournalEntry& entry) {
  if (JournalEntry* there = at(entry.id))
    *there = entry;
  else
    entries_.push_back(entry);
}

MemoryJournal::Pending MemoryJournal::take(PersistTicket ticket) {
  const auto found = std::ranges::find(pending_, ticket, &Pending::ticket);
  OVERDUE_CHECK(found != pending_.end());
  Pending pending = std::move(*found);
  pending_.erase(found);
  return pending;
}

void MemoryJournal::report(const Pending& about, const PersistEnded& ended) {
  if (about.orphan) return;
  reports_.push_back({about.process, {.ticket = about.ticket, .id = about.entry.id, .ended = ended}});
}

JournalEntry* MemoryJournal::at(OperationId id) {
  const auto found = std::ranges::find(entries_, id, &JournalEntry::id);
  return found == entries_.end() ? nullptr : &*found;
}

}  // namespace overdue
