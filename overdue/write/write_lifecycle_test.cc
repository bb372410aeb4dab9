#include "overdue/write/write_lifecycle.h"

#include <gtest/gtest.h>

#include <tuple>

#include "overdue/write/scripted_write.h"

namespace overdue {
namespace {

using namespace std::chrono_literals;
using Kind = PersistKind;

WriteTerms offering(std::vector<OnUnknown> steps) { return {.on_unknown = std::move(steps)}; }

// Two attempts, both sent and given up: the caller waits for its deadline, 100 s.
void send_both(ScriptedWrite& write) {
  write.start(100s);
  write.persisted(0s, Kind::entry);
  write.connected(0s, 1);
  write.wakeup(10s);
  write.connected(10s, 2);
  write.wakeup(20s);
}

TEST(WriteLifecycle, IsAppliedByItsReplyAndToldOnceThatIsDurable) {
  ScriptedWrite write(two_attempts(), offering({OnUnknown::retry}));
  EXPECT_EQ(write.start(100s), "persist entry");
  EXPECT_EQ(write.persisted(1s, Kind::entry), "start 1");
  EXPECT_EQ(write.connected(1s, 1), "");
  EXPECT_EQ(write.answer(2s, 1, 200), "persist outcome applied reply");
  EXPECT_EQ(write.persisted(3s, Kind::outcome), "tell applied reply");
  EXPECT_EQ(write.lifecycle.next_wakeup(), std::nullopt);
}

TEST(WriteLifecycle, IsUnknownAtItsDeadlineAndResolvedByARetryUnderItsKey) {
  ScriptedWrite write(two_attempts(), offering({OnUnknown::retry}));
  write.start(100s);
  EXPECT_EQ(write.persisted(0s, Kind::entry), "start 1");
  write.connected(0s, 1);
  EXPECT_EQ(write.wakeup(10s), "abandon 1; start 2");
  write.connected(10s, 2);
  EXPECT_EQ(write.wakeup(20s), "abandon 2");
  EXPECT_EQ(write.lifecycle.next_wakeup(), Instant(100s));
  EXPECT_EQ(write.wakeup(100s), "tell unknown; send again 3");
  EXPECT_EQ(write.answer(101s, 3, 409), "");
  EXPECT_EQ(write.lifecycle.next_wakeup(), Instant(102s));
  EXPECT_EQ(write.wakeup(102s), "send again 4");
  EXPECT_EQ(write.answer(103s, 4, 200), "persist outcome applied reply");
  EXPECT_EQ(write.persisted(104s, Kind::outcome), "resolved applied reply");
}

TEST(WriteLifecycle, AtTheDeadlineTheClockAnswersAndTheReplyThenResolves) {
  for (const Duration early : {1ns, 0ns, -1ns}) {
    ScriptedWrite write(two_attempts(), offering({}));
    send_both(write);
    const std::string text = write.answer(100s - early, 2, 200);
    EXPECT_EQ(text,
              early > 0ns ? "persist outcome applied reply" : "tell unknown; persist outcome applied reply");
  }
}

TEST(WriteLifecycle, TheEntryMustBeDurableBeforeTheDeadlineToTheNanosecond) {
  for (const auto& [at, text] :
       {std::pair{100s - 1ns, "start 1"},
        std::pair{100s + 0ns, "tell unknown; persist outcome never never_sent if epoch 1"},
        std::pair{100s + 1ns, "tell unknown; persist outcome never never_sent if epoch 1"}}) {
    ScriptedWrite write(two_attempts(), offering({OnUnknown::retry}));
    write.start(100s);
    EXPECT_EQ(write.persisted(at, Kind::entry), text);
  }
}

TEST(WriteLifecycle, ARecordedNoOrAFenceEndsItWhoeverHearsOfIt) {
  ScriptedWrite write(two_attempts(), offering({OnUnknown::query}));
  send_both(write);
  EXPECT_EQ(write.wakeup(100s), "tell unknown; query");
  EXPECT_EQ(write.answer(101s, 1, 402), "persist outcome rejected recorded_rejection");

  ScriptedWrite owner_lost(two_attempts(), offering({OnUnknown::query}));
  send_both(owner_lost);
  owner_lost.wakeup(100s);
  EXPECT_EQ(owner_lost.answer(101s, 1, 429), "");
  EXPECT_EQ(owner_lost.answer(101s, 2, 429), "persist outcome never every_attempt_definite if epoch 1");
  EXPECT_EQ(owner_lost.persisted(102s, Kind::outcome, PersistResult::epoch_lost), "");
  EXPECT_EQ(owner_lost.lifecycle.state(), WriteLifecycle::State::stopped);
  EXPECT_EQ(owner_lost.lifecycle.next_wakeup(), std::nullopt);
  EXPECT_EQ(owner_lost.told(103s, {.says = RecordSays::fenced}), "persist outcome never fenced");
}

TEST(WriteLifecycle, AFenceOverARecordThatMayHaveBeenDeletedProvesNothing) {
  for (const auto& [at, expired, text] :
       {std::tuple{200s - 1ns, ExpiredKeys::deleted, "persist outcome never fenced"},
        std::tuple{200s + 0ns, ExpiredKeys::deleted, ""},
        std::tuple{200s + 0ns, ExpiredKeys::remembered, "persist outcome never fenced"}}) {
    WriteTerms terms = offering({OnUnknown::query});
    terms.expired = expired;
    terms.answer_within = 150s;
    ScriptedWrite write(two_attempts(), terms, {.last_send = Instant(200s)});
    send_both(write);
    EXPECT_EQ(write.wakeup(100s), "tell unknown; query");
    EXPECT_EQ(write.told(at, {.question = {.kind = OnUnknown::query}, .says = RecordSays::fenced}), text);
  }
}

TEST(WriteLifecycle, AttemptProofIsToldOnlyOnceItIsDurable) {
  ScriptedWrite write(two_attempts(), offering({}));
  write.start(100s);
  write.persisted(0s, Kind::entry);
  EXPECT_EQ(write.end(1s, 1, Ending::refused), "start 2");
  EXPECT_EQ(write.end(2s, 2, Ending::refused), "persist outcome never never_sent if epoch 1");
  EXPECT_EQ(write.wakeup(100s), "tell unknown");
  EXPECT_EQ(write.persisted(101s, Kind::outcome), "resolved never never_sent");
}

TEST(WriteLifecycle, AfterACrashAtLeastOneAttemptIsOpenAndItsRejectionsProveNothing) {
  ScriptedWrite write(two_attempts(), offering({OnUnknown::retry}));
  EXPECT_EQ(write.recovered({.state = EntryState::sent, .epoch = 4}), "persist take_over if epoch 4");
  EXPECT_EQ(write.persisted(1s, Kind::take_over), "send again 1");
  EXPECT_EQ(write.lifecycle.epoch(), 5U);
  EXPECT_EQ(write.answer(2s, 1, 429), "");
  EXPECT_EQ(write.wakeup(3s), "send again 2");
  EXPECT_EQ(write.end(4s, 2, Ending::refused), "");
}

TEST(WriteLifecycle, AnExpiredKeyIsSealedAndOnlyAListingAskedAfterThatProvesAbsence) {
  ScriptedWrite write(two_attempts(), offering({OnUnknown::query, OnUnknown::list}));
  send_both(write);
  EXPECT_EQ(write.wakeup(100s), "tell unknown; query");
  EXPECT_EQ(write.told(101s, {.question = {OnUnknown::query}, .says = RecordSays::expired}), "persist seal");
  EXPECT_EQ(write.told(102s, {.question = {OnUnknown::list}, .says = RecordSays::absent}), "");
  EXPECT_EQ(write.persisted(103s, Kind::seal), "list after seal");
  EXPECT_EQ(write.told(104s, {.question = {OnUnknown::list, true}, .says = RecordSays::absent}),
            "persist outcome never sealed_and_not_listed");
}

TEST(WriteLifecycle, APersonCannotSayNotAppliedOfAnOpenKeyUnlessAsUnproven) {
  ScriptedWrite write(two_attempts(), offering({}));
  send_both(write);
  EXPECT_EQ(write.wakeup(100s), "tell unknown; persist person nothing_offered if epoch 1");
  EXPECT_EQ(write.persisted(101s, Kind::person), "ask person nothing_offered");
  EXPECT_EQ(write.tell(102s, PersonDecided{.applied = false}), "decline");
  EXPECT_EQ(write.tell(103s, PersonDecided{.applied = false, .unproven = true}),
            "persist closing not applied unproven");
  EXPECT_EQ(write.persisted(104s, Kind::closing), "closed not applied");
  EXPECT_EQ(write.answer(105s, 2, 200), "persist contradiction applied reply; alarm applied reply")
      << "the closing stands, and somebody must look";
  EXPECT_EQ(write.answer(106s, 2, 200), "");
}

TEST(WriteLifecycle, NothingIsSentAtOrPastTheLastSend) {
  for (const auto& [at, text] : {std::pair{200s - 1ns, "send again 4"},
                                 std::pair{200s + 0ns, "persist person last_send_passed if epoch 1"}}) {
    ScriptedWrite write(two_attempts(), offering({OnUnknown::retry}), {.last_send = Instant(200s)});
    send_both(write);
    EXPECT_EQ(write.wakeup(100s), "tell unknown; send again 3");
    EXPECT_EQ(write.answer(101s, 3, 500), "");
    EXPECT_EQ(write.wakeup(at), text);
  }
}

TEST(WriteLifecycle, WhatProvesNothingOnlyWaits) {
  const struct {
    const char* name;
    RecordTold told;
  } rows[] = {{"not found", {.says = RecordSays::absent}},
              {"in flight", {.says = RecordSays::in_flight}},
              {"unreachable", {}},
              {"not found, the limit passed, and no limit is enforced",
               {.says = RecordSays::absent, .limit_passed = true}}};
  for (const auto& row : rows) {
    ScriptedWrite write(two_attempts(), offering({OnUnknown::query}));
    send_both(write);
    EXPECT_EQ(write.wakeup(100s), "tell unknown; query");
    EXPECT_EQ(write.told(101s, row.told), "") << row.name;
    EXPECT_EQ(write.lifecycle.next_wakeup(), Instant(102s)) << row.name;
  }
}

TEST(Reconciler, UsesWhatIsOfferedAsThePlanAndTheTimeAllow) {
  const std::vector<OnUnknown> everything = {OnUnknown::retry, OnUnknown::query, OnUnknown::fence,
                                             OnUnknown::list};
  const struct {
    AfterDeadline plan;
    Reconciler::Situation situation;
    std::vector<OnUnknown> steps;
  } rows[] = {{AfterDeadline::complete, {}, {OnUnknown::retry, OnUnknown::query, OnUnknown::list}},
              {AfterDeadline::settle, {}, {OnUnknown::query, OnUnknown::list}},
              {AfterDeadline::revoke, {}, {OnUnknown::query, OnUnknown::fence, OnUnknown::list}},
              {AfterDeadline::complete, {.last_send_passed = true}, {OnUnknown::query, OnUnknown::list}},
              {AfterDeadline::complete, {.sealed = true}, {OnUnknown::list}}};
  for (const auto& row : rows) {
    const WriteTerms terms{.on_unknown = everything, .after_deadline = row.plan};
    Reconciler reconciler(terms, 1);
    for (const OnUnknown step : row.steps) {
      const auto next = reconciler.next(row.situation);
      ASSERT_TRUE(std::holds_alternative<Reconciler::Step>(next));
      EXPECT_EQ(std::get<Reconciler::Step>(next).kind, step);
      reconciler.on_taken(row.situation);
    }
  }
}

TEST(Reconciler, AsksAStatusThatFencesOnlyWhileItsRecordIsSurelyKept) {
  for (const auto& [not_found, expired, asks] :
       {std::tuple{NotFound::fenced, ExpiredKeys::deleted, false},
        std::tuple{NotFound::fenced, ExpiredKeys::remembered, true},
        std::tuple{NotFound::proves_nothing, ExpiredKeys::deleted, true}}) {
    WriteTerms terms = offering({OnUnknown::query});
    terms.not_found = not_found;
    terms.expired = expired;
    const Reconciler reconciler(terms, 1);
    EXPECT_TRUE(std::holds_alternative<Reconciler::Step>(reconciler.next({})));
    const auto late = reconciler.next({.last_send_passed = true});
    EXPECT_EQ(std::holds_alternative<Reconciler::Step>(late), asks);
  }
}

TEST(Reconciler, WaitsAtLeastAsLongAsTheServerAsks) {
  const WriteTerms terms = offering({OnUnknown::query});
  Reconciler reconciler(terms, 1);
  reconciler.on_taken({});
  reconciler.on_no_proof(Instant(10s), 3600s);
  EXPECT_EQ(std::get<Reconciler::Step>(reconciler.next({})).at, Instant(3610s));
}

TEST(Reconciler, AsksNoMoreThanItsLimitPastTheLastSend) {
  WriteTerms terms = offering({OnUnknown::query});
  terms.steps_after_last_send_max = 2;
  Reconciler reconciler(terms, 1);
  const Reconciler::Situation late{.last_send_passed = true};
  for (int step = 0; step < 2; ++step) {
    EXPECT_TRUE(std::holds_alternative<Reconciler::Step>(reconciler.next(late)));
    reconciler.on_taken(late);
  }
  EXPECT_EQ(std::get<PersonReason>(reconciler.next(late)), PersonReason::last_send_passed);
}

}  // namespace
}  // namespace overdue
