#include "overdue/write/checker.h"

#include <gtest/gtest.h>

namespace overdue {
namespace {

constexpr OperationId kOne{1};
using M = HistoryMark;

HistoryEntry begun(std::string caller = "alice") {
  return {.mark = M::begun, .operation = kOne, .caller = std::move(caller), .key = "k", .text = "pay"};
}
HistoryEntry persisted() { return {.mark = M::persisted, .operation = kOne}; }
HistoryEntry sent(std::string key = "k", std::string bytes = "x") {
  return {.mark = M::sent, .operation = kOne, .attempt = 1, .key = std::move(key), .text = std::move(bytes)};
}
HistoryEntry told(Verdict verdict, Proof proof, std::string reply = {}) {
  return {.mark = M::told, .operation = kOne, .verdict = verdict, .proof = proof, .text = std::move(reply)};
}
HistoryEntry journaled(EntryState state, Proof proof = Proof::none) {
  return {.mark = M::journaled, .operation = kOne, .state = state, .proof = proof};
}
LedgerEntry effect(std::string caller = "alice", std::string reply = "paid") {
  return {.mark = LedgerMark::effect,
          .caller = std::move(caller),
          .key = "k",
          .intent = "pay",
          .payload = "x",
          .reply = std::move(reply)};
}
LedgerEntry mark(LedgerMark which) { return {.mark = which, .caller = "alice", .key = "k"}; }

struct CheckCase {
  const char* name;
  History history;
  std::vector<LedgerEntry> ledger;
  std::vector<FindingKind> findings;
};

std::vector<CheckCase> cases() {
  using V = Verdict;
  using P = Proof;
  using K = FindingKind;
  const HistoryEntry unknown = told(V::unknown, P::none);
  return {
      {"applied by reply",
       {begun(), persisted(), sent(), told(V::applied, P::reply, "paid")},
       {effect()},
       {}},
      {"two effects",
       {begun(), persisted(), sent(), told(V::applied, P::reply)},
       {effect(), effect()},
       {K::duplicate}},
      {"an effect lost",
       {begun(), persisted(), sent(), told(V::applied, P::reply)},
       {effect(), {.mark = LedgerMark::effect_lost, .caller = "alice", .key = "k", .intent = "pay"}},
       {K::loss}},
      {"another intent's effect under its key",
       {begun(), persisted(), sent(), told(V::applied, P::reply)},
       {{.mark = LedgerMark::effect, .caller = "alice", .key = "k", .intent = "another", .reply = "paid"}},
       {K::loss}},
      {"fenced",
       {begun(), persisted(), sent(), unknown, journaled(EntryState::never, P::fenced)},
       {mark(LedgerMark::fenced)},
       {}},
      {"a fence that is not there",
       {begun(), persisted(), sent(), unknown, journaled(EntryState::never, P::fenced)},
       {},
       {K::guess}},
      {"fenced, and an effect",
       {begun(), persisted(), sent(), unknown, journaled(EntryState::never, P::fenced)},
       {mark(LedgerMark::fenced), effect()},
       {K::guess}},
      {"not applied because a reply says so",
       {begun(), persisted(), sent(), told(V::not_applied, P::reply)},
       {},
       {K::guess}},
      {"every attempt definite, one is not",
       {begun(), persisted(), sent(), journaled(EntryState::never, P::every_attempt_definite)},
       {},
       {K::guess}},
      {"every attempt definite, told before durable",
       {begun(),
        persisted(),
        sent(),
        {.mark = M::did_nothing, .operation = kOne, .attempt = 1},
        told(V::not_applied, P::every_attempt_definite)},
       {},
       {K::unpersisted}},
      {"sent before durable",
       {begun(), sent(), persisted(), told(V::applied, P::reply)},
       {effect()},
       {K::unpersisted}},
      {"another key",
       {begun(), persisted(), sent("k"), sent("k2"), told(V::applied, P::reply)},
       {effect()},
       {K::changed_request}},
      {"other bytes",
       {begun(), persisted(), sent(), sent("k", "y"), told(V::applied, P::reply)},
       {effect()},
       {K::changed_request}},
      {"out of confirmed",
       {begun(), persisted(), sent(), journaled(EntryState::applied, P::reply), journaled(EntryState::sent)},
       {effect()},
       {K::reversal}},
      {"a reply nobody gave",
       {begun(), persisted(), sent(), told(V::applied, P::reply, "stolen")},
       {effect()},
       {K::unfaithful_reply}},
      {"another caller's reply",
       {begun(), persisted(), sent(), told(V::applied, P::reply, "hers")},
       {effect(),
        {.mark = LedgerMark::effect, .caller = "bob", .key = "k", .intent = "rent", .reply = "hers"}},
       {K::leaked_key}},
      {"still open", {begun(), persisted(), sent(), unknown}, {}, {K::unresolved}},
      {"at a person, for a reason that holds",
       {begun(),
        persisted(),
        sent(),
        unknown,
        {.mark = M::journaled,
         .operation = kOne,
         .state = EntryState::needs_person,
         .reason = PersonReason::key_expired}},
       {mark(LedgerMark::expired)},
       {}},
      {"at a person, for a reason that does not hold",
       {begun(),
        persisted(),
        sent(),
        unknown,
        {.mark = M::journaled,
         .operation = kOne,
         .state = EntryState::needs_person,
         .reason = PersonReason::key_expired}},
       {},
       {K::unresolved}},
      {"closed under a seal that is not there",
       {begun(),
        persisted(),
        sent(),
        unknown,
        {.mark = M::journaled, .operation = kOne, .state = EntryState::closed, .closing = {.sealed = true}}},
       {},
       {K::guess}},
      {"closed unproven, and wrongly: the person's word, not ours",
       {begun(),
        persisted(),
        sent(),
        unknown,
        {.mark = M::journaled, .operation = kOne, .state = EntryState::closed}},
       {effect()},
       {}},
  };
}

TEST(Checker, FindsEachKindAndNothingWhereAllIsWell) {
  for (const CheckCase& one : cases()) {
    Ledger ledger;
    for (const LedgerEntry& entry : one.ledger) ledger.add(entry);
    std::vector<FindingKind> kinds;
    for (const Finding& finding : check_writes(one.history, ledger, true)) kinds.push_back(finding.kind);
    EXPECT_EQ(kinds, one.findings) << one.name;
  }
}

TEST(Checker, LeavesAnOpenWriteAloneUntilAllHasLanded) {
  const History open = {begun(), persisted(), sent(), told(Verdict::unknown, Proof::none)};
  EXPECT_TRUE(check_writes(open, {}, false).empty());
  EXPECT_EQ(check_writes(open, {}, true).size(), 1U);
}

}  // namespace
}  // namespace overdue
