#include "overdue/call/operation.h"

#include <gtest/gtest.h>

#include <initializer_list>
#include <memory>
#include <string>
#include <type_traits>
#include <vector>

#include "overdue/call/scripted_call.h"

namespace overdue {
namespace {

using namespace std::chrono_literals;

static_assert(std::is_trivially_copyable_v<Operation>);

CallPolicyOptions retrying() {
  return {.promise = 10s,
          .connect_timeout = 100ms,
          .request_timeout = 1s,
          .attempts_max = 3,
          .backoff = {.base = 50ms, .cap = 1s, .jitter = Jitter::none}};
}

TEST(Operation, AnswersWithTheReplyOfItsFirstAttempt) {
  ScriptedCall call(retrying(), CallKind::read);
  EXPECT_EQ(call.start(), "start 1 connect_by 100ms answer_by 1s");
  EXPECT_EQ(call.connected(1ms, 1), "");
  EXPECT_EQ(call.answer(20ms, 1, 200), "finish applied by reply, answered: attempt 1 replied 200");
  EXPECT_TRUE(call.operation.finished());
  EXPECT_EQ(call.operation.next_wakeup(), std::nullopt);
}

TEST(Operation, EachAttemptsLimitIsTheLeastOfItsOwnAndWhatRemains) {
  CallPolicyOptions policy = retrying();
  policy.promise = 600ms;
  EXPECT_EQ(ScriptedCall(policy, CallKind::read).start(), "start 1 connect_by 100ms answer_by 600ms");
  policy.promise = 60ms;
  EXPECT_EQ(ScriptedCall(policy, CallKind::read).start(), "start 1 answer_by 60ms");
}

TEST(Operation, TheEarlierOfThePromiseAndTheCallersOwnDeadlineHolds) {
  EXPECT_EQ(ScriptedCall(retrying(), CallKind::read).start(kStart + 700ms),
            "start 1 connect_by 100ms answer_by 700ms");
  CallPolicyOptions policy = retrying();
  policy.promise = 600ms;
  EXPECT_EQ(ScriptedCall(policy, CallKind::read).start(kStart + 700ms),
            "start 1 connect_by 100ms answer_by 600ms");
}

TEST(Operation, WithoutAnyLimitItWaitsForAnOutsideEvent) {
  ScriptedCall call({}, CallKind::read);
  EXPECT_EQ(call.start(), "start 1");
  EXPECT_EQ(call.operation.next_wakeup(), std::nullopt);
}

TEST(Operation, ADeadlineThatIsPastFailsWithoutCalling) {
  ScriptedCall call(retrying(), CallKind::keyed_write);
  EXPECT_EQ(call.start(kStart), "finish not_applied by never_sent, deadline_was_past");
  EXPECT_EQ(call.dependency.counts().calls, 0U);
}

TEST(Operation, TheConnectLimitPassesAtItsNanosecondAndEndsWithTheConnection) {
  ScriptedCall dead(retrying(), CallKind::read);
  dead.start();
  EXPECT_EQ(dead.operation.next_wakeup(), kStart + 100ms);
  EXPECT_EQ(dead.wakeup(100ms - 1ns), "");
  EXPECT_EQ(dead.wakeup(100ms), "abandon 1");
  EXPECT_EQ(dead.operation.next_wakeup(), kStart + 150ms);
  EXPECT_EQ(dead.wakeup(150ms - 1ns), "");
  EXPECT_EQ(dead.wakeup(150ms), "start 2 connect_by 250ms answer_by 1150ms");

  ScriptedCall alive(retrying(), CallKind::read);
  alive.start();
  EXPECT_EQ(alive.connected(100ms - 1ns, 1), "");
  EXPECT_EQ(alive.operation.next_wakeup(), kStart + 1s);
  EXPECT_EQ(alive.wakeup(1s - 1ns), "");
  EXPECT_EQ(alive.wakeup(1s), "abandon 1 watch");
}

TEST(Operation, AConnectionThatComesAtItsLimitComesTooLateForARequest) {
  ScriptedCall call(retrying(), CallKind::unkeyed_write);
  call.start();
  EXPECT_EQ(call.connected(100ms, 1), "abandon 1");
  EXPECT_EQ(call.operation.effect_of(AttemptNumber{1}), Effect::did_not_happen);
  EXPECT_EQ(call.wakeup(150ms), "start 2 connect_by 250ms answer_by 1150ms")
      << "never sent is safe to repeat";
}

TEST(Operation, TheFirstEventAtTheDeadlineEndsTheCallWhateverItSays) {
  CallPolicyOptions policy = retrying();
  policy.promise = 500ms;
  ScriptedCall just(policy, CallKind::keyed_write);
  just.start();
  just.connected(1ms, 1);
  EXPECT_EQ(just.answer(500ms - 1ns, 1, 200), "finish applied by reply, answered: attempt 1 replied 200");

  ScriptedCall late(policy, CallKind::keyed_write);
  late.start();
  late.connected(1ms, 1);
  EXPECT_EQ(late.answer(500ms, 1, 200),
            "abandon 1 watch; finish unknown by none, deadline: attempt 1 timed_out; late 1 happened 200");
  EXPECT_EQ(late.operation.effect_of(AttemptNumber{1}), Effect::happened);
}

TEST(Operation, AReplyAndTheWakeupOfOneMomentGiveTheSameActionsInEitherOrder) {
  CallPolicyOptions policy = retrying();
  for (const Duration base : {50ms, 0ms}) {
    policy.backoff.base = base;
    ScriptedCall reply_first(policy, CallKind::read);
    reply_first.start();
    reply_first.connected(1ms, 1);
    std::string one = reply_first.answer(1s, 1, 200);
    ScriptedCall wakeup_first(policy, CallKind::read);
    wakeup_first.start();
    wakeup_first.connected(1ms, 1);
    std::string other = wakeup_first.wakeup(1s);
    other += "; " + wakeup_first.answer(1s, 1, 200);
    EXPECT_EQ(one, other);
    EXPECT_NE(one.find("finish applied"), std::string::npos);
  }
}

// C33: 8 s promised, the first attempt fails at 7.2 s, the backoff would be 1.5 s.
TEST(Operation, NeverSleepsPastTheDeadlineButReturnsTheRealErrorAtOnce) {
  CallPolicyOptions policy = retrying();
  policy.promise = 8s;
  policy.request_timeout = std::nullopt;
  policy.backoff = {.base = 1500ms, .cap = 2s, .jitter = Jitter::none};
  ScriptedCall call(policy, CallKind::read);
  call.start();
  call.connected(1ms, 1);
  EXPECT_EQ(call.answer(7200ms, 1, 503), "finish unknown by none, no_time_to_retry: attempt 1 rejected 503");

  policy.backoff.base = 25ms;
  ScriptedCall asked_to_wait(policy, CallKind::read);
  asked_to_wait.start();
  asked_to_wait.connected(1ms, 1);
  EXPECT_EQ(asked_to_wait.end(
                7200ms,
                {.attempt = AttemptNumber{1}, .ending = Ending::rejected, .status = 503, .retry_after = 30s}),
            "finish unknown by none, no_time_to_retry: attempt 1 rejected 503");
}

TEST(Operation, AWaitThatEndsAtTheDeadlineIsTooLongAndOneNanosecondLessIsNot) {
  CallPolicyOptions policy = retrying();
  policy.connect_timeout = std::nullopt;
  policy.promise = 1s;
  ScriptedCall at_it(policy, CallKind::read);
  at_it.start();
  EXPECT_EQ(at_it.refused(950ms, 1), "finish not_applied by never_sent, no_time_to_retry: attempt 1 refused");
  ScriptedCall before(policy, CallKind::read);
  before.start();
  EXPECT_EQ(before.refused(950ms - 1ns, 1), "");
  EXPECT_EQ(before.wakeup(1s - 1ns), "start 2 answer_by 1s");
}

// C29: what remains goes into an API of whole seconds.
TEST(Operation, ALowerLayerOfWholeSecondsIsToldOneAndWeCutAtWhatRemains) {
  CallPolicyOptions policy = retrying();
  policy.promise = 1s;
  policy.backoff.base = 650ms;
  ScriptedCall call(policy, CallKind::read);
  call.start();
  call.refused(50ms, 1);
  ASSERT_EQ(call.wakeup(700ms), "start 2 connect_by 800ms answer_by 1s");
  const auto left = remaining(kStart + 700ms, *call.operation.deadline());
  EXPECT_EQ(in_whole_units(left.value(), 1s), 1);
  call.connected(701ms, 2);
  EXPECT_EQ(call.wakeup(1s), "abandon 2 watch; finish unknown by none, deadline: attempt 2 timed_out");
}

TEST(Operation, AnExpiredDeadlineIsNeverRetried) {
  CallPolicyOptions policy = retrying();
  policy.promise = 1s;
  policy.backoff.base = 0ms;
  ScriptedCall call(policy, CallKind::read);
  call.start();
  call.connected(1ms, 1);
  EXPECT_EQ(call.wakeup(1s), "abandon 1 watch; finish unknown by none, deadline: attempt 1 timed_out");
}

TEST(Operation, HonoursRetryAfterWhereItIsLongerThanItsOwnDelay) {
  const auto next_start = [](Duration retry_after) {
    ScriptedCall call(retrying(), CallKind::read);
    call.start();
    call.connected(1ms, 1);
    call.end(
        10ms,
        {.attempt = AttemptNumber{1}, .ending = Ending::rejected, .status = 429, .retry_after = retry_after});
    return *call.operation.next_wakeup() - kStart;
  };
  EXPECT_EQ(next_start(2s), 2010ms);
  EXPECT_EQ(next_start(20ms), 60ms);
}

TEST(Operation, ObeysAServerThatAsksForNoRetry) {
  ScriptedCall call(retrying(), CallKind::read);
  call.start();
  call.connected(1ms, 1);
  EXPECT_EQ(
      call.end(
          10ms,
          {.attempt = AttemptNumber{1}, .ending = Ending::rejected, .status = 503, .do_not_retry = true}),
      "finish unknown by none, not_retried: attempt 1 rejected 503");
}

TEST(Operation, StopsWhenItsAttemptsAreSpent) {
  ScriptedCall call(retrying(), CallKind::read);
  call.start();
  EXPECT_EQ(call.refused(1ms, 1), "");
  EXPECT_EQ(call.wakeup(51ms), "start 2 connect_by 151ms answer_by 1051ms");
  EXPECT_EQ(call.refused(52ms, 2), "");
  EXPECT_EQ(call.wakeup(152ms), "start 3 connect_by 252ms answer_by 1152ms");
  EXPECT_EQ(call.refused(153ms, 3), "finish not_applied by never_sent, attempts_spent: attempt 3 refused");
}

TEST(Operation, StopsWhenTheBudgetIsSpentAndSpendsNothingThatIsNotRetried) {
  CallPolicyOptions policy = retrying();
  policy.retry_budget = RetryBudget::Options{.retries_saved_max = 1};
  ScriptedCall call(policy, CallKind::read);
  call.start();
  call.refused(1ms, 1);
  call.wakeup(51ms);
  EXPECT_EQ(call.refused(52ms, 2), "finish not_applied by never_sent, budget_spent: attempt 2 refused");
  EXPECT_EQ(call.dependency.counts().retries, 1U);
  EXPECT_EQ(call.dependency.counts().retries_denied, 1U);
}

TEST(Operation, RetriesOnlyTheFailuresThatThePolicyNames) {
  struct Case {
    const char* name;
    RetryOn on;
    AttemptEnded ended;
    bool retried;
  };
  const AttemptEnded reset{.attempt = AttemptNumber{1}, .ending = Ending::reset};
  AttemptEnded unsent_reset = reset;
  unsent_reset.nothing_written = true;
  const AttemptEnded refused{.attempt = AttemptNumber{1}, .ending = Ending::refused};
  const AttemptEnded timed_out{.attempt = AttemptNumber{1}, .ending = Ending::timed_out};
  const AttemptEnded rejected{.attempt = AttemptNumber{1}, .ending = Ending::rejected, .status = 503};
  const AttemptEnded answered{.attempt = AttemptNumber{1}, .ending = Ending::replied, .status = 404};
  const RetryOn none{false, false, false, false};
  const std::vector<Case> cases = {
      {"reset", {false, true, false, false}, reset, true},
      {"reset, others only", {true, false, true, true}, reset, false},
      {"reset before the first byte counts as refused", {true, false, false, false}, unsent_reset, true},
      {"and not as reset", {false, true, false, false}, unsent_reset, false},
      {"refused", {true, false, false, false}, refused, true},
      {"refused, others only", {false, true, true, true}, refused, false},
      {"timed out", {false, false, true, false}, timed_out, true},
      {"timed out, others only", {true, true, false, true}, timed_out, false},
      {"rejected", {false, false, false, true}, rejected, true},
      {"rejected, others only", {true, true, true, false}, rejected, false},
      {"none", none, reset, false},
      {"an answer is no failure", {}, answered, false},
  };
  for (const Case& one : cases) {
    CallPolicyOptions policy = retrying();
    policy.retry_on = one.on;
    ScriptedCall call(policy, CallKind::read);
    call.start();
    call.connected(1ms, 1);
    call.end(2ms, one.ended);
    EXPECT_EQ(!call.operation.finished(), one.retried) << one.name;
  }
}

// C31: a service that always takes 6 s.
TEST(Operation, LimitsOfAttemptsAndOfTheWholeDoWhatTheyPromiseTogether) {
  CallPolicyOptions policy = retrying();
  policy.connect_timeout = std::nullopt;
  policy.promise = 1500ms;
  policy.request_timeout = std::nullopt;
  ScriptedCall no_room(policy, CallKind::read);
  EXPECT_EQ(no_room.run_silent(),
            "0s start 1 answer_by 1500ms\n"
            "1500ms abandon 1 watch; finish unknown by none, deadline: attempt 1 timed_out\n");

  policy.promise = std::nullopt;
  policy.request_timeout = 2s;
  policy.backoff.base = 0ms;
  ScriptedCall no_whole(policy, CallKind::read);
  EXPECT_EQ(no_whole.run_silent(),
            "0s start 1 answer_by 2s\n"
            "2s abandon 1 watch; start 2 answer_by 4s\n"
            "4s abandon 2 watch; start 3 answer_by 6s\n"
            "6s abandon 3 watch; finish unknown by none, attempts_spent: attempt 3 timed_out\n");

  policy.promise = 10s;
  policy.request_timeout = 4s;
  policy.attempts_max = 4;
  policy.backoff = {.base = 25ms, .cap = 25ms, .jitter = Jitter::none};
  ScriptedCall cut(policy, CallKind::read);
  EXPECT_EQ(cut.run_silent(),
            "0s start 1 answer_by 4s\n"
            "4s abandon 1 watch\n"
            "4025ms start 2 answer_by 8025ms\n"
            "8025ms abandon 2 watch\n"
            "8050ms start 3 answer_by 10s\n"
            "10s abandon 3 watch; finish unknown by none, deadline: attempt 3 timed_out\n");
}

TEST(Operation, LearnsTheLatencyOfAnswersThatCameAfterTheirAttemptWasGivenUp) {
  ScriptedCall call(retrying(), CallKind::read);
  call.start();
  call.connected(1ms, 1);
  EXPECT_EQ(call.wakeup(1s), "abandon 1 watch");
  EXPECT_EQ(call.wakeup(1050ms), "start 2 connect_by 1150ms answer_by 2050ms");
  EXPECT_EQ(call.connected(1051ms, 2), "");
  EXPECT_EQ(call.answer(1200ms, 1, 200),
            "abandon 2 watch; finish applied by reply, answered: attempt 1 replied 200");
  EXPECT_EQ(call.answer(1300ms, 2, 200), "late 2 happened 200");
  const LatencyHistogram latencies = call.dependency.recent_latencies();
  EXPECT_EQ(latencies.count(), 2U);
  EXPECT_EQ(latencies.max(), 1200ms) << "since the attempt's own start";
  EXPECT_EQ(latencies.min(), 250ms);
  const DependencyCounts& counts = call.dependency.counts();
  EXPECT_EQ(counts.late_answers, 2U);
  EXPECT_EQ(counts.endings[static_cast<std::size_t>(Ending::timed_out)], 1U);
  EXPECT_EQ(counts.endings[static_cast<std::size_t>(Ending::abandoned)], 1U);
  EXPECT_EQ(counts.endings[static_cast<std::size_t>(Ending::replied)], 0U);
}

TEST(Operation, ASecondCopyOfAnAnswerChangesNothing) {
  ScriptedCall call(retrying(), CallKind::read);
  call.start();
  call.connected(1ms, 1);
  EXPECT_EQ(call.answer(2ms, 1, 503), "");
  EXPECT_EQ(call.answer(3ms, 1, 503), "");
  EXPECT_EQ(call.dependency.counts().endings[static_cast<std::size_t>(Ending::rejected)], 1U);
  EXPECT_EQ(call.wakeup(52ms), "start 2 connect_by 152ms answer_by 1052ms");
}

TEST(Operation, ACallerWhoLeavesEndsTheCallAtOnce) {
  ScriptedCall sent(retrying(), CallKind::keyed_write);
  sent.start();
  sent.connected(1ms, 1);
  EXPECT_EQ(sent.caller_left(5ms),
            "abandon 1 watch; finish unknown by none, caller_left: attempt 1 abandoned");
  EXPECT_EQ(sent.caller_left(6ms), "");
  ScriptedCall connecting(retrying(), CallKind::keyed_write);
  connecting.start();
  EXPECT_EQ(connecting.caller_left(5ms),
            "abandon 1; finish not_applied by never_sent, caller_left: attempt 1 abandoned");
}

TEST(Operation, WatchesTheShareOfExpiredAttemptsThatThePolicySays) {
  CallPolicyOptions policy = retrying();
  policy.watch = Probability{0.25};
  int watched = 0;
  for (std::uint64_t seed = 0; seed < 1000; ++seed) {
    ScriptedCall call(policy, CallKind::read, seed);
    call.start();
    call.connected(1ms, 1);
    if (call.wakeup(1s) == "abandon 1 watch") ++watched;
  }
  EXPECT_GT(watched, 200);
  EXPECT_LT(watched, 300);
}

}  // namespace
}  // namespace overdue
