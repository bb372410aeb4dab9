#include "overdue/write/journal.h"

#include <gtest/gtest.h>

#include "overdue/write/memory_journal.h"

namespace overdue {
namespace {

constexpr OperationId kId{1};
const Persist kApplied{.kind = PersistKind::outcome, .outcome = {EntryState::applied, Proof::reply}};

JournalEntry entry_of(EntryState state, std::uint64_t epoch = 1) {
  return {.id = kId, .intent = "pay", .epoch = epoch, .state = state};
}

TEST(Journal, RecordProofNeedsNoEpochAndAttemptProofDoes) {
  JournalEntry taken_over = entry_of(EntryState::sent, 2);
  Persist never{.kind = PersistKind::outcome, .guard = 1, .outcome = {EntryState::never, Proof::never_sent}};
  EXPECT_EQ(apply_persist(taken_over, never).result, PersistResult::epoch_lost);
  EXPECT_EQ(taken_over.state, EntryState::sent);
  EXPECT_EQ(apply_persist(taken_over, kApplied).result, PersistResult::done);
  EXPECT_EQ(taken_over.state, EntryState::applied);
}

TEST(Journal, NothingChangesAnEnd) {
  for (const EntryState state :
       {EntryState::applied, EntryState::rejected, EntryState::never, EntryState::closed}) {
    for (const PersistKind kind : {PersistKind::take_over, PersistKind::outcome, PersistKind::person,
                                   PersistKind::seal, PersistKind::closing}) {
      JournalEntry entry = entry_of(state);
      const PersistEnded ended = apply_persist(entry, {.kind = kind});
      EXPECT_EQ(ended.result, PersistResult::ended);
      EXPECT_EQ(ended.found.state, state);
      EXPECT_EQ(entry.state, state);
      EXPECT_EQ(entry.epoch, 1U);
    }
  }
}

TEST(Journal, ASecondWriteOfAnIntentNeedsOneThatEndedNotAppliedToReplace) {
  JournalEntry second{.id = OperationId{2}, .intent = "pay"};
  EXPECT_FALSE(may_insert(second, {entry_of(EntryState::sent)}));
  EXPECT_FALSE(may_insert(second, {entry_of(EntryState::never)}));
  second.replaces = kId;
  EXPECT_TRUE(may_insert(second, {entry_of(EntryState::never)}));
  EXPECT_TRUE(may_insert(second, {entry_of(EntryState::rejected)}));
  EXPECT_FALSE(may_insert(second, {entry_of(EntryState::applied)}));
  EXPECT_FALSE(may_insert(second, {entry_of(EntryState::needs_person)}));
}

TEST(MemoryJournal, WhatACrashedProcessAskedForMayStillLandAndUntilThenNothingIsSettled) {
  MemoryJournal journal;
  journal.as(0);
  const PersistTicket ticket = journal.ask_entry({.id = kId, .intent = "pay"});
  journal.crash(0);
  EXPECT_TRUE(journal.unresolved().empty());
  EXPECT_FALSE(journal.settled());
  journal.land(ticket);
  EXPECT_TRUE(journal.settled());
  EXPECT_EQ(journal.unresolved().size(), 1U);
  EXPECT_FALSE(journal.next_report().has_value()) << "nobody is left to hear of it";
}

TEST(MemoryJournal, AnUnknownEntryIsReportedAgainOnceItIsKnown) {
  MemoryJournal journal;
  const PersistTicket ticket = journal.ask_entry({.id = kId, .intent = "pay"});
  journal.leave_unknown(ticket);
  EXPECT_EQ(journal.next_report()->ended.result, PersistResult::unknown);
  journal.land(ticket);
  EXPECT_EQ(journal.next_report()->ended.result, PersistResult::done);
}

TEST(MemoryJournal, CollectsOnlyWhatHasEnded) {
  MemoryJournal journal;
  journal.land(journal.ask_entry({.id = kId, .intent = "pay"}));
  EXPECT_FALSE(journal.collect(kId));
  journal.land(journal.ask(kId, kApplied));
  EXPECT_TRUE(journal.collect(kId));
  EXPECT_FALSE(journal.find(kId).has_value());
}

TEST(MemoryJournal, CollectsTheOldestOfAnIntentFirstSoThatANextOneFindsWhatItReplaces) {
  constexpr OperationId kSecond{2};
  const Persist never{.kind = PersistKind::outcome, .outcome = {EntryState::never, Proof::never_sent}};
  MemoryJournal journal;
  journal.land(journal.ask_entry({.id = kId, .intent = "pay"}));
  journal.land(journal.ask(kId, never));
  journal.land(journal.ask_entry({.id = kSecond, .intent = "pay", .replaces = kId}));
  journal.land(journal.ask(kSecond, never));
  EXPECT_TRUE(journal.collect(kSecond));
  EXPECT_TRUE(journal.find(kSecond).has_value()) << "the first is still there";
  journal.land(journal.ask_entry({.id = OperationId{3}, .intent = "pay", .replaces = kSecond}));
  EXPECT_TRUE(journal.find(OperationId{3}).has_value());
  EXPECT_TRUE(journal.collect(kId));
  EXPECT_FALSE(journal.find(kId).has_value());
  EXPECT_FALSE(journal.find(kSecond).has_value());
  EXPECT_TRUE(journal.find(OperationId{3}).has_value()) << "it has not ended";
}

}  // namespace
}  // namespace overdue
