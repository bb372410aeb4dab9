#include "overdue/policy/policy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "overdue/policy/key_depth.h"

namespace overdue {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;

constexpr std::string_view kWhole = R"(# who pays
[dependency.payments]
backends  = ["10.0.0.1:8080", "10.0.0.2:8080"]
via_proxy = false
promise   = "2s"

[dependency.payments.timeout]
accept_false = "0.1%"   # agreed in May
connect      = "250ms"
request      = "385ms"
floor = "50ms"
ceiling = "1s"
max_step = "10%"
window = "5m"
window_max = "6h"
watch = "100%"

[dependency.payments.retry]
attempts = 3
)";

TEST(ParsePolicy, ReadsTheTimeoutTableAndTheDependencysOwnKeys) {
  const auto policy = parse_policy(kWhole, "p.toml");
  ASSERT_TRUE(policy.has_value()) << policy.error().message;
  ASSERT_EQ(policy->dependencies.size(), 1u);
  const DependencyPolicy& payments = policy->dependencies[0];
  EXPECT_EQ(payments.name, "payments");
  EXPECT_EQ(payments.backends.size(), 2u);
  EXPECT_EQ(payments.promise, 2s);
  EXPECT_EQ(payments.timeout.accept_false, Probability{0.001});
  EXPECT_EQ(payments.timeout.request, 385ms);
  EXPECT_EQ(payments.timeout.window_max, 6h);
  EXPECT_EQ(payments.retry.attempts, 3U);
}

TEST(ParsePolicy, ReadsAdaptiveAsAWordAndNotAsATime) {
  const auto policy = parse_policy("[dependency.a.timeout]\nrequest = \"adaptive\"\n", "p.toml");
  ASSERT_TRUE(policy.has_value());
  EXPECT_TRUE(policy->dependencies[0].timeout.adaptive);
  EXPECT_FALSE(policy->dependencies[0].timeout.request.has_value());
}

TEST(ParsePolicy, NamesEveryFaultAtOnceWithItsLineAndWhatWouldBeRight) {
  const auto policy = parse_policy(R"([dependency.a.timeout]
request = 385
accept_false = 99.9
connect = "0ms"
reqest = "1s"
floor = "2s"
ceiling = "1s"
[other]
)",
                                   "p.toml");
  ASSERT_FALSE(policy.has_value());
  const std::string& message = policy.error().message;
  EXPECT_THAT(message,
              HasSubstr("p.toml:2: dependency.a.timeout.request = 385: a duration is text with a unit"));
  EXPECT_THAT(message, HasSubstr("p.toml:3: dependency.a.timeout.accept_false"));
  EXPECT_THAT(message, HasSubstr("99.9%"));
  EXPECT_THAT(message, HasSubstr("p.toml:4: dependency.a.timeout.connect"));
  EXPECT_THAT(message, HasSubstr("p.toml:5: dependency.a.timeout.reqest is not a key"));
  EXPECT_THAT(message, HasSubstr("floor 2s must be below ceiling 1s"));
  EXPECT_THAT(message, HasSubstr("p.toml:8: other is not known here"));
}

TEST(Policy, WhatShouldBeATableSaysHowToWriteIt) {
  const auto policy = parse_policy("[dependency.a]\ntimeout = \"1s\"\n", "p.toml");
  ASSERT_FALSE(policy.has_value());
  EXPECT_THAT(policy.error().message,
              HasSubstr("p.toml:2: dependency.a.timeout = '1s': must be a table: write "
                        "[dependency.a.timeout], and under it any of accept_false, connect, request"));
}

TEST(ParsePolicy, RefusesATimeoutThatDoesNotFitThePromise) {
  const std::string text =
      "[dependency.a]\npromise = \"300ms\"\n[dependency.a.timeout]\nrequest = \"REQUEST\"\n";
  const auto with = [&](std::string_view request) {
    std::string changed = text;
    return parse_policy(changed.replace(changed.find("REQUEST"), 7, request), "p.toml");
  };
  EXPECT_TRUE(with("300ms").has_value());
  EXPECT_THAT(with("301ms").error().message, HasSubstr("request 301ms does not fit the promise 300ms"));
}

TEST(ParsePolicy, TellsWhatDoesNotFitAtTheKeyThatIsToBeChanged) {
  const auto fault = [](const std::string& timeout) {
    const auto policy =
        parse_policy("[dependency.a]\npromise = \"1s\"\n[dependency.a.timeout]\n" + timeout, "p.toml");
    return policy ? "no fault" : policy.error().message;
  };
  EXPECT_THAT(fault("way = \"1ms\"\nrequest = \"2s\"\n"),
              HasSubstr("p.toml:5: dependency.a.timeout.request 2s does not fit the promise 1s"));
  EXPECT_THAT(fault("ceiling = \"100ms\"\nfloor = \"200ms\"\n"),
              HasSubstr("p.toml:5: dependency.a.timeout.floor 200ms must be below ceiling 100ms"));
  EXPECT_THAT(fault("window_max = \"1m\"\nwindow = \"5m\"\n"),
              HasSubstr("p.toml:5: dependency.a.timeout.window 5m"));
  EXPECT_THAT(fault("way = \"1ms\"\naccept_false = \"100%\"\n"),
              HasSubstr("p.toml:5: dependency.a.timeout.accept_false = '100%' must lie between"));
}

TEST(ParsePolicy, ShowsAValueAsItWasWritten) {
  const auto fault = [](const std::string& text) {
    const auto policy = parse_policy("[dependency.a]\n" + text, "p.toml");
    return policy ? "no fault" : policy.error().message;
  };
  EXPECT_THAT(fault("promise = \"0ms\"\n"), HasSubstr("promise = \"0ms\" is no timeout"));
  EXPECT_THAT(fault("retry = { budget = { ratio = 1.0 } }\n"),
              HasSubstr("= 1.0: for all of them write \"100%\""));
  EXPECT_THAT(fault("promise = \"200000d\"\n"), HasSubstr("write at most 106751d"));
}

TEST(ParsePolicy, SaysWhereTextIsNotToml) {
  const auto policy = parse_policy("[dependency.a\nx = 1\n", "p.toml");
  ASSERT_FALSE(policy.has_value());
  EXPECT_THAT(policy.error().message, HasSubstr("p.toml:1: not TOML"));
}

TEST(WithTimeout, ChangesTheFiguresAndNothingElse) {
  const auto changed = with_timeout(kWhole, "p.toml", "payments",
                                    {.accept_false = Probability{0.01}, .connect = 100ms, .request = 1500us});
  ASSERT_TRUE(changed.has_value()) << changed.error().message;
  std::string wanted(kWhole);
  wanted.replace(wanted.find("\"0.1%\""), 6, "\"1%\"");
  wanted.replace(wanted.find("\"250ms\""), 7, "\"100ms\"");
  wanted.replace(wanted.find("\"385ms\""), 7, "\"1500us\"");
  EXPECT_EQ(*changed, wanted);
}

TEST(WithTimeout, AddsTheTableOrTheKeyWhereItIsMissing) {
  EXPECT_EQ(with_timeout("", "p.toml", "a b", {.accept_false = Probability{0.001}, .request = 385ms}).value(),
            "[dependency.\"a b\".timeout]\naccept_false = \"0.1%\"\nrequest = \"385ms\"\n");
  EXPECT_EQ(with_timeout("[dependency.a.timeout]\n\n# next\n[dependency.b]\n", "p.toml", "a", {.request = 1s})
                .value(),
            "[dependency.a.timeout]\nrequest = \"1s\"\n\n# next\n[dependency.b]\n");
}

TEST(WithTimeout, AByteOrderMarkAndQuotedKeysStayAsTheyAre) {
  const std::string mark = "\xEF\xBB\xBF";
  EXPECT_EQ(with_timeout(mark + "[dependency.a.timeout]\nrequest = \"1s\"\n", "p.toml", "a", {.request = 2s})
                .value(),
            mark + "[dependency.a.timeout]\nrequest = \"2s\"\n");
  EXPECT_EQ(
      with_timeout("[\"dependency\".'a'.\"timeout\"]\n\"request\" = '1s'\n", "p.toml", "a", {.request = 2s})
          .value(),
      "[\"dependency\".'a'.\"timeout\"]\n\"request\" = \"2s\"\n");
}

TEST(WithTimeout, LinesEndAsTheFilesDo) {
  const std::string text = "[dependency.a.timeout]\r\nrequest = \"1s\" # ours\r\n";
  EXPECT_EQ(with_timeout(text, "p.toml", "a", {.connect = 1s, .request = 2s}).value(),
            "[dependency.a.timeout]\r\nrequest = \"2s\" # ours\r\nconnect = \"1s\"\r\n");
  EXPECT_EQ(with_timeout(text, "p.toml", "b", {.request = 2s}).value(),
            text + "\r\n[dependency.b.timeout]\r\nrequest = \"2s\"\r\n");
  EXPECT_EQ(
      with_timeout("[dependency.a.timeout]\r\nrequest = \"1s\"", "p.toml", "a", {.request = 2s}).value(),
      "[dependency.a.timeout]\r\nrequest = \"2s\"\r\n");
}

TEST(WithTimeout, LeavesAFileWithFaultsAlone) {
  EXPECT_FALSE(with_timeout("nonsense", "p.toml", "a", {.request = 1s}).has_value());
  EXPECT_FALSE(
      with_timeout("[dependency]\na = {timeout = {request = \"2s\"}}\n", "p.toml", "a", {.request = 1s})
          .has_value());
}

TEST(WithTimeout, WhatItWritesReadsBackAsItWasSet) {
  const TimeoutPolicy set{
      .accept_false = Probability{0.00025}, .connect = 7ms, .request = 12345us, .watch = Probability{0.5}};
  const auto text = with_timeout(kWhole, "p.toml", "other.one", set);
  ASSERT_TRUE(text.has_value());
  const auto read = parse_policy(*text, "p.toml");
  ASSERT_TRUE(read.has_value());
  const TimeoutPolicy& got = read->find("other.one")->timeout;
  EXPECT_EQ(got.accept_false, set.accept_false);
  EXPECT_EQ(got.connect, set.connect);
  EXPECT_EQ(got.request, set.request);
  EXPECT_EQ(got.watch, set.watch);
}

TEST(ParsePolicy, ANumberTooLargeForAWholeOneIsAFaultLikeAnyOther) {
  const auto policy = parse_policy(
      "[dependency.a.retry]\nattempts = 1e71\n[dependency.a.errors]\nin_flight = [1e71]\n", "p.toml");
  ASSERT_FALSE(policy);
  EXPECT_NE(
      policy.error().message.find("p.toml:2: dependency.a.retry.attempts = 1e+71: write a whole number"),
      std::string::npos)
      << policy.error().message;
  EXPECT_NE(policy.error().message.find("p.toml:4: dependency.a.errors.in_flight has 1e+71"),
            std::string::npos)
      << policy.error().message;
}

TEST(CheckKeyDepth, CountsTheDotsOfKeysAndOfNothingElse) {
  const auto refused = [](const std::string& text) { return !check_key_depth(text, "p.toml"); };
  const std::string dots(300, '.');
  const auto key = [](int parts) {
    std::string made = "a";
    for (int i = 1; i < parts; ++i) made += R"( . "b.\"c")";
    return made;
  };
  EXPECT_FALSE(refused(key(256) + " = 1\n"));
  EXPECT_TRUE(refused(key(257) + " = 1\n"));
  EXPECT_FALSE(refused("# " + dots + "\n" + key(200) + " = 1\n" + key(200) + " = 2\n"));
  EXPECT_FALSE(refused("a = \"" + dots + "\"\nb = '" + dots + "\\'\n"));
  EXPECT_FALSE(refused("a = \"\"\"\nsaid \\\"\"\" " + dots + "\n" + dots + "\"\"\"\n"));
  EXPECT_FALSE(refused("b = '''\n" + dots + "'''\n"));
  EXPECT_FALSE(refused("a = \"not closed " + dots + "\n")) << "that is the parser's to say";
  const auto late = check_key_depth("a = '''\n\n'''\n" + key(300), "p.toml");
  ASSERT_FALSE(late);
  EXPECT_EQ(late.error().message.substr(0, 9), "p.toml:4:");
}

TEST(ParsePolicy, RefusesAKeyOfMorePartsThanAParserCanFollow) {
  std::string deep = "[a";
  for (int i = 0; i < 100'000; ++i) deep += ".a";
  const auto read = parse_policy(deep + "]\n", "p.toml");
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().message, "p.toml:1: a key of more than 256 parts: none here has more than five");
}

}  // namespace
}  // namespace overdue
