// What a valid policy file is warned of.
#include "overdue/policy/lint.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "overdue/policy/whole_policy.h"

namespace overdue {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

std::vector<std::string> warnings_of(const std::string& text) {
  const auto policy = parse_policy(text, "p.toml");
  EXPECT_TRUE(policy.has_value()) << policy.error().message;
  std::vector<std::string> texts;
  for (const PolicyWarning& warning : lint_policy(*policy)) texts.push_back(warning.text);
  return texts;
}

TEST(LintPolicy, HasNothingToSayOfAPolicyThatFits) {
  EXPECT_THAT(warnings_of(std::string(kWholePolicy)), IsEmpty());
}

// C31.
TEST(LintPolicy, WarnsWhereAttemptsDoNotFitThePromise) {
  const auto policy = [](std::string_view promise, std::string_view request, int attempts) {
    std::string text = "[dependency.a]\n";
    if (!promise.empty()) text += "promise = \"" + std::string(promise) + "\"\n";
    if (!request.empty()) text += "[dependency.a.timeout]\nrequest = \"" + std::string(request) + "\"\n";
    return text + "[dependency.a.retry]\nattempts = " + std::to_string(attempts) +
           "\nbackoff = { base = \"25ms\", cap = \"25ms\" }\n";
  };
  EXPECT_THAT(warnings_of(policy("1500ms", "", 3)), ElementsAre(HasSubstr("no room to retry")));
  EXPECT_THAT(warnings_of(policy("", "2s", 3)), ElementsAre(HasSubstr("set promise")));
  EXPECT_THAT(
      warnings_of(policy("10s", "4s", 4)),
      ElementsAre(HasSubstr("4 x 4s and the waits between them > promise 10s: 2 whole attempts fit")));
  EXPECT_THAT(warnings_of(policy("8025ms", "4s", 2)), IsEmpty());
  EXPECT_THAT(warnings_of(policy("8024ms", "4s", 2)), SizeIs(1));
}

TEST(LintPolicy, ADecorrelatedWaitIsAtMostThreeTimesTheOneBefore) {
  const auto policy = [](std::string_view promise, int attempts) {
    return "[dependency.a]\npromise = \"" + std::string(promise) +
           "\"\n[dependency.a.timeout]\nrequest = \"1s\"\n[dependency.a.retry]\nattempts = " +
           std::to_string(attempts) +
           "\nbackoff = { base = \"1s\", cap = \"5s\", jitter = \"decorrelated\" }\n";
  };
  EXPECT_THAT(warnings_of(policy("5s", 2)), IsEmpty());
  EXPECT_THAT(warnings_of(policy("4999ms", 2)), SizeIs(1));
  EXPECT_THAT(warnings_of(policy("11s", 3)), IsEmpty()) << "1 + 3 + 1 + 5 + 1";
  EXPECT_THAT(warnings_of(policy("10999ms", 3)), SizeIs(1));
}

TEST(LintPolicy, WarnsOfWhatHurtsAndIsAllowed) {
  EXPECT_THAT(warnings_of(changed("attempts = 3", "attempts = 3\nunsafe_retry_without_key = true")),
              ElementsAre(HasSubstr("it makes duplicates")));
  EXPECT_THAT(warnings_of(changed("budget   = { ratio = 0.1, floor_per_second = 1.0, window = \"10s\" }",
                                  "budget = \"none\"")),
              ElementsAre(HasSubstr("3 times the load")));
  EXPECT_THAT(warnings_of("[dependency.a]\n"),
              ElementsAre(HasSubstr("nothing limits how long a call may wait")));
  EXPECT_THAT(warnings_of("[dependency.a.timeout]\nrequest = \"adaptive\"\n"),
              ElementsAre(HasSubstr("has no ceiling")));
  EXPECT_THAT(warnings_of(changed("connect      = \"250ms\"", "connect = \"385ms\"")),
              ElementsAre(HasSubstr("no shorter than request")));
  std::string in_flight = changed("\"400\", ", "\"409\", ");
  in_flight.replace(in_flight.find("[\"409\"]\nother"), 7, "[]");
  EXPECT_THAT(warnings_of(in_flight), ElementsAre(HasSubstr("put it in in_flight")));
  std::string proxied = changed("\"400\", ", "\"503\", ");
  EXPECT_THAT(warnings_of(proxied), IsEmpty()) << "on a direct connection the contract decides";
  proxied.replace(proxied.find("via_proxy = false"), 17, "via_proxy = true");
  EXPECT_THAT(warnings_of(proxied), ElementsAre(HasSubstr("not believed behind a proxy")));
}

TEST(LintPolicy, WarnsOfAPlanForUnknownWritesThatUsesNothingTheServerOffers) {
  const auto write = [](std::string_view offers, std::string_view plan) {
    return "[dependency.a]\npromise = \"1s\"\n[dependency.a.write]\non_unknown = [" + std::string(offers) +
           "]\nkey_header = \"Idempotency-Key\"\nfence = \"POST /fence/{key}\"\nstatus = \"GET "
           "/status/{key}\"\n" +
           "after_deadline = \"" + std::string(plan) + "\"\n";
  };
  EXPECT_THAT(warnings_of(write("\"retry\"", "settle")), ElementsAre(HasSubstr("only asks")));
  EXPECT_THAT(
      warnings_of(write("\"fence\"", "complete")),
      ElementsAre(HasSubstr("uses nothing of on_unknown: every unknown write goes to a person; \"revoke\"")));
  EXPECT_THAT(warnings_of(write("\"retry\"", "complete")), IsEmpty());
  EXPECT_THAT(warnings_of(write("\"query\"", "settle")), IsEmpty());
  EXPECT_THAT(warnings_of(write("\"fence\"", "revoke")), IsEmpty());
}

// Past the deadline nothing is sent again without a key, so the step is none.
TEST(LintPolicy, WarnsOfARetryWithoutAKeyThatIsDeclaredUnsafe) {
  const std::string text =
      "[dependency.a]\npromise = \"1s\"\n[dependency.a.write]\non_unknown = [\"retry\"]\n"
      "[dependency.a.retry]\nunsafe_retry_without_key = ";
  EXPECT_THAT(parse_policy(text + "false\n", "p").error().message, HasSubstr("there is no key_header"));
  EXPECT_THAT(
      warnings_of(text + "true\n"),
      ElementsAre(HasSubstr("past the deadline nothing is sent again without a key"),
                  ::testing::EndsWith("uses nothing of on_unknown: every unknown write goes to a person")))
      << "there is no fence to advise";
}

TEST(LintPolicy, SaysOnWhatConditionNotFoundIsAFence) {
  std::string text = changed("\"proves_nothing\"", "\"fenced\"");
  EXPECT_THAT(warnings_of(text),
              ElementsAre(::testing::AllOf(
                  HasSubstr("right only where asking for the status itself writes a tombstone, in one "
                            "transaction with its answer"),
                  HasSubstr("A GET leaves none as a rule"))));
  text.replace(text.find("GET /operations"), 3, "POST");
  EXPECT_THAT(warnings_of(text),
              ElementsAre(::testing::AllOf(HasSubstr("right only where asking for the status itself writes"),
                                           ::testing::Not(HasSubstr("leaves none")))));
}

TEST(LintPolicy, WarnsOfAFenceThatIsADelete) {
  EXPECT_THAT(warnings_of(changed("POST /operations", "DELETE /operations")),
              ElementsAre(HasSubstr("fence is a DELETE")));
}

TEST(LintPolicy, WarnsWhereTheLifeOfARequestIsLeftOut) {
  EXPECT_THAT(warnings_of(changed("message_life_max = \"10m\"\n", "")),
              ElementsAre(HasSubstr("message_life_max is left out and taken for 0")));
}

TEST(LintPolicy, WarnsOf200InFlight) {
  EXPECT_THAT(warnings_of(changed("[\"409\"]", "[\"409\", \"200\"]")),
              ElementsAre(HasSubstr("no reply of 200 proves")));
  EXPECT_THAT(warnings_of(changed("[\"409\"]", "[\"409\", \"202\"]")), IsEmpty());
}

TEST(LintPolicy, WarnsWhereAForgottenKeyMayStillBeSent) {
  const std::string open =
      "[dependency.a]\npromise = \"1s\"\n[dependency.a.write]\non_unknown = [\"retry\"]\nkey_header = \"K\"\n"
      "expired = \"deleted\"\n";
  EXPECT_THAT(warnings_of(open), ElementsAre(HasSubstr("executed as new")));
  EXPECT_THAT(warnings_of(open + "key_retention = \"24h\"\nlast_send = \"1h\"\nmessage_life_max = \"1m\"\n"),
              IsEmpty());
}

// LIFECYCLE, mutant 5.
TEST(LintPolicy, WarnsOfARequestThatMayOutliveARecordThatIsDeleted) {
  const std::string policy =
      "[dependency.a]\npromise = \"1s\"\n[dependency.a.write]\non_unknown = [\"list\"]\nkey_retention = "
      "\"1h\"\n";
  EXPECT_THAT(warnings_of(policy + "expired = \"deleted\"\nmessage_life_max = \"1h\"\n"),
              ElementsAre(HasSubstr("message_life_max 1h does not end before key_retention 1h")));
  EXPECT_THAT(warnings_of(policy + "expired = \"deleted\"\nmessage_life_max = \"59m\"\n"), IsEmpty());
  EXPECT_THAT(warnings_of(policy + "message_life_max = \"1h\"\n"), IsEmpty())
      << "a key that is remembered is never run again";
}

TEST(LintPolicy, SaysOnWhichLineTheKeyStands) {
  const auto lines = [](const std::string& text) {
    std::vector<std::uint32_t> found;
    for (const PolicyWarning& warning : lint_policy(*parse_policy(text, "p"))) found.push_back(warning.line);
    return found;
  };
  EXPECT_THAT(lines(changed("[\"409\"]", "[\"409\", \"200\"]")), ElementsAre(40U));
  EXPECT_THAT(lines(changed("POST /operations", "DELETE /operations")), ElementsAre(34U));
  EXPECT_THAT(lines(changed("\"proves_nothing\"", "\"fenced\"")), ElementsAre(35U));
  std::string conflict = changed("\"400\", ", "\"409\", ");
  conflict.replace(conflict.find("[\"409\"]\nother"), 7, "[]");
  EXPECT_THAT(lines(conflict), ElementsAre(38U));
}

TEST(LintPolicy, WarnsOfARequestAboveTheCeilingOfAdaptive) {
  const auto policy = [](std::string_view request) {
    return "[dependency.a.timeout]\nrequest = \"" + std::string(request) + "\"\nceiling = \"300ms\"\n";
  };
  EXPECT_THAT(warnings_of(policy("301ms")), ElementsAre(HasSubstr("request 301ms is above ceiling 300ms")));
  EXPECT_THAT(warnings_of(policy("300ms")), IsEmpty());
  EXPECT_THAT(warnings_of(policy("adaptive")), IsEmpty());
}

TEST(LintPolicy, SaysOnWhichLine) {
  const auto policy = parse_policy(changed("attempts = 3", "attempts = 6"), "p.toml");
  ASSERT_TRUE(policy.has_value());
  const auto warnings = lint_policy(*policy);
  ASSERT_THAT(warnings, SizeIs(1));
  EXPECT_EQ(warnings[0].line, 18U);
}

TEST(LintPolicy, TheFormatsPageShowsAPolicyWithoutFaultOrWarningThatSetsEveryKey) {
  std::ifstream file("docs/formats/policy.md");
  std::stringstream page;
  page << file.rdbuf();
  std::string text = page.str();
  const std::size_t begin = text.find("```toml\n") + 8;
  ASSERT_LT(begin, text.size());
  text = text.substr(begin, text.find("```", begin) - begin);
  EXPECT_THAT(warnings_of(text), IsEmpty());
  // What is printed of it has a line for each key that is not at its default already.
  const std::string printed = print_policy(*parse_policy(text, "page"));
  const auto lines = [](const std::string& of, char within) { return std::ranges::count(of, within); };
  EXPECT_EQ(lines(printed, '='), lines(text, '=') - 2) << "via_proxy and unsafe_retry_without_key are false";
}

}  // namespace
}  // namespace overdue
