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
  const JournalEntry* entry = at(id);
  if (entry == nullptr) return std::nullopt;
  return *entry;
}

std::vector<JournalEntry> MemoryJournal::unresolved() const {
  std::vector<JournalEntry> open;
  for (const auto& [landed, entry] : entries_) {
    if (entry.state == EntryState::sent || entry.state == EntryState::needs_person) open.push_back(entry);
  }
  return open;
}

bool MemoryJournal::collect(OperationId id) {
  const JournalEntry* entry = at(id);
  if (entry == nullptr || entry->state == EntryState::sent || entry->state == EntryState::needs_person)
    return false;
  collected_.insert(id);
  const auto of_intent = of_intent_.find(entry->intent);
  std::vector<std::uint64_t>& landed = of_intent->second;
  while (!landed.empty()) {
    const auto oldest = entries_.find(landed.front());
    if (collected_.erase(oldest->second.id) == 0) return true;
    by_id_.erase(oldest->second.id);
    entries_.erase(oldest);
    landed.erase(landed.begin());
  }
  of_intent_.erase(of_intent);
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
    if (const auto others = of_intent_.find(pending.entry.intent); others != of_intent_.end()) {
      for (const std::uint64_t landed : others->second) of_intent.push_back(entries_.at(landed));
    }
    if (entry == nullptr && may_insert(pending.entry, of_intent))
      insert(pending.entry);
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
  JournalEntry* there = at(entry.id);
  if (there == nullptr) return insert(entry);
  OVERDUE_CHECK(there->intent == entry.intent);
  *there = entry;
}

void MemoryJournal::insert(const JournalEntry& entry) {
  entries_.emplace(++landed_, entry);
  by_id_.emplace(entry.id, landed_);
  of_intent_[entry.intent].push_back(landed_);
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

const JournalEntry* MemoryJournal::at(OperationId id) const {
  const auto found = by_id_.find(id);
  return found == by_id_.end() ? nullptr : &entries_.at(found->second);
}

JournalEntry* MemoryJournal::at(OperationId id) {
  const auto found = by_id_.find(id);
  return found == by_id_.end() ? nullptr : &entries_.at(found->second);
}

}  // namespace overdue
