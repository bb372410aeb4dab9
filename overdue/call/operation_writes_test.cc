// What writes may and may not do: repeat only what is safe, conclude only what is proved.
#include <gtest/gtest.h>

#include <vector>

#include "overdue/call/scripted_call.h"

namespace overdue {
namespace {

using namespace std::chrono_literals;

CallPolicyOptions writing() {
  CallPolicyOptions policy{.promise = 10s,
                           .request_timeout = 1s,
                           .attempts_max = 2,
                           .backoff = {.base = 50ms, .cap = 1s, .jitter = Jitter::none}};
  policy.errors.set(400, StatusMeaning::nothing_happened);
  policy.errors.set(429, StatusMeaning::nothing_happened);
  policy.errors.set(402, StatusMeaning::recorded_rejection);
  policy.errors.set(409, StatusMeaning::in_flight);
  policy.errors.set(422, StatusMeaning::other_payload);
  return policy;
}

// C37: a request on an idle connection that the server closes without an answer.
TEST(OperationWrites, AResetIsRetriedOnlyWhereARepetitionDoesNoHarm) {
  struct Case {
    const char* name;
    CallKind kind;
    bool nothing_written;
    const char* actions;
  };
  const std::vector<Case> cases = {
      {"GET", CallKind::read, false, ""},
      {"POST", CallKind::unkeyed_write, false, "finish unknown by none, not_safe_to_retry: attempt 1 reset"},
      {"POST with its key", CallKind::keyed_write, false, ""},
      {"POST of which nothing was written", CallKind::unkeyed_write, true, ""},
  };
  for (const Case& one : cases) {
    ScriptedCall call(writing(), one.kind);
    call.start();
    call.connected(1ms, 1);
    EXPECT_EQ(call.reset(2ms, 1, one.nothing_written), one.actions) << one.name;
    EXPECT_EQ(call.wakeup(52ms), one.actions[0] == 0 ? "start 2 answer_by 1052ms" : "") << one.name;
  }
}

TEST(OperationWrites, AWriteWithoutAKeyIsRepeatedOnlyWhileEveryAttemptDidNothing) {
  CallPolicyOptions policy = writing();
  policy.attempts_max = 3;
  ScriptedCall call(policy, CallKind::unkeyed_write);
  call.start();
  EXPECT_EQ(call.refused(1ms, 1), "");
  EXPECT_EQ(call.wakeup(51ms), "start 2 answer_by 1051ms");
  call.connected(52ms, 2);
  EXPECT_EQ(call.reset(53ms, 2), "finish unknown by none, not_safe_to_retry: attempt 2 reset");
}

TEST(OperationWrites, AConnectionThatBreaksBeforeItIsThereWasNeverSent) {
  CallPolicyOptions policy = writing();
  policy.attempts_max = 1;
  ScriptedCall connecting(policy, CallKind::unkeyed_write);
  connecting.start();
  EXPECT_EQ(connecting.reset(2ms, 1), "finish not_applied by never_sent, attempts_spent: attempt 1 reset");
  ScriptedCall early_answer(policy, CallKind::unkeyed_write);
  early_answer.start();
  early_answer.connected(1ms, 1);
  EXPECT_EQ(
      early_answer.end(
          2ms,
          {.attempt = AttemptNumber{1}, .ending = Ending::rejected, .status = 408, .nothing_written = true}),
      "finish not_applied by never_sent, attempts_spent: attempt 1 rejected 408");
}

TEST(OperationWrites, ANaivePolicyRepeatsAWriteThatMayHaveHappened) {
  CallPolicyOptions policy = writing();
  policy.unsafe_retry_without_key = true;
  policy.watch = Probability{};
  ScriptedCall call(policy, CallKind::unkeyed_write);
  call.start();
  call.connected(1ms, 1);
  EXPECT_EQ(call.wakeup(1s), "abandon 1");
  EXPECT_EQ(call.wakeup(1050ms), "start 2 answer_by 2050ms");
}

TEST(OperationWrites, ARecordedRejectionIsFinalHoweverManyAttemptsAreOpen) {
  for (const bool via_proxy : {false, true}) {
    CallPolicyOptions policy = writing();
    policy.via_proxy = via_proxy;
    ScriptedCall call(policy, CallKind::keyed_write);
    call.start();
    call.connected(1ms, 1);
    call.wakeup(1s);
    call.wakeup(1050ms);
    call.connected(1051ms, 2);
    EXPECT_EQ(call.answer(1060ms, 2, 402),
              "finish not_applied by recorded_rejection, answered: attempt 2 rejected 402");
  }
}

TEST(OperationWrites, ARejectionWithoutAKeyIsFinalOnlyWhereNothingElseIsOpenAndNoProxyStandsBetween) {
  ScriptedCall direct(writing(), CallKind::unkeyed_write);
  direct.start();
  direct.connected(1ms, 1);
  EXPECT_EQ(direct.answer(2ms, 1, 402),
            "finish not_applied by every_attempt_definite, not_retried: attempt 1 rejected 402");
  CallPolicyOptions policy = writing();
  policy.via_proxy = true;
  ScriptedCall proxied(policy, CallKind::unkeyed_write);
  proxied.start();
  proxied.connected(1ms, 1);
  EXPECT_EQ(proxied.answer(2ms, 1, 402), "finish unknown by none, not_retried: attempt 1 rejected 402");
}

// LIFECYCLE O9, O10 and mutant 32.
TEST(OperationWrites, EveryAttemptTurnedAwayIsNotAppliedOnADirectConnectionAndUnknownBehindAProxy) {
  for (const bool via_proxy : {false, true}) {
    CallPolicyOptions policy = writing();
    policy.via_proxy = via_proxy;
    ScriptedCall call(policy, CallKind::keyed_write);
    call.start();
    call.connected(1ms, 1);
    EXPECT_EQ(call.answer(2ms, 1, 429), "");
    call.wakeup(52ms);
    call.connected(53ms, 2);
    EXPECT_EQ(call.answer(54ms, 2, 429),
              via_proxy
                  ? "finish unknown by none, attempts_spent: attempt 2 rejected 429"
                  : "finish not_applied by every_attempt_definite, attempts_spent: attempt 2 rejected 429");
  }
}

TEST(OperationWrites, RefusedByItsProxyEveryTimeItWasNeverSent) {
  CallPolicyOptions policy = writing();
  policy.via_proxy = true;
  ScriptedCall call(policy, CallKind::unkeyed_write);
  call.start();
  call.refused(1ms, 1);
  call.wakeup(51ms);
  EXPECT_EQ(call.refused(52ms, 2), "finish not_applied by never_sent, attempts_spent: attempt 2 refused");
}

// Mutant 13: 409 in flight read as failure.
TEST(OperationWrites, InFlightIsAskedAgainUnderTheSameKeyAndNeverReadAsFailure) {
  ScriptedCall call(writing(), CallKind::keyed_write);
  call.start();
  call.connected(1ms, 1);
  EXPECT_EQ(call.answer(2ms, 1, 409), "");
  call.wakeup(52ms);
  call.connected(53ms, 2);
  EXPECT_EQ(call.answer(54ms, 2, 409), "finish unknown by none, attempts_spent: attempt 2 rejected 409");
}

// Mutant 18 and O13.
TEST(OperationWrites, AnotherPayloadUnderTheKeyStopsAllSendingAndProvesNothing) {
  ScriptedCall alone(writing(), CallKind::keyed_write);
  alone.start();
  alone.connected(1ms, 1);
  EXPECT_EQ(alone.answer(2ms, 1, 422), "finish unknown by none, not_retried: attempt 1 rejected 422");

  CallPolicyOptions policy = writing();
  policy.attempts_max = 4;
  ScriptedCall late(policy, CallKind::keyed_write);
  late.start();
  late.connected(1ms, 1);
  EXPECT_EQ(late.wakeup(1s), "abandon 1 watch");
  EXPECT_EQ(late.answer(1010ms, 1, 422), "finish unknown by none, not_retried: attempt 1 timed_out");
}

// Mutant 15: a late failure of the first attempt must not end the call while the second is out.
TEST(OperationWrites, ALateFailureOfAnEarlierAttemptLeavesTheRunningOneAlone) {
  ScriptedCall call(writing(), CallKind::keyed_write);
  call.start();
  call.connected(1ms, 1);
  call.wakeup(1s);
  call.wakeup(1050ms);
  call.connected(1051ms, 2);
  EXPECT_EQ(call.answer(1060ms, 1, 429), "");
  EXPECT_EQ(call.operation.effect_of(AttemptNumber{1}), Effect::did_not_happen);
  EXPECT_EQ(call.operation.effect_of(AttemptNumber{2}), Effect::unknown);
  EXPECT_EQ(call.answer(1070ms, 2, 200), "finish applied by reply, answered: attempt 2 replied 200");
}

// O14: no more can be sent, and an attempt given up may still be answered.
TEST(OperationWrites, ListensForAnAttemptGivenUpUntilTheDeadline) {
  CallPolicyOptions policy = writing();
  policy.attempts_max = 1;
  ScriptedCall answered(policy, CallKind::keyed_write);
  answered.start();
  answered.connected(1ms, 1);
  EXPECT_EQ(answered.wakeup(1s), "abandon 1 watch");
  EXPECT_EQ(answered.operation.next_wakeup(), kStart + 10s);
  EXPECT_EQ(answered.answer(10s - 1ns, 1, 200), "finish applied by reply, answered: attempt 1 replied 200");

  ScriptedCall silent(policy, CallKind::keyed_write);
  silent.start();
  silent.connected(1ms, 1);
  silent.wakeup(1s);
  EXPECT_EQ(silent.wakeup(10s - 1ns), "");
  EXPECT_EQ(silent.wakeup(10s), "finish unknown by none, deadline: attempt 1 timed_out");

  ScriptedCall broken(policy, CallKind::keyed_write);
  broken.start();
  broken.connected(1ms, 1);
  broken.wakeup(1s);
  EXPECT_EQ(broken.reset(2s, 1), "finish unknown by none, attempts_spent: attempt 1 timed_out")
      << "nothing can come any more";
}

TEST(OperationWrites, DoesNotListenWhereNobodyWatchesOrThereIsNoDeadlineNorForARead) {
  CallPolicyOptions policy = writing();
  policy.attempts_max = 1;
  const auto at_the_limit = [](const CallPolicyOptions& options, CallKind kind) {
    ScriptedCall call(options, kind);
    call.start();
    call.connected(1ms, 1);
    return call.wakeup(1s);
  };
  EXPECT_EQ(at_the_limit(policy, CallKind::read),
            "abandon 1 watch; finish unknown by none, attempts_spent: attempt 1 timed_out");
  CallPolicyOptions unwatched = policy;
  unwatched.watch = Probability{};
  EXPECT_EQ(at_the_limit(unwatched, CallKind::keyed_write),
            "abandon 1; finish unknown by none, attempts_spent: attempt 1 timed_out");
  CallPolicyOptions endless = policy;
  endless.promise = std::nullopt;
  EXPECT_EQ(at_the_limit(endless, CallKind::keyed_write),
            "abandon 1 watch; finish unknown by none, attempts_spent: attempt 1 timed_out");
}

TEST(OperationWrites, WhileListeningALateProofOfNothingFreesAWriteWithoutAKeyToTryAgain) {
  ScriptedCall call(writing(), CallKind::unkeyed_write);
  call.start();
  call.connected(1ms, 1);
  EXPECT_EQ(call.wakeup(1s), "abandon 1 watch");
  EXPECT_EQ(call.answer(2s, 1, 429), "");
  EXPECT_EQ(call.wakeup(2050ms), "start 2 answer_by 3050ms");
}

TEST(OperationWrites, AnAnswerInNoListProvesNothingOfAWriteAndIsTheAnswerOfARead) {
  ScriptedCall write(writing(), CallKind::keyed_write);
  write.start();
  write.connected(1ms, 1);
  EXPECT_EQ(write.answer(2ms, 1, 404), "finish unknown by none, not_retried: attempt 1 replied 404");
  ScriptedCall read(writing(), CallKind::read);
  read.start();
  read.connected(1ms, 1);
  EXPECT_EQ(read.answer(2ms, 1, 404), "finish applied by reply, answered: attempt 1 replied 404");
}

}  // namespace
}  // namespace overdue
