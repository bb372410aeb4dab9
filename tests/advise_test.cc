// The whole command as a user meets it: exit codes, files written, groups, interruptions.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>

#include <nlohmann/json.hpp>

#include "overdue/base/random.h"
#include "overdue/latency/distribution.h"
#include "tests/command_line.h"

namespace overdue {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;
using ::testing::Not;

// The lesson's world at 200 calls a second over three hosts; what is not answered within a second timed out.
std::string lesson_log(int calls, double slow_factor_of_c = 1) {
  Random random(11);
  std::string log = "start_ms,host,method,latency_ms,ending,connect_ms\n";
  for (int i = 0; i < calls; ++i) {
    const int host = i % 3;
    const double service =
        random.uniform() < 0.02 ? Uniform{40, 400}.draw(random) : Lognormal{2.0, 0.5}.draw(random);
    double ms = Lognormal{0, 0.4}.draw(random) + service * (host == 2 ? slow_factor_of_c : 1) +
                Lognormal{0, 0.4}.draw(random);
    const bool lost = random.uniform() < 0.004 || ms > 1000;
    if (lost) ms = 1000;
    log += fmt::format("{},{},{},{:.3f},{},{:.1f}\n", 1'700'000'000'000 + i * 5LL, "abc"[host],
                       i % 2 == 0 ? "GET" : "PUT", ms, lost ? "timed_out" : "replied", 1 + random.uniform());
  }
  return log;
}

json advice_of(const std::string& log, const std::string& flags, int status = 0) {
  const CommandResult run = run_overdue("advise - --json " + flags, log);
  EXPECT_EQ(run.status, status) << run.err;
  return json::parse(run.out);
}

TEST(AdviseCommand, AdvisesOnTheLessonsWorldNearItsTrueQuantile) {
  const json root = advice_of(lesson_log(50'000), "");
  const json& advice = root["groups"][0]["advice"];
  EXPECT_EQ(advice["verdict"], "lost");
  EXPECT_NEAR(advice["point_ms"].get<double>(), 384, 6);
  EXPECT_GE(advice["request_timeout_ms"].get<double>(), advice["point_ms"].get<double>());
  EXPECT_NEAR(advice["visible_timeout_rate"].get<double>(), 0.005, 0.001);
  EXPECT_EQ(root["resolution"], "exact");
  EXPECT_EQ(root["sources"][0]["lines"], 50'001);
}

TEST(AdviseCommand, GivesTheSameAnswerOnAnyNumberOfThreadsAndInAnyOrderOfFiles) {
  const ScratchFolder folder;
  const std::string whole = lesson_log(40'000);
  const std::size_t head_end = whole.find('\n') + 1;
  const std::size_t cut = whole.find('\n', whole.size() / 2) + 1;
  const std::string first = folder.file("first.csv", whole.substr(0, cut));
  const std::string second = folder.file("second.csv", whole.substr(0, head_end) + whole.substr(cut));
  const auto groups = [&](const std::string& arguments) {
    return json::parse(run_overdue("advise --json " + arguments).out)["groups"].dump();
  };
  const std::string expected = groups(folder.file("whole.csv", whole) + " --threads 1");
  EXPECT_EQ(groups(folder.path("whole.csv") + " --threads 3"), expected);
  EXPECT_EQ(groups(second + " " + first), expected);
}

TEST(AdviseCommand, SaysThatAFileGivenTwiceCountsTwice) {
  const ScratchFolder folder;
  const std::string log = folder.file("log.csv", lesson_log(10'000));
  const json root = json::parse(run_overdue("advise --json --accept 1% " + log + " " + log).out);
  EXPECT_EQ(root["groups"][0]["attempts"], 20'000);
  EXPECT_THAT(root["sources"][1]["notes"].dump(), HasSubstr("count twice"));
  EXPECT_THAT(root["sources"][0]["notes"].dump(), Not(HasSubstr("count twice")));
}

TEST(AdviseCommand, SaysWhatTheWaitCostsAndBuysInWords) {
  const CommandResult run = run_overdue("advise -", lesson_log(50'000, 8));
  EXPECT_EQ(run.status, 0);
  for (const char* part :
       {"WAIT ", "95 % interval", "c left out", "false timeouts", "your dashboard", "lost ones counted",
        "held for nothing", "advised", "SLOW", "! slow_replica", "Connect: "}) {
    EXPECT_THAT(run.out, HasSubstr(part));
  }
  EXPECT_THAT(run.out, Not(HasSubstr("\x1b["))) << "colours belong on a terminal";
}

TEST(AdviseCommand, GroupsByAColumnInTheirOrder) {
  const json root = advice_of(lesson_log(30'000), "--by method --accept 1%");
  ASSERT_EQ(root["groups"].size(), 2u);
  EXPECT_EQ(root["groups"][0]["key"], "GET");
  EXPECT_EQ(root["groups"][1]["key"], "PUT");
  EXPECT_EQ(root["groups"][0]["attempts"], 15'000);
}

TEST(AdviseCommand, WhereSinceAndUntilTakeAPart) {
  const std::string log = lesson_log(30'000);
  EXPECT_EQ(advice_of(log, "--where method=PUT --accept 1%")["groups"][0]["attempts"], 15'000);
  EXPECT_EQ(advice_of(log, "--since 1700000000 --until 1700000100 --accept 1%")["groups"][0]["attempts"],
            20'000);
  EXPECT_EQ(run_overdue("advise - --since 1700000100 --until 1700000000", log).status, 2);
}

TEST(AdviseCommand, FailsOnANamedDoubtAndRefusesAnUnknownOne) {
  const std::string log = lesson_log(50'000, 8);
  EXPECT_EQ(run_overdue("advise - --fail-on slow_replica", log).status, 1);
  EXPECT_EQ(run_overdue("advise - --fail-on clock_step", log).status, 0);
  const CommandResult unknown = run_overdue("advise - --fail-on slow_replicas", log);
  EXPECT_EQ(unknown.status, 2);
  EXPECT_THAT(unknown.err, HasSubstr("slow_replica,"));
}

TEST(AdviseCommand, AFieldMappedTwiceIsBadUsage) {
  const CommandResult twice = run_overdue("advise - --map latency=a,latency=b", lesson_log(100));
  EXPECT_EQ(twice.status, 2);
  EXPECT_THAT(twice.err, HasSubstr("latency is said twice"));
}

TEST(AdviseCommand, RowsWithoutALatencyAreDoubtedWhereNothingSaysHowTheyEnded) {
  std::string log = "rtt_ms,try\n";
  for (int i = 0; i < 20'000; ++i) log += fmt::format("{},{}\n", 5 + i % 37, i);
  EXPECT_EQ(run_overdue("advise - --fail-on zero_latency", log).status, 0);
  EXPECT_EQ(run_overdue("advise - --fail-on zero_latency", log + ",20000\n").status, 1);
}

TEST(AdviseCommand, RowsSetAsideAreDoubtedBeyondTheAcceptedShare) {
  std::string log = "latency_ms,status\n";
  for (int i = 0; i < 20'000; ++i) log += fmt::format("{},200\n", 5 + i % 37);
  for (int i = 0; i < 20; ++i) log += "9000,purple\n";
  EXPECT_EQ(run_overdue("advise - --fail-on set_aside", log).status, 0);
  EXPECT_EQ(run_overdue("advise - --fail-on set_aside", log + "9000,purple\n9000,purple\n").status, 1);
}

TEST(AdviseCommand, SentCallsThatAreMissingCountAsGivenUp) {
  const std::string log = lesson_log(20'000);
  const json root = advice_of(log, "--sent 20200 --limit 1s --accept 1%");
  EXPECT_EQ(root["groups"][0]["endings"]["timed_out"].get<int>(),
            advice_of(log, "--accept 1%")["groups"][0]["endings"]["timed_out"].get<int>() + 200);
  EXPECT_EQ(run_overdue("advise - --sent 5", log).status, 2);
}

TEST(AdviseCommand, WhereTheLogSaysZeroThereIsNoAdvice) {
  std::string log = "latency_ms,ok\n";
  for (int i = 0; i < 4000; ++i) log += "0,1\n";
  EXPECT_EQ(advice_of(log, "", 3)["groups"][0]["advice"]["declined"], "below_resolution");
  EXPECT_THAT(run_overdue("advise -", log).out, HasSubstr("below_resolution"));
  // A time there is.
  for (int i = 0; i < 400; ++i) log += "0.8,1\n";
  EXPECT_EQ(advice_of(log, "")["groups"][0]["advice"]["request_timeout_ms"], 0.8);
}

TEST(AdviseCommand, RatesOfATimeoutThereIsNotAreNull) {
  std::string log = "latency_ms,ending\n";
  for (int i = 0; i < 300; ++i) log += "5,replied\n";
  for (int i = 0; i < 60; ++i) log += "20,timed_out\n";
  const json advice = advice_of(log, "--accept 1%", 3)["groups"][0]["advice"];
  ASSERT_EQ(advice["declined"], "not_identifiable");
  for (const char* rate :
       {"false_timeout_rate", "lost_rate", "reset_rate", "visible_timeout_rate", "effective_replies"})
    EXPECT_TRUE(advice[rate].is_null()) << rate;
}

TEST(AdviseCommand, SentCountsCallsAndWhatWasSetAsideWasSentToo) {
  const auto timed_out = [](const json& root) {
    return root["groups"][0]["endings"]["timed_out"].get<int>();
  };
  std::string log = "host,latency_ms,status\n";
  for (int i = 0; i < 997; ++i) log += fmt::format("{},{},200\n", i % 2 == 0 ? "a" : "b", 10 + i % 7);
  const std::string damaged = log + "a,-1,200\na,-2,200\na,-3,200\n";
  EXPECT_EQ(timed_out(advice_of(damaged, "--sent 1000 --accept 1%")), 0);
  EXPECT_EQ(timed_out(advice_of(damaged, "--sent 1004 --accept 1%")), 4);
  EXPECT_THAT(run_overdue("advise - --sent 1004 --accept 1%", damaged).out, HasSubstr("each line set aside"));
  EXPECT_EQ(timed_out(advice_of(log, "--sent 1000 --accept 1%")), 3);
  const CommandResult part = run_overdue("advise - --sent 1000 --where host=a", log);
  EXPECT_EQ(part.status, 2);
  EXPECT_THAT(part.err, HasSubstr("--where"));
  // 400 calls of two attempts each.
  std::string proxied;
  for (int i = 0; i < 400; ++i) proxied += "a=10.0.0.1:80, 10.0.0.2:80 s=502, 200 t=0.010, 0.020\n";
  const std::string format = " --log-format 'a=$upstream_addr s=$upstream_status t=$upstream_response_time'";
  EXPECT_EQ(timed_out(advice_of(proxied, "--sent 420 --accept 10%" + format)), 20);
}

TEST(AdviseCommand, TimeoutsOfNobodyKnowsWhenAreDoubted) {
  std::string log = "latency_ms,ending\n";
  for (int i = 0; i < 3000; ++i) log += fmt::format("{},replied\n", 10 + i % 7);
  for (int i = 0; i < 2000; ++i) log += ",timed_out\n";
  const CommandResult found = run_overdue("advise - --fail-on abandonment_matters", log);
  EXPECT_EQ(found.status, 1);
  EXPECT_THAT(found.out, HasSubstr("40.0 % of the calls timed out"));
  EXPECT_EQ(run_overdue("advise - --limit 1s --fail-on abandonment_matters", log).status, 3);
}

TEST(AdviseCommand, DeclinesAColumnWithoutAUnitInJsonToo) {
  std::string log = "latency,host\n";
  for (int i = 0; i < 500; ++i) log += fmt::format("{},a\n", 10 + i % 90);
  EXPECT_EQ(advice_of(log, "", 3)["groups"][0]["advice"]["declined"], "unit_unclear");
  EXPECT_EQ(advice_of(log, "--unit ms --accept 1%")["groups"][0]["advice"]["declined"], "");
}

TEST(AdviseCommand, DeclinesAnAccessLogWithoutTimesAndGivesTheLineToAdd) {
  std::string log;
  for (int i = 0; i < 50; ++i)
    log += "10.0.0.9 - - [06/Sep/2015:05:58:05 +0900] \"GET / HTTP/1.1\" 200 12 \"-\" \"curl\"\n";
  const CommandResult run = run_overdue("advise -", log);
  EXPECT_EQ(run.status, 3);
  EXPECT_THAT(run.err, HasSubstr("log_format"));
  EXPECT_THAT(run.err, HasSubstr("$upstream_response_time"));
}

TEST(AdviseCommand, NamesTheFileAndWhatIsWrongWithIt) {
  const ScratchFolder folder;
  for (const auto& [arguments, part] :
       {std::pair(folder.path("none.csv"), "No such file"), std::pair(folder.path(""), "directory"),
        std::pair(folder.file("empty", ""), "empty"),
        std::pair(folder.file("words", "hello\nworld\n"), "format")}) {
    const CommandResult run = run_overdue("advise '" + arguments + "'");
    EXPECT_EQ(run.status, 2) << arguments << run.out;
    EXPECT_THAT(run.err, HasSubstr(part)) << arguments;
    EXPECT_EQ(run.out, "");
  }
}

TEST(AdviseCommand, WritesThePolicyAndCheckHoldsTheLogAgainstIt) {
  const ScratchFolder folder;
  const std::string log = folder.file("log.csv", lesson_log(50'000));
  const std::string policy = folder.file("p.toml", "# ours\n[dependency.orders]\npromise = \"2s\"\n");
  ASSERT_EQ(run_overdue("advise " + log + " --write-policy " + policy + " --name orders").status, 0);
  EXPECT_THAT(text_of_file(policy), HasSubstr("# ours\n[dependency.orders]\npromise = \"2s\"\n"));
  EXPECT_THAT(text_of_file(policy), HasSubstr("[dependency.orders.timeout]\naccept_false = \"0.1%\""));
  EXPECT_EQ(run_overdue("check " + policy + " " + log).status, 0);
  const auto with = [&](const std::string& request) {
    return folder.file("q.toml", "[dependency.orders.timeout]\nrequest = \"" + request + "\"\n");
  };
  EXPECT_EQ(run_overdue("check " + with("100ms") + " " + log).status, 1);
  EXPECT_EQ(run_overdue("check " + with("10s") + " " + log).status, 1);
  EXPECT_EQ(run_overdue("check " + with("900ms") + " " + log).status, 1);
  EXPECT_EQ(run_overdue("check --slack 200% " + with("900ms") + " " + log).status, 0);
  const CommandResult json_run = run_overdue("check --json " + with("100ms") + " " + log);
  EXPECT_EQ(json::parse(json_run.out)["checks"][0]["outcome"], "too_short");
  EXPECT_EQ(run_overdue("check " + with("385") + " " + log).status, 2);
  EXPECT_EQ(run_overdue("check " + policy + " " + log + " --name nobody").status, 2);
  EXPECT_EQ(run_overdue("check " + with("385ms") + " -", "latency_ms\n10\n20\n").status, 3);
}

TEST(AdviseCommand, SaysWhatTheTimeoutWasThatItReplaces) {
  const ScratchFolder folder;
  const std::string log = folder.file("log.csv", lesson_log(50'000));
  const auto told = [&](const std::string& request) {
    const std::string policy =
        folder.file("p.toml", "[dependency.orders.timeout]\nrequest = \"" + request + "\"\n");
    return run_overdue("advise " + log + " --write-policy " + policy + " --name orders").err;
  };
  EXPECT_THAT(told("adaptive"), HasSubstr("(was \"adaptive\")"));
  EXPECT_THAT(told("9s"), HasSubstr("(was 9s)"));
  EXPECT_THAT(told("none"), Not(HasSubstr("was")));
}

TEST(AdviseCommand, LeavesThePolicyAloneWhereItDeclines) {
  const ScratchFolder folder;
  const std::string policy = folder.file("p.toml", "[dependency.a.timeout]\nrequest = \"1s\"\n");
  EXPECT_EQ(run_overdue("advise - --write-policy " + policy + " --name a", "latency_ms\n10\n20\n").status, 3);
  EXPECT_EQ(text_of_file(policy), "[dependency.a.timeout]\nrequest = \"1s\"\n");
}

// Starts the command on a pipe that stays open, so that only the signal can end the reading.
class StoppedAdvice : public testing::TestWithParam<int> {};

TEST_P(StoppedAdvice, ReportsWhatWasReadAndSaysSo) {
  std::signal(SIGPIPE, SIG_IGN);
  const ScratchFolder folder;
  const std::string out = folder.path("out");
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    ::dup2(ends[0], STDIN_FILENO);
    ::close(ends[0]);
    ::close(ends[1]);
    if (std::freopen(out.c_str(), "w", stdout) == nullptr) ::_exit(9);
    ::execl(OVERDUE_BINARY, "overdue", "advise", "-", "--threads", "2", nullptr);
    ::_exit(9);
  }
  ::close(ends[0]);
  const std::string log = lesson_log(60'000);
  std::string_view rest = log;
  while (!rest.empty()) {
    const ssize_t written = ::write(ends[1], rest.data(), rest.size());
    ASSERT_GT(written, 0);
    rest.remove_prefix(static_cast<std::size_t>(written));
  }
  ::kill(child, GetParam());
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ::close(ends[1]);
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 3);
  EXPECT_THAT(text_of_file(out), HasSubstr("Interrupted"));
  EXPECT_THAT(text_of_file(out), HasSubstr("WAIT"));
}
INSTANTIATE_TEST_SUITE_P(Signals, StoppedAdvice, testing::Values(SIGINT, SIGTERM, SIGHUP));

TEST(TheCommand, TellsAUnitAgainstTheNameAndRefusesAnIntervalNobodyMeant) {
  std::string log = "took_ms,status\n";
  for (int i = 0; i < 50; ++i) log += "12,200\n";
  const CommandResult told = run_overdue("advise - --unit s", log);
  EXPECT_THAT(told.out, HasSubstr("--unit s is believed, and not the unit in the name 'took_ms'"));
  EXPECT_THAT(run_overdue("advise - --unit ms", log).out, Not(HasSubstr("is believed")));
  const CommandResult refused = run_overdue("advise - --expected-interval 1us", log);
  EXPECT_EQ(refused.status, 2);
  EXPECT_THAT(refused.err, HasSubstr("--expected-interval 1us"));
  EXPECT_NE(run_overdue("advise - --expected-interval 1ms", log).status, 2);
}

TEST(TheCommand, HeadroomMovesTheTimeoutAndNotTheInterval) {
  std::string log = "latency_ms\n";
  for (int i = 1; i <= 10'000; ++i) log += std::to_string(i % 100 + 1) + "\n";
  const auto interval = [](const std::string& text) {
    const std::size_t at = text.find("interval ");
    return at == std::string::npos ? text : text.substr(at, text.find_first_of(";\n", at) - at);
  };
  const std::string plain = run_overdue("advise - --accept 10%", log).out;
  const std::string roomy = run_overdue("advise - --accept 10% --headroom 50%", log).out;
  EXPECT_THAT(plain, HasSubstr("WAIT"));
  EXPECT_THAT(roomy, HasSubstr("headroom"));
  EXPECT_EQ(run_overdue("advise - --accept 10% --headroom 150%", log).status, 0);
  EXPECT_EQ(run_overdue("advise - --accept 10% --headroom 1001%", log).status, 2);
  EXPECT_EQ(interval(roomy), interval(plain));
}

TEST(TheCommand, AnInfiniteTimeIsNoTimeAndStillAGiveUp) {
  EXPECT_THAT(run_overdue("advise -", "took_ms,status\n10,200\ninf,504\nnan,504\n").out,
              HasSubstr("1 replied, 2 timed out"));
}

TEST(TheCommand, SaysWhatIsMissingAndNotWhatIsThere) {
  const auto since =
      run_overdue("advise - --since 2026-11-29T09:00:00Z", "latency_ms,status\n10,200\n11,200\n");
  EXPECT_EQ(since.status, 2);
  EXPECT_THAT(since.err, HasSubstr("--map start=COLUMN"));
  const auto name = run_overdue("advise - --write-policy a.toml --name ''", "latency_ms,status\n10,200\n");
  EXPECT_EQ(name.status, 2);
  EXPECT_THAT(name.err, HasSubstr("neither may be empty"));
}

TEST(TheCommand, FilesBehindAnOptionAreFiles) {
  const ScratchFolder folder;
  const std::string log = folder.file("a.csv", lesson_log(5'000));
  const std::string more = folder.file("b.csv", lesson_log(5'000));
  for (const std::string option : {"--where host=a", "--map ending=ending", "--fail-on clock_step"}) {
    const CommandResult run = run_overdue(fmt::format("advise {} {} {}", option, log, more));
    EXPECT_THAT(run.out + run.err, AllOf(HasSubstr("a.csv"), HasSubstr("b.csv"))) << option;
    EXPECT_THAT(run.err, Not(HasSubstr("write it as in"))) << option;
  }
}

TEST(TheCommand, GivesNoRateOfCallsWhereOnlySomeSourcesSayWhenTheyBegan) {
  const ScratchFolder folder;
  std::string timed = "ts,latency_ms,status\n";
  std::string untimed = "latency_ms,status\n";
  for (int i = 0; i < 2000; ++i) {
    timed += std::to_string(1'700'000'000 + i) + "," + std::to_string(1 + i % 90) + ",200\n";
    untimed += std::to_string(1 + i % 90) + ",200\n";
  }
  const std::string first = folder.file("timed.csv", timed);
  const std::string second = folder.file("untimed.csv", untimed);
  const auto rate = [](const CommandResult& run) {
    return json::parse(run.out)["groups"][0]["attempts_per_s"];
  };
  EXPECT_EQ(rate(run_overdue("advise --json " + first)), 1.0);
  EXPECT_TRUE(rate(run_overdue("advise --json " + first + " " + second)).is_null());
  EXPECT_THAT(run_overdue("advise " + first + " " + second).out, HasSubstr("does not say when calls began"));
}

TEST(TheCommand, HelpAndVersionAreDoneAndNonsenseIsBadUsage) {
  EXPECT_EQ(run_overdue("--help").status, 0);
  EXPECT_EQ(run_overdue("--version").status, 0);
  EXPECT_THAT(run_overdue("advise --help").out, HasSubstr("Examples:"));
  EXPECT_EQ(run_overdue("help").out, run_overdue("--help").out);
  EXPECT_THAT(run_overdue("advice x").err,
              HasSubstr("there is no command 'advice': there are advise, check, explain, lesson, simulate"));
  for (const char* nonsense : {"", "advice", "advise", "advise - --nonsense", "advise - --threads 0",
                               "advise - --format xml", "advise - --by ''", "advise - --success ''"}) {
    EXPECT_EQ(run_overdue(nonsense).status, 2) << nonsense;
  }
}

}  // namespace
}  // namespace overdue
