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

TEST(WriteLifecycle, ATombstoneOrAnAbsenceOverARecordThatMayHaveBeenDeletedProvesNothing) {
  const struct {
    NotFound not_found;
    RecordTold told;
    std::string proved;
  } rows[] = {
      {NotFound::proves_nothing, {.says = RecordSays::fenced}, "persist outcome never fenced"},
      {NotFound::fenced, {.says = RecordSays::absent}, "persist outcome never fenced"},
      {NotFound::after_limit,
       {.says = RecordSays::absent, .limit_passed = true},
       "persist outcome never limit_passed"},
      {NotFound::proves_nothing, {.says = RecordSays::applied}, "persist outcome applied status_applied"}};
  for (const auto& row : rows) {
    const bool kept = row.told.says == RecordSays::applied;  // What was found is not deleted.
    for (const auto& [at, expired, proves] : {std::tuple{200s - 1ns, ExpiredKeys::deleted, true},
                                              std::tuple{200s + 0ns, ExpiredKeys::deleted, kept},
                                              std::tuple{200s + 0ns, ExpiredKeys::remembered, true}}) {
      WriteTerms terms = offering({OnUnknown::query});
      terms.expired = expired;
      terms.not_found = row.not_found;
      terms.answer_within = 150s;
      ScriptedWrite write(two_attempts(), terms, {.last_send = Instant(200s)});
      send_both(write);
      EXPECT_EQ(write.wakeup(100s), "tell unknown; query");
      EXPECT_EQ(write.told(at, row.told) == row.proved, proves) << row.proved;
    }
  }
}

TEST(WriteLifecycle, WithoutAKeyAnExpiredOneClosesNothing) {
  for (const bool keyed : {true, false}) {
    WriteTerms terms = offering({OnUnknown::list});
    terms.keyed = keyed;
    ScriptedWrite write(two_attempts(), terms);
    send_both(write);
    EXPECT_EQ(write.wakeup(100s), "tell unknown; list");
    const RecordTold expired{.question = {.kind = OnUnknown::list}, .says = RecordSays::expired};
    EXPECT_EQ(write.told(101s, expired), keyed ? "persist seal" : "");
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

TEST(Reconciler, WaitsAsLongAsTheServerAsksButNoLongerThanTheCap) {
  WriteTerms terms = offering({OnUnknown::query});
  terms.between_steps.cap = 300s;
  for (const auto& [asked, waits] :
       {std::pair{200s + 0ns, 200s + 0ns}, std::pair{300s - 1ns, 300s - 1ns},
        std::pair{300s + 1ns, 300s + 0ns}, std::pair{Duration(24h * 365), 300s + 0ns}}) {
    Reconciler reconciler(terms, 1);
    reconciler.on_taken({});
    reconciler.on_no_proof(Instant(10s), asked);
    EXPECT_EQ(std::get<Reconciler::Step>(reconciler.next({})).at, Instant(10s + waits));
  }
}

TEST(Reconciler, WithoutAKeyOnlyAListingIsAsked) {
  WriteTerms terms = offering({OnUnknown::retry, OnUnknown::query, OnUnknown::fence, OnUnknown::list});
  terms.keyed = false;
  for (const AfterDeadline plan : {AfterDeadline::complete, AfterDeadline::settle, AfterDeadline::revoke}) {
    terms.after_deadline = plan;
    Reconciler reconciler(terms, 1);
    for (int turn = 0; turn < 3; ++turn) {
      EXPECT_EQ(std::get<Reconciler::Step>(reconciler.next({})).kind, OnUnknown::list);
      reconciler.on_taken({});
    }
  }
}

// Two steps past the last send at 100 s, then two once the limit has passed too, and then a person.
TEST(Reconciler, AsksOnceMoreWhenTheWritesOwnLimitHasPassed) {
  WriteTerms terms = offering({OnUnknown::query});
  terms.not_found = NotFound::after_limit;
  terms.steps_after_last_send_max = 2;
  const Instant limit(7200s);
  Reconciler reconciler(terms, 1, limit);
  const Reconciler::Situation late{.last_send_passed = true},
      past_both{.last_send_passed = true, .limit_passed = true};
  for (int step = 0; step < 2; ++step) {
    EXPECT_LT(std::get<Reconciler::Step>(reconciler.next(late)).at, limit);
    reconciler.on_taken(late);
    reconciler.on_no_proof(Instant(100s), std::nullopt);
  }
  EXPECT_EQ(std::get<Reconciler::Step>(reconciler.next(late)).at, limit);
  for (int step = 0; step < 2; ++step) {
    ASSERT_TRUE(std::holds_alternative<Reconciler::Step>(reconciler.next(past_both)));
    reconciler.on_taken(past_both);
    reconciler.on_no_proof(limit, std::nullopt);
    const auto second = reconciler.next(past_both);
    EXPECT_TRUE(step == 1 || std::get<Reconciler::Step>(second).at > limit);
  }
  EXPECT_EQ(std::get<PersonReason>(reconciler.next(past_both)), PersonReason::last_send_passed);
}

TEST(Reconciler, WaitsForNoLimitThatCannotTell) {
  struct Row {
    const char* name;
    WriteTerms terms;
    std::optional<Instant> limit;
    bool asks;
  };
  const WriteTerms fits{
      .on_unknown = {OnUnknown::query}, .not_found = NotFound::after_limit, .steps_after_last_send_max = 1};
  std::vector<Row> rows(6, {"it may tell", fits, Instant(7200s), true});
  rows[1] = {"no limit", fits, std::nullopt, false};
  rows[2] = {"a limit that is not enforced", fits, Instant(7200s), false};
  rows[2].terms.not_found = NotFound::proves_nothing;
  rows[3] = {"no status", fits, Instant(7200s), false};
  rows[3].terms.on_unknown = {OnUnknown::list};
  rows[4] = {"a record that may be deleted", fits, Instant(7200s), false};
  rows[4].terms.expired = ExpiredKeys::deleted;
  rows[5] = {"no key", fits, Instant(7200s), false};
  rows[5].terms.keyed = false;
  for (const Row& row : rows) {
    Reconciler reconciler(row.terms, 1, row.limit);
    reconciler.on_taken({.last_send_passed = true});
    const auto next = reconciler.next({.last_send_passed = true});
    EXPECT_EQ(std::holds_alternative<Reconciler::Step>(next), row.asks) << row.name;
  }
}

TEST(WriteLifecycle, AsksOnceMoreWhenItsLimitHasPassedAndOnlyThenAPerson) {
  WriteTerms terms = offering({OnUnknown::query});
  terms.not_found = NotFound::after_limit;
  terms.steps_after_last_send_max = 1;
  ScriptedWrite write(two_attempts(), terms, {.last_send = Instant(150s), .valid_until = Instant(7200s)});
  send_both(write);
  EXPECT_EQ(write.wakeup(100s), "tell unknown; query");
  EXPECT_EQ(write.told(149s, {.says = RecordSays::absent}), "");
  EXPECT_EQ(write.wakeup(150s), "query");
  EXPECT_EQ(write.told(151s, {.says = RecordSays::absent}), "");
  EXPECT_EQ(write.lifecycle.next_wakeup(), Instant(7200s));
  EXPECT_EQ(write.wakeup(7200s - 1ns), "");
  EXPECT_EQ(write.wakeup(7200s), "query");
  EXPECT_EQ(write.told(7201s, {.says = RecordSays::absent}), "persist person last_send_passed if epoch 1");
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
