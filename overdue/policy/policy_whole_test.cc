// The whole policy file: every table read, every fault named, printed back, and made into what an Operation
// takes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "overdue/policy/call_policy_of.h"
#include "overdue/policy/policy.h"
#include "overdue/policy/whole_policy.h"
#include "overdue/policy/write_terms_of.h"

namespace overdue {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

DependencyPolicy first_of(const std::string& text) {
  const auto policy = parse_policy(text, "p.toml");
  EXPECT_TRUE(policy.has_value()) << policy.error().message;
  return policy ? policy->dependencies.at(0) : DependencyPolicy{};
}

TEST(WholePolicy, ReadsEveryTable) {
  const DependencyPolicy payments = first_of(std::string(kWholePolicy));
  const RetryPolicy& retry = payments.retry;
  EXPECT_EQ(retry.attempts, 3U);
  EXPECT_EQ(retry.backoff, (Backoff{.base = 25ms, .cap = 1s, .jitter = Jitter::full}));
  EXPECT_EQ(retry.budget, (BudgetPolicy{100, 1000, 10s}));
  EXPECT_EQ(retry.on, RetryOn{});
  EXPECT_EQ(retry.hedge_at, Quantile{0.95});
  const WritePolicy& write = payments.write;
  EXPECT_THAT(write.on_unknown,
              ElementsAre(OnUnknown::retry, OnUnknown::query, OnUnknown::fence, OnUnknown::list));
  EXPECT_EQ(write.after_deadline, AfterDeadline::settle);
  EXPECT_EQ(write.key_header, "Idempotency-Key");
  EXPECT_EQ(write.key_retention, 24h);
  EXPECT_EQ(write.last_send, 1h);
  EXPECT_EQ(write.message_life_max, 10min);
  EXPECT_EQ(write.expired, ExpiredKeys::remembered);
  EXPECT_EQ(write.status, "GET /operations/{key}");
  EXPECT_EQ(write.not_found, NotFound::proves_nothing);
  EXPECT_THAT(payments.errors.nothing_happened, ElementsAre("400", "429", "UNAVAILABLE"));
  EXPECT_EQ(payments.health.probe, Probe::deep);
  EXPECT_EQ(payments.health.fail_above, 3.0);
  EXPECT_EQ(payments.eject.max_ejected, Probability{0.3});
  EXPECT_TRUE(payments.shed.adaptive);
  EXPECT_EQ(payments.retry.line, 18U);
}

struct Fault {
  std::string_view what;
  std::string_view with;
  std::string_view message;
};

TEST(WholePolicy, NamesEachFaultWithItsLineAndWhatWouldBeRight) {
  const std::vector<Fault> faults = {
      {"attempts = 3", "attempts = 0",
       "p.toml:19: dependency.payments.retry.attempts = 0: write a whole number "
       "from 1 to 16"},
      {"attempts = 3", "attempts = 17", "from 1 to 16"},
      {"attempts = 3", "attempts = \"3\"", "from 1 to 16"},
      {"attempts = 3", "atempts = 3", "is not a key of a retry table; there are: attempts, backoff, budget"},
      {"base = \"25ms\"", "base = 25", "p.toml:20: dependency.payments.retry.backoff.base = 25: a duration"},
      {"base = \"25ms\"", "base = \"2s\"", "base 2s above cap 1s"},
      {"\"full\"", "\"some\"", "write one of \"none\", \"full\", \"decorrelated\""},
      {"ratio = 0.1", "ratio = 10", "p.toml:21: dependency.payments.retry.budget.ratio"},
      {"ratio = 0.1", "ratio = 0.0005", "no finer than 0.1%"},
      {"ratio = 0.1", "ratio = 0.0004", "ratio = 0.0004: no finer"},
      {"floor_per_second = 1.0", "floor_per_second = -1.0", "0 to 1000000 retries a second"},
      {"floor_per_second = 1.0", "floor_per_second = nan", "0 to 1000000 retries a second"},
      {"window = \"10s\" }", "window = \"2h\" }", "write 1ms to 1h"},
      {"\"refused\", \"reset\"", "\"reset\", \"reset\"", "has 'reset' twice"},
      {"\"refused\", ", "\"refuzed\", ", "write one of \"refused\", \"reset\", \"timed_out\", \"rejected\""},
      {"\"p95\"", "\"95%\"", "write a percentile between 0 and 100, as in \"p95\""},
      {"\"p95\"", "\"p100\"", "write a percentile"},
      {"\"settle\"", "\"later\"", "write one of \"complete\", \"settle\", \"revoke\""},
      {"key_header     = \"Idempotency-Key\"", "",
       "p.toml:26: dependency.payments.write.on_unknown has \"retry\", and there is no key_header: what is "
       "sent "
       "again without a key is a second write"},
      {"key_header     = \"Idempotency-Key\"", "", "or leave \"retry\", \"query\", \"fence\" out"},
      {"\"Idempotency-Key\"", "\"\u00e9\"",
       "p.toml:28: dependency.payments.write.key_header = '\u00e9': write the name of an HTTP header"},
      {"\"Idempotency-Key\"", "\"Idempotency Key\"", "write the name of an HTTP header"},
      {"\"Idempotency-Key\"", "\"Idempotency-Key:\"", "write the name of an HTTP header"},
      {"\"Idempotency-Key\"", "\"\"", "write the name of an HTTP header"},
      {"\"Idempotency-Key\"", "7", "write the name of an HTTP header"},
      {"ratio = 0.1", "ratio = 9223372036854775807", "p.toml:21: dependency.payments.retry.budget.ratio"},
      {"floor_per_second = 1.0", "floor_per_second = 9223372036854775807", "p.toml:21: "},
      {"fail_above = 3.0", "fail_above = 9223372036854775807", "how many times the fleet's median"},
      {"max_ejected = \"30%\"", "max_ejected = -9223372036854775807",
       "p.toml:51: dependency.payments.eject.max_ejected = '-9223372036854775807' is not a rate"},
      {"status         = \"GET /operations/{key}\"", "",
       "p.toml:26: dependency.payments.write.on_unknown has \"query\", and there is no status"},
      {"fence          = \"POST /operations/{key}/fence\"", "",
       "p.toml:26: dependency.payments.write.on_unknown has \"fence\", and there is no fence"},
      {"GET /operations", "POST /operations",
       "p.toml:33: dependency.payments.write.status = \"POST /operations/{key}\": a question changes "
       "nothing"},
      {"GET /operations", "PATCH /operations", "write a method (GET, HEAD, POST, PUT) and a path with {key}"},
      {"POST /operations", "GET /operations",
       "p.toml:34: dependency.payments.write.fence = 'GET /operations/{key}/fence': a GET changes nothing "
       "and "
       "so leaves no tombstone"},
      {"GET /operations/{key}", "GET /operations", "a path with {key} in it"},
      {"last_send      = \"1h\"", "last_send      = \"24h\"",
       "p.toml:30: dependency.payments.write.last_send = \"1d\", with message_life_max \"10m\", must end "
       "before "
       "key_retention \"1d\""},
      {"message_life_max = \"10m\"", "message_life_max = \"23h\"", "must end before key_retention \"1d\""},
      {"last_send      = \"1h\"\nmessage_life_max = \"10m\"", "last_send = \"1d\"",
       "last_send = \"1d\", with room for message_life_max, the longest a request may be on its way, must "
       "end"},
      {"[\"409\"]", "[\"429\"]",
       "p.toml:40: dependency.payments.errors.in_flight lists 429, and so does nothing_happened in line 38: "
       "a "
       "status means one thing. Keep it in nothing_happened if it is said of a request turned away "
       "unexecuted, "
       "in in_flight if it says that the write is at work"},
      {"[\"409\"]", "[\"409\",\n\"409\"]",
       "p.toml:41: dependency.payments.errors.in_flight lists 409 twice: write it once"},
      {"[\"409\"]", "[409]", "has 409: a status is text: write \"409\""},
      {"[\"409\"]", "[\"4xx\"]", "write an HTTP status"},
      {"[\"409\"]", "[\"99\"]", "write an HTTP status"},
      {"[\"409\"]", "[\"600\"]", "write an HTTP status"},
      {"[\"409\"]", "[\"0409\"]", "has '0409': write an HTTP status"},
      {"[\"402\"]", "[\"202\"]",
       "p.toml:39: dependency.payments.errors.recorded_rejection lists 202, which is a success: leave it "
       "out, or "
       "write it in in_flight if it says that the write was accepted and is not done yet"},
      {"[\"409\"]", "[\"OK\"]", "lists OK, which is a success: leave it out"},
      {"fail_above = 3.0", "fail_above = 1.0", "how many times the fleet's median"},
      {"back_below = 2.0", "back_below = 3.0", "back_below 3 must be below fail_above 3"},
      {"max_ejected = \"30%\"", "max_ejected = 30", "p.toml:51: dependency.payments.eject.max_ejected"},
      {"\"adaptive\"", "0", "from 1 to 1000000"},
      {"[dependency.payments.shed]", "[dependency.payments.shedding]", "is not a key of a dependency"},
  };
  for (const Fault& fault : faults) {
    const auto policy = parse_policy(changed(fault.what, fault.with), "p.toml");
    ASSERT_FALSE(policy.has_value()) << fault.with;
    EXPECT_THAT(policy.error().message, HasSubstr(std::string(fault.message))) << fault.with;
    EXPECT_EQ(policy.error().message.find('\n'), std::string::npos) << "one fault, one line: " << fault.with;
  }
}

// A fault of one key hides none of another's, and brings none for what it left unread.
TEST(WholePolicy, TellsTheFaultsOfAllKeysAtOnce) {
  const auto faults_of = [](const std::string& text) {
    const auto policy = parse_policy(text, "p");
    EXPECT_FALSE(policy.has_value());
    return policy ? std::string() : policy.error().message;
  };
  std::string text = changed("POST /operations", "GET /operations");
  text.replace(text.find("\"1h\""), 4, "\"24h\"");
  text.replace(text.find("attempts = 3"), 12, "attempts = 0");
  const std::string faults = faults_of(text);
  EXPECT_THAT(faults, HasSubstr("retry.attempts = 0"));
  EXPECT_THAT(faults, HasSubstr("must end before key_retention"));
  EXPECT_THAT(faults, HasSubstr("a GET changes nothing"));
  EXPECT_EQ(std::ranges::count(faults, '\n'), 2) << faults;
  for (const auto& [what, with] :
       {std::pair("POST /operations", "GET /operations"), std::pair("\"Idempotency-Key\"", "7"),
        std::pair("GET /operations", "GO /o"), std::pair("\"proves_nothing\"", "\"guess\""),
        std::pair("\"1h\"", "1"), std::pair("\"24h\"", "24")})
    EXPECT_EQ(std::ranges::count(faults_of(changed(what, with)), '\n'), 0) << with;
  std::string typo = changed("\"settle\"", "\"revoke\"");
  typo.replace(typo.find("\"fence\""), 7, "\"fense\"");
  EXPECT_EQ(std::ranges::count(faults_of(typo), '\n'), 0) << "revoke is not said to lack its fence as well";
  EXPECT_THAT(faults_of("[dependency.a]\npromis = 1\n[dependency.a.write]\non_unknown = [\"retry\"]\n"),
              HasSubstr("there is no key_header"));
}

TEST(WholePolicy, ARequestThatEndsJustBeforeItsKeyIsForgottenIsInTime) {
  EXPECT_TRUE(
      parse_policy(changed("message_life_max = \"10m\"", "message_life_max = \"1379m\""), "p").has_value());
  EXPECT_FALSE(
      parse_policy(changed("message_life_max = \"10m\"", "message_life_max = \"1380m\""), "p").has_value());
}

// Whoever goes by a key, where no request carries one, asks of nothing and closes nothing.
TEST(WholePolicy, WhatGoesByAKeyNeedsOne) {
  const struct {
    std::string_view write;
    std::string_view fault;
  } rows[] = {
      {"on_unknown = [\"list\"]", ""},
      {"on_unknown = [\"query\"]\nstatus = \"GET /o/{key}\"",
       "p:2: dependency.a.write.on_unknown has \"query\", and there is no key_header: requests that carry no "
       "key "
       "have no record under one"},
      {"on_unknown = [\"list\", \"fence\"]\nafter_deadline = \"revoke\"\nfence = \"POST /o/{key}/fence\"",
       "p:2: dependency.a.write.on_unknown has \"fence\", and there is no key_header: a tombstone refuses "
       "the "
       "requests that carry its key, and ours carry none"},
      {"on_unknown = [\"list\"]\nstatus = \"GET /o/{key}\"\nnot_found = \"after_limit\"",
       "p:4: dependency.a.write.not_found = \"after_limit\" is about a key, and there is no key_header"},
      {"on_unknown = [\"list\"]\nstatus = \"GET /o/{key}\"\nnot_found = \"fenced\"",
       "p:4: dependency.a.write.not_found = \"fenced\" is about a key, and there is no key_header"}};
  for (const auto& row : rows) {
    const std::string text = "[dependency.a.write]\n" + std::string(row.write) + "\n";
    const auto policy = parse_policy(text, "p");
    ASSERT_EQ(policy.has_value(), row.fault.empty()) << row.write;
    EXPECT_THAT(policy ? "" : policy.error().message, HasSubstr(std::string(row.fault)));
    EXPECT_TRUE(parse_policy(text + "key_header = \"K\"\n", "p").has_value()) << row.write;
  }
  const std::string unsafe =
      "[dependency.a.retry]\nunsafe_retry_without_key = true\n[dependency.a.write]\nstatus = \"GET "
      "/o/{key}\"\n";
  EXPECT_TRUE(parse_policy(unsafe + "on_unknown = [\"retry\"]", "p").has_value());
  EXPECT_THAT(parse_policy(unsafe + "on_unknown = [\"retry\", \"query\"]", "p").error().message,
              HasSubstr("has \"query\", and there is no key_header"));
}

TEST(WholePolicy, RevokingNeedsAFence) {
  const std::string text = changed("\"settle\"", "\"revoke\"");
  EXPECT_TRUE(parse_policy(text, "p").has_value());
  std::string without = text;
  without.erase(without.find(", \"fence\""), 9);
  EXPECT_THAT(parse_policy(without, "p").error().message,
              HasSubstr("p:27: dependency.payments.write.after_deadline = \"revoke\" fences the key, and "
                        "on_unknown has no \"fence\""));
}

constexpr std::string_view kStatus = "status         = \"GET /operations/{key}\"\n";

// Only a status can make it so, and a fence that is never called never does.
TEST(WholePolicy, NotFoundIsFencedByTheStatusAndNotByAFenceOfItsOwn) {
  std::string text = changed("\"proves_nothing\"", "\"fenced\"");
  EXPECT_TRUE(parse_policy(text, "p").has_value());
  text.replace(text.find("\"retry\", \"query\", \"fence\", \"list\""), 33, "\"retry\", \"fence\"");
  text.erase(text.find(kStatus), kStatus.size());
  EXPECT_THAT(
      parse_policy(text, "p").error().message,
      HasSubstr("p:34: dependency.payments.write.not_found = \"fenced\" says that asking for the status "
                "closes the key, and there is no status"));
  text.replace(text.find("\"fenced\""), 8, "\"after_limit\"");
  EXPECT_THAT(parse_policy(text, "p").error().message, HasSubstr("is about what the status says"));
}

TEST(WholePolicy, AStatusThatClosesTheKeyMayBeAPost) {
  std::string text = changed("\"proves_nothing\"", "\"fenced\"");
  text.replace(text.find("GET /operations"), 3, "POST");
  EXPECT_TRUE(parse_policy(text, "p").has_value()) << parse_policy(text, "p").error().message;
}

TEST(WholePolicy, ASuccessMayBeInFlight) {
  const DependencyPolicy payments = first_of(changed("[\"409\"]", "[\"409\", \"202\"]"));
  EXPECT_THAT(payments.errors.in_flight, ElementsAre("409", "202"));
  const auto policy = call_policy_of(payments);
  ASSERT_TRUE(policy.has_value());
  EXPECT_EQ((*policy)->errors.meaning_of(202), StatusMeaning::in_flight);
  EXPECT_EQ((*policy)->errors.meaning_of(201), StatusMeaning::success);
}

TEST(WholePolicy, NoneIsSaidAndNeverMeantByZero) {
  const DependencyPolicy payments = first_of(
      "[dependency.a.timeout]\nrequest = \"none\"\nconnect = \"none\"\n[dependency.a.retry]\nbackoff = "
      "\"none\"\nbudget = \"none\"\n");
  EXPECT_FALSE(payments.timeout.request.has_value());
  EXPECT_FALSE(payments.timeout.connect.has_value());
  EXPECT_EQ(payments.retry.backoff->cap, 0ns);
  EXPECT_TRUE(payments.retry.no_budget);
  EXPECT_THAT(parse_policy("[dependency.a.timeout]\nrequest = \"0s\"\n", "p").error().message,
              HasSubstr("write a positive duration"));
}

Policy without_lines(Policy policy) {
  for (DependencyPolicy& one : policy.dependencies) {
    for (std::uint32_t* line : {&one.line, &one.timeout.line, &one.retry.line, &one.write.line,
                                &one.errors.line, &one.health.line, &one.eject.line, &one.shed.line})
      *line = 0;
  }
  return policy;
}

TEST(PrintPolicy, ReadsBackAsTheSamePolicy) {
  std::string every = changed("jitter = \"full\"", "jitter = \"decorrelated\"");
  every.replace(every.find("via_proxy = false"), 17, "via_proxy = true ");
  for (const std::string& text :
       {std::string(kWholePolicy), every, changed("request      = \"385ms\"", "request = \"adaptive\""),
        changed("budget   = { ratio = 0.1, floor_per_second = 1.0,",
                "budget = { ratio = \"2.5%\", "
                "floor_per_second = 0.125,"),
        changed("\"p95\"", "\"p99.95\""), changed("\"adaptive\"", "64"),
        std::string(
            "[dependency.\"a b\\\"\"]\n[dependency.c.retry]\nunsafe_retry_without_key = true\nbackoff "
            "= \"none\"\nbudget = \"none\"\non = []\n")}) {
    const auto policy = parse_policy(text, "p.toml");
    ASSERT_TRUE(policy.has_value()) << policy.error().message;
    const std::string printed = print_policy(*policy);
    const auto again = parse_policy(printed, "printed");
    ASSERT_TRUE(again.has_value()) << again.error().message << "\n" << printed;
    EXPECT_EQ(without_lines(*again), without_lines(*policy)) << printed;
    EXPECT_EQ(print_policy(*again), printed);
  }
}

RC_GTEST_PROP(PrintPolicy, KeepsEveryFigureToItsLastDigit, ()) {
  const auto duration = [](std::int64_t max) { return Duration(*rc::gen::inRange<std::int64_t>(1, max)); };
  Policy policy;
  DependencyPolicy& one = policy.dependencies.emplace_back();
  one.name = *rc::gen::string<std::string>();
  for (char& letter : one.name) letter = static_cast<char>(letter & 0x7f);
  RC_PRE(!one.name.empty() && one.name.find('\0') == std::string::npos);
  one.promise = 24h + duration(1'000'000'000'000);
  one.timeout.request = duration(1'000'000'000'000);
  one.timeout.watch = Probability::from_parts(*rc::gen::inRange<std::int64_t>(0, Probability::kScale));
  one.retry.attempts = *rc::gen::inRange<std::uint32_t>(1, 17);
  one.retry.backoff = Backoff{.base = duration(1'000'000'000), .cap = 1s + duration(1'000'000'000)};
  one.retry.budget =
      BudgetPolicy{.retries_per_1000_requests = *rc::gen::inRange<std::int64_t>(0, 1000),
                   .retries_per_1000_seconds_min = *rc::gen::inRange<std::int64_t>(0, 1'000'000'000),
                   .window = 1ms + duration(1'000'000'000'000)};
  one.retry.hedge_at = Quantile::from_parts(*rc::gen::inRange<std::int64_t>(1, Quantile::kScale));
  const auto again = parse_policy(print_policy(policy), "printed");
  if (!again) RC_FAIL(again.error().message + "\n" + print_policy(policy));
  RC_ASSERT(without_lines(*again) == policy);
}

TEST(WithSetting, ChangesOneValueAndNothingElse) {
  const std::string commented = changed("attempts = 3", "attempts = 3   # agreed");
  EXPECT_EQ(with_setting(commented, "p", "payments", {"retry", "attempts", "2"}).value(),
            changed("attempts = 3", "attempts = 2   # agreed"));
  EXPECT_EQ(with_setting(commented, "p", "payments", {"", "promise", "\"3s\""}).value(), [&] {
    std::string text = commented;
    return text.replace(text.find("\"2s\""), 4, "\"3s\"");
  }());
  EXPECT_EQ(with_setting("[dependency.a.timeout]\nrequest = \"1s\"\n", "p", "a", {"retry", "attempts", "2"})
                .value(),
            "[dependency.a.timeout]\nrequest = \"1s\"\n\n[dependency.a.retry]\nattempts = 2\n");
  EXPECT_THAT(with_setting(commented, "p", "payments", {"retry", "attempts", "99"}).error().message,
              HasSubstr("is left as it is"));
}

TEST(WriteTermsOf, TakesWhatTheFileSaysAndKeepsTheRestSafe) {
  const WriteTerms terms = write_terms_of(first_of(std::string(kWholePolicy)));
  EXPECT_THAT(terms.on_unknown,
              ElementsAre(OnUnknown::retry, OnUnknown::query, OnUnknown::fence, OnUnknown::list));
  EXPECT_EQ(terms.after_deadline, AfterDeadline::settle);
  EXPECT_TRUE(terms.keyed);
  const WriteTerms bare = write_terms_of(first_of("[dependency.a]\n"));
  EXPECT_THAT(bare.on_unknown, IsEmpty());
  EXPECT_FALSE(bare.keyed);
  EXPECT_EQ(bare.not_found, NotFound::proves_nothing);
}

TEST(CallPolicyOf, GivesAnOperationWhatTheFileSays) {
  const auto policy = call_policy_of(first_of(std::string(kWholePolicy)));
  ASSERT_TRUE(policy.has_value()) << policy.error().message;
  const CallPolicy& made = *policy;
  EXPECT_EQ(made->promise, 2s);
  EXPECT_EQ(made->connect_timeout, 250ms);
  EXPECT_EQ(made->request_timeout, 385ms);
  EXPECT_EQ(made->attempts_max, 3U);
  EXPECT_EQ(made->way_estimate, 2ms);
  EXPECT_EQ(made->retry_budget->retries_per_1000_requests, 100);
  EXPECT_EQ(made->retry_budget->retries_saved_max, 10);
  EXPECT_EQ(made->errors.meaning_of(429), StatusMeaning::nothing_happened);
  EXPECT_EQ(made->errors.meaning_of(14), StatusMeaning::nothing_happened);
  EXPECT_EQ(made->errors.meaning_of(402), StatusMeaning::recorded_rejection);
  EXPECT_EQ(made->errors.meaning_of(409), StatusMeaning::in_flight);
  EXPECT_EQ(made->errors.meaning_of(422), StatusMeaning::other_payload);
  EXPECT_FALSE(made->unsafe_retry_without_key);
  EXPECT_FALSE(made->via_proxy);
}

TEST(CallPolicyOf, WithoutARetryTableNothingIsRetriedAndThereIsABudgetAllTheSame) {
  const auto policy = call_policy_of(first_of("[dependency.a]\nvia_proxy = true\n"));
  ASSERT_TRUE(policy.has_value());
  EXPECT_EQ((*policy)->attempts_max, 1U);
  EXPECT_TRUE((*policy)->retry_budget.has_value());
  EXPECT_TRUE((*policy)->via_proxy);
}

TEST(CallPolicyOf, ABudgetSavesUpItsFloorOfOneWindowAndOneRetryAtLeast) {
  const auto saved = [](std::string_view budget) {
    const auto policy =
        call_policy_of(first_of("[dependency.a.retry]\nbudget = " + std::string(budget) + "\n"));
    return (*policy)->retry_budget->retries_saved_max;
  };
  EXPECT_EQ(saved("{ floor_per_second = 0.5, window = \"10s\" }"), 5);
  EXPECT_EQ(saved("{ floor_per_second = 0.55, window = \"10s\" }"), 6);
  EXPECT_EQ(saved("{ floor_per_second = 0, window = \"10s\" }"), 1);
  EXPECT_EQ(saved("{ floor_per_second = 1000000, window = \"1h\" }"), 1'000'000);
  EXPECT_FALSE(
      (*call_policy_of(first_of("[dependency.a.retry]\nbudget = \"none\"\n")))->retry_budget.has_value());
}

TEST(CallPolicyOf, AnAdaptiveTimeoutBeginsAtItsCeilingOrAtThePromise) {
  const auto request = [](std::string_view tables) {
    return (*call_policy_of(first_of(std::string(tables))))->request_timeout;
  };
  EXPECT_EQ(request("[dependency.a.timeout]\nrequest = \"adaptive\"\nceiling = \"1s\"\n"), 1s);
  EXPECT_EQ(request("[dependency.a]\npromise = \"2s\"\n[dependency.a.timeout]\nrequest = \"adaptive\"\n"),
            2s);
}

}  // namespace
}  // namespace overdue
