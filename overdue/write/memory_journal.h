#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "overdue/write/journal.h"

namespace overdue {

// MemoryJournal is a Journal for simulations: a database whose every delay and fault somebody else decides.
// What is asked waits until it is landed, rolled back or left unknown, in any order among processes. A
// process is named by a number: set who asks with as().
//
// Threads: none. Copies are whole databases.
class MemoryJournal final : public Journal {
 public:
  struct Pending {
    PersistTicket ticket{};
    std::uint32_t process = 0;
    JournalEntry entry;  // Of kind entry; else only its id.
    Persist what;
    bool told_unknown = false;
    bool orphan = false;  // Its process died: it may still land, and nobody will hear of it.
  };

  // Whoever asks and reads reports from here on.
  void as(std::uint32_t process) { process_ = process; }

  PersistTicket ask_entry(const JournalEntry& entry) override;
  PersistTicket ask(OperationId id, const Persist& what) override;
  std::optional<PersistReport> next_report() override;
  std::optional<JournalEntry> find(OperationId id) const override;
  std::vector<JournalEntry> unresolved() const override;
  bool collect(OperationId id) override;

  const std::vector<Pending>& pending() const { return pending_; }
  // By when they landed, from 1.
  const std::map<std::uint64_t, JournalEntry>& entries() const { return entries_; }
  bool has_report(std::uint32_t process) const;

  // Makes it durable, or refuses it by the rules; reports it.
  void land(PersistTicket ticket);
  void roll_back(PersistTicket ticket);
  // Reports `unknown`; it stays pending.
  void leave_unknown(PersistTicket ticket);
  // Its reports are gone; what it asked for is still on its way.
  void crash(std::uint32_t process);
  // Whether what dead processes asked for has landed or is gone: only then does "no entry" mean anything.
  bool settled() const;

  // Writes an entry as it is, past all rules: for tests of those who read journals.
  void overwrite(const JournalEntry& entry);

 private:
  struct Report {
    std::uint32_t process;
    PersistReport report;
  };
  Pending take(PersistTicket ticket);
  void report(const Pending& about, const PersistEnded& ended);
  void insert(const JournalEntry& entry);
  const JournalEntry* at(OperationId id) const;
  JournalEntry* at(OperationId id);

  std::map<std::uint64_t, JournalEntry> entries_;  // Looked up by these two, which hold numbers of it:
  std::map<OperationId, std::uint64_t> by_id_;
  std::map<std::string, std::vector<std::uint64_t>> of_intent_;  // The oldest first.
  std::uint64_t landed_ = 0;
  std::set<OperationId> collected_;  // Kept for an older one of their intent.
  std::vector<Pending> pending_;
  std::vector<Report> reports_;
  std::uint64_t tickets_ = 0;
  std::uint32_t process_ = 0;
};

}  // namespace overdue
