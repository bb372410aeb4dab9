#include "overdue/write/explain.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "overdue/call/scripted_call.h"
#include "overdue/write/explain_next.h"
#include "overdue/write/explain_words.h"
#include "overdue/write/reconciler.h"
#include "overdue/write/scripted_write.h"

namespace overdue {
namespace {

using namespace std::chrono_literals;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

// What a policy of two attempts under a key says.
ExplainOptions contract() {
  ExplainOptions options{.call = two_attempts(), .terms = {}, .has_contract = true};
  options.terms.on_unknown = {OnUnknown::retry, OnUnknown::query};
  return options;
}

ExplainOptions unkeyed() {
  ExplainOptions options = contract();
  options.terms.keyed = false;
  options.terms.on_unknown = {};
  return options;
}

Explanation of(std::string_view observation, const ExplainOptions& options) {
  const Result<Explanation> explained = explain(observation, options);
  EXPECT_TRUE(explained.has_value()) << observation << ": " << explained.error().message;
  return explained.value_or(Explanation{});
}

TEST(Explain, SaysOfEachObservationWhatItProves) {
  ExplainOptions proxy = contract(), fencing = contract();
  proxy.call.via_proxy = true;
  fencing.terms.not_found = NotFound::fenced;
  const struct {
    std::string_view observation;
    ExplainOptions options;
    std::string_view proves;
  } rows[] = {
      {"Connection refused", contract(), "that this attempt did nothing"},
      {"ECONNREFUSED", proxy, "that this attempt did nothing"},
      {"connect timeout", proxy, "that this attempt did nothing: it never had its connection"},
      {"DNS failure", proxy, "that this attempt did nothing"},
      {"TLS handshake failed", proxy, "that this attempt did nothing"},
      {"reset after send", contract(), "nothing: "},
      {"timed out", contract(), "nothing: "},
      {"timed out without key", contract(), "nothing: "},
      {"process died", contract(), "nothing: it may have been sent any number of times"},
      {"200", contract(), "the write is applied, once and for ever: a success was answered under its"},
      {"200 without key", contract(), "the write is applied, for ever: a success was answered."},
      {"200", unkeyed(), "the write is applied, for ever: a success was answered."},
      {"402 with key", contract(), "the write is not applied"},
      {"402 without key", contract(), "that this attempt did nothing"},
      {"402 without a key", proxy, "nothing: "},
      {"409 with key", contract(), "nothing: another attempt under this key"},
      {"409 without key", contract(), "nothing: something is at work that it runs into"},
      {"422 with the key", contract(), "nothing: the key belongs to other bytes"},
      {"429", contract(), "that this attempt did nothing"},
      {"429", proxy, "nothing: a proxy stands between"},
      {"503", contract(), "nothing: "},
      {"UNAVAILABLE", contract(), "nothing: an error may be said"},
      {"DEADLINE_EXCEEDED", contract(), "nothing: a deadline passed, the server's or our own"},
      {"status: not found", contract(), "nothing."},
      {"status: not found", fencing, "the write is not applied"},
      {"status unreachable", fencing, "nothing."},
      {"status expired", contract(), "that the key is closed"},
      {"not listed", contract(), "nothing."},
      {"not listed after the seal", contract(), "the write is not applied"},
      {"fenced", contract(), "the write is not applied"}};
  for (const auto& row : rows) {
    const Explanation explained = of(row.observation, row.options);
    EXPECT_THAT(explained.proves, StartsWith(std::string(row.proves))) << row.observation;
    EXPECT_FALSE(explained.next.empty());
  }
}

TEST(Explain, ReadsTheSameObservationHoweverItIsSpelled) {
  const struct {
    std::string_view said;
    std::string_view meant;
  } rows[] = {{"connection was refused", "connection refused"},
              {"connection reset by peer", "reset after send"},
              {"broken pipe", "reset after send"},
              {"EPIPE", "reset after send"},
              {"EOF", "reset after send"},
              {"reset", "reset after send"},
              {"ETIMEDOUT", "timeout"},
              {"Connection timed out", "timeout"},
              {"deadline exceeded", "timeout"},
              {"i/o timeout", "timeout"},
              {"dial tcp 10.0.0.1:80: i/o timeout", "connect timeout"},
              {"dial tcp: connection refused", "connection refused"},
              {"dial tcp 10.0.0.1:80: connect: connection refused", "connection refused"},
              {"dial tcp [::1]:80: connect: no route to host, with key", "connection refused with key"},
              {"connect ECONNREFUSED 127.0.0.1:80", "connection refused"},
              {"[Errno 111] Connection refused", "connection refused"},
              {"dial tcp: lookup pay: no such host", "dns failure"},
              {"getaddrinfo ENOTFOUND pay", "dns failure"},
              {"ENOTFOUND", "dns failure"},
              {"EHOSTUNREACH", "reset after send"},
              {"no route to host", "reset after send"},
              {"TLS handshake timeout", "tls failure"},
              {"HTTP 503", "503"},
              {"HTTP/1.1 503 Service Unavailable", "503"},
              {"504 Gateway Timeout", "504"},
              {"status 404", "404"},
              {"409 Conflict, with the key", "409 with key"},
              {"unavailable", "UNAVAILABLE"},
              {"gRPC status UNAVAILABLE", "UNAVAILABLE"}};
  for (const auto& row : rows) {
    const Explanation said = of(row.said, contract()), meant = of(row.meant, contract());
    EXPECT_EQ(said.proves, meant.proves) << row.said;
    EXPECT_EQ(said.next, meant.next) << row.said;
  }
}

TEST(Explain, ASlipIsToldWhatWasMeant) {
  const struct {
    std::string_view said;
    std::string_view message;
  } rows[] = {{"rest after send", "did you mean \"reset after send\"?"},
              {"timd out", "did you mean \"timeout\"?"},
              {"409 with keyy", "did you mean \"409 with key\"?"},
              {"503 Service Unavailabel", "did you mean \"503\"?"},
              {"UNAVAILABEL", "did you mean \"UNAVAILABLE\"?"},
              {"status not fuond", "did you mean \"status not found\"?"},
              {"not found", "did you mean \"status not found\"?"},
              {"-409", "\"-409\" is no observation that can be explained: a status has three digits"},
              {"upstream: connection refused", "is no observation"},
              {"dial tcp 10.0.0.1:80: connection refused, then read tcp: i/o timeout", "is no observation"},
              {"connect: connection refused while connecting to upstream", "is no observation"},
              {"0409", "a status has three digits, 100 to 599"},
              {"99", "a status has three digits"},
              {"600", "a status has three digits"},
              {"", "no observation was given; say one of \"connection refused\""},
              {"fenced without key", "is no observation"},
              {"tls error", "is no observation"},  // It may come long after the handshake.
              {"a bad feeling", "say one of \"connection refused\""}};
  for (const auto& row : rows) {
    const auto none = explain(row.said, contract());
    ASSERT_FALSE(none.has_value()) << row.said;
    EXPECT_THAT(none.error().message, HasSubstr(std::string(row.message))) << row.said;
  }
}

TEST(Explain, ALongObservationIsNotToldWhole) {
  // Two bytes a character, and a character across the 80th byte: not cut in two.
  std::string text = "x";
  for (int i = 0; i < 50'000; ++i) text += "\u00e9";
  const auto none = explain(text, contract());
  ASSERT_FALSE(none.has_value());
  EXPECT_THAT(none.error().message, StartsWith("\"" + text.substr(0, 79) + "...\" is no observation"));
  EXPECT_LT(none.error().message.size(), 2000U);
}

TEST(Explain, ExplainsEveryObservationItNames) {
  for (const std::string_view name : explained_observations())
    EXPECT_TRUE(explain(name, {}).has_value()) << name;
}

// settle sends nothing once the write is unknown; until then the Operation does.
TEST(Explain, SaysThatTheOperationRetriesBeforeTheDeadlineWhateverIsDoneAfterIt) {
  ExplainOptions settling = contract();
  settling.terms.after_deadline = AfterDeadline::settle;
  settling.terms.on_unknown = {OnUnknown::query};
  EXPECT_THAT(of("timeout", settling).next,
              AllOf(StartsWith("waits and sends the same bytes again under the same key, 2 attempts in all"),
                    HasSubstr("listens on for a late reply, and at the deadline the caller is told"),
                    HasSubstr("then it asks for the key's status, with growing waits")));
  settling.call.attempts_max = 1;
  EXPECT_THAT(of("timeout", settling).next,
              StartsWith("sends nothing again before the deadline, for attempts is 1; listens on"));
  settling.call.attempts_max = 2;
  settling.call.retry_on.timed_out = false;
  EXPECT_THAT(of("timeout", settling).next, HasSubstr("for retry.on leaves this failure out"));
}

// The reconciler is not told what the attempts heard, and waits no longer than between_steps.cap.
TEST(Explain, SaysHowFarARetryAfterIsWaitedFor) {
  ExplainOptions options = contract();
  options.terms.between_steps.cap = 7min;
  const std::string next = of("409 with key", options).next;
  EXPECT_THAT(next,
              AllOf(StartsWith("waits at least as long as Retry-After says before another attempt, and makes "
                               "none that could begin at the deadline or later; else"),
                    HasSubstr("begin without the Retry-After that the attempts were told"),
                    HasSubstr("told to a step is waited for, 7m at most.")));
  Reconciler steps(options.terms, 1);
  steps.on_taken({});
  steps.on_no_proof(Instant{}, 1h);
  const auto step = steps.next({});
  ASSERT_TRUE(std::holds_alternative<Reconciler::Step>(step));
  EXPECT_EQ(std::get<Reconciler::Step>(step).at, Instant{} + 7min);
  options.terms.on_unknown = {};
  EXPECT_THAT(of("409 with key", options).next, Not(HasSubstr("These steps")));
}

TEST(Explain, InventsNoKey) {
  ExplainOptions none = unkeyed();
  for (const std::string_view observation :
       {"connection refused", "200", "timeout", "reset after send", "504", "429", "402", "409"}) {
    const Explanation explained = of(observation, none);
    EXPECT_THAT(explained.proves, Not(HasSubstr("its key"))) << observation;
    EXPECT_THAT(explained.next, Not(HasSubstr("the same key"))) << observation;
  }
  EXPECT_THAT(of("504", none).next,
              AllOf(StartsWith("sends nothing again before the deadline, for without a key "),
                    HasSubstr("then it asks a person, for the policy offers nothing")));
  EXPECT_THAT(of("status not found", none).proves, HasSubstr("the policy's requests carry none"));
  EXPECT_THAT(of("504 without key", contract()).next, Not(HasSubstr("the same key")));
  EXPECT_THAT(of("connection refused", none).next, StartsWith("tries again, 2 attempts in all"));
  none.call.attempts_max = 1;
  EXPECT_THAT(of("connection refused", none).next, StartsWith("does not try again; with every attempt"));
  none.call.attempts_max = 2;
  none.call.unsafe_retry_without_key = true;
  EXPECT_THAT(of("timeout", none).next,
              StartsWith("waits and sends it again without a key, 2 attempts in all, as "
                         "unsafe_retry_without_key says: each may be one more effect"));
}

TEST(Explain, NamesTheStepsInTheOrderInWhichTheyAreTaken) {
  ExplainOptions options = contract();
  options.terms.after_deadline = AfterDeadline::revoke;
  options.terms.on_unknown = {OnUnknown::fence, OnUnknown::query, OnUnknown::list};
  EXPECT_EQ(
      once_unknown(options).find("fences the key, before the last send, then asks for the key's status, then "
                                 "looks for it in the listing, in turn"),
      0U);
  options.terms.on_unknown = {OnUnknown::list, OnUnknown::retry, OnUnknown::fence};
  EXPECT_THAT(once_unknown(options),
              AllOf(StartsWith("looks for it in the listing, then fences the key"), Not(HasSubstr("sends"))));
  options.terms.after_deadline = AfterDeadline::complete;
  options.terms.on_unknown = {OnUnknown::retry, OnUnknown::query};
  EXPECT_THAT(
      once_unknown(options),
      StartsWith("sends the same bytes again under the same key, before the last send, then asks for"));
  options.terms.after_deadline = AfterDeadline::settle;
  options.terms.on_unknown = {OnUnknown::retry};
  EXPECT_THAT(once_unknown(options),
              StartsWith("asks a person, for after_deadline = \"settle\" uses nothing"));
}

TEST(Explain, InFlightWasSeenAtWork) {
  for (const std::string_view observation : {"status in flight", "fence in flight"}) {
    const Explanation explained = of(observation, contract());
    EXPECT_THAT(explained.proves, HasSubstr("at work when it was asked"));
    EXPECT_THAT(explained.does_not_prove, Not(HasSubstr("not seen by a question")));
  }
  EXPECT_THAT(of("not listed", contract()).does_not_prove, HasSubstr("a listing has what was done"));
  EXPECT_THAT(of("status not found", contract()).does_not_prove, HasSubstr("not seen by a question"));
}

TEST(Explain, SaysWhatAContractWouldMakeOfAStatus) {
  ExplainOptions none = contract();
  none.has_contract = false;
  none.call.errors = ErrorContract();
  EXPECT_THAT(of("429", none).does_not_prove, AllOf(HasSubstr("No error contract was given"),
                                                    HasSubstr("naming it in nothing_happened makes it")));
  EXPECT_THAT(of("503", contract()).does_not_prove, HasSubstr("The policy's [errors] do not name it"));
  EXPECT_THAT(of("429", contract()).does_not_prove, Not(HasSubstr("[errors]")));
}

TEST(Explain, TakesAnAcceptedWriteForDoneUnlessTheContractSaysOtherwise) {
  ExplainOptions pending = contract();
  EXPECT_THAT(of("202", pending).proves, StartsWith("the write is applied"));
  EXPECT_THAT(of("202", pending).does_not_prove, HasSubstr("name it in in_flight"));
  pending.call.errors.set(202, StatusMeaning::in_flight);
  EXPECT_THAT(of("202 Accepted", pending).proves, StartsWith("nothing: it was accepted and is not done yet"));
}

TEST(Explain, AnExpiredKeyIsNotClosedForEverWhereKeysAreDeleted) {
  ExplainOptions deleting = contract();
  deleting.terms.on_unknown = {OnUnknown::retry, OnUnknown::list};
  EXPECT_THAT(of("status expired", deleting).proves, HasSubstr("nothing under it will be run any more"));
  EXPECT_THAT(of("not listed after seal", deleting).proves, StartsWith("the write is not applied"));
  deleting.terms.expired = ExpiredKeys::deleted;
  EXPECT_THAT(of("status expired", deleting).proves, Not(HasSubstr("will be run")));
  EXPECT_THAT(of("status expired", deleting).does_not_prove, HasSubstr("executed as new"));
  EXPECT_THAT(of("not listed after seal", deleting).proves, StartsWith("nothing."));
}

// What course_of() finds by running an Operation, row by row as LIFECYCLE's table O has it.
TEST(CourseOf, IsTheOperationsOwn) {
  const auto course = [](const AttemptSeen& seen, const ExplainOptions& options) {
    const Course found = course_of(seen, options);
    return std::tuple(found.attempts, found.listens, found.verdict);
  };
  const AttemptSeen refused{.ending = Ending::refused, .nothing_written = true}, timed_out{};
  const AttemptSeen never_connected{.ending = Ending::timed_out, .nothing_written = true};
  const AttemptSeen broken{.ending = Ending::reset};
  const auto status = [](std::uint16_t number) {
    return AttemptSeen{.ending = Ending::rejected, .status = number};
  };
  EXPECT_EQ(course(refused, contract()), std::tuple(2U, false, Verdict::not_applied));
  EXPECT_EQ(course(never_connected, unkeyed()), std::tuple(2U, false, Verdict::not_applied));
  EXPECT_EQ(course(timed_out, contract()), std::tuple(2U, true, Verdict::unknown));
  EXPECT_EQ(course(timed_out, unkeyed()), std::tuple(1U, true, Verdict::unknown));
  EXPECT_EQ(course(broken, contract()), std::tuple(2U, false, Verdict::unknown));
  EXPECT_EQ(course(broken, unkeyed()), std::tuple(1U, false, Verdict::unknown));
  EXPECT_EQ(course(status(429), contract()), std::tuple(2U, false, Verdict::not_applied));
  EXPECT_EQ(course(status(409), contract()), std::tuple(2U, false, Verdict::unknown));
  EXPECT_EQ(course(status(422), contract()), std::tuple(1U, false, Verdict::unknown));
  EXPECT_EQ(course(status(402), contract()), std::tuple(1U, false, Verdict::not_applied));
  EXPECT_EQ(course(status(200), contract()), std::tuple(1U, false, Verdict::applied));
  EXPECT_EQ(course(status(404), contract()), std::tuple(1U, false, Verdict::unknown));
  EXPECT_EQ(course({.ending = Ending::abandoned}, contract()), std::tuple(1U, false, Verdict::unknown));
  ExplainOptions deaf = contract();
  deaf.call.watch = Probability{};
  EXPECT_EQ(course(timed_out, deaf), std::tuple(2U, false, Verdict::unknown));
}

// 202 in in_flight, all the way: no proof to the Operation, none to the lifecycle, and the same key again.
TEST(AcceptedAndNotDone, IsAtWorkToOperationAndLifecycle) {
  CallPolicyOptions policy = two_attempts();
  policy.errors.set(202, StatusMeaning::in_flight);
  WriteTerms terms;
  terms.on_unknown = {OnUnknown::retry};
  ScriptedWrite write(policy, terms);
  EXPECT_EQ(write.start(10s), "persist entry");
  EXPECT_THAT(write.persisted(1ms, PersistKind::entry), HasSubstr("start 1"));
  write.connected(2ms, 1);
  EXPECT_THAT(write.answer(3ms, 1, 202), AllOf(HasSubstr("start 2"), Not(HasSubstr("persist"))));
  EXPECT_THAT(write.rows, testing::Contains(WriteRow::O12));
  write.connected(4ms, 2);
  EXPECT_EQ(write.answer(5ms, 2, 202), "tell unknown; send again 3");
  EXPECT_EQ(write.answer(10ms, 3, 202), "");
  EXPECT_THAT(write.answer(20ms, 3, 200), HasSubstr("persist outcome applied reply"));
}

}  // namespace
}  // namespace overdue
