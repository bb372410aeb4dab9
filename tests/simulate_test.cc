// `overdue simulate` as a user meets it: what it prints, where, and with which exit status.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "overdue/cli/simulate_tip.h"
#include "overdue/simulated/scenario_writes.h"
#include "tests/coin_scenario.h"
#include "tests/command_line.h"
#include "tests/run_command.h"

namespace overdue {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

TEST(SimulateCommand, PrintsARunAndHoldsItAgainstItsExpectations) {
  const ScratchFolder folder;
  const std::string path = folder.file("coin.toml", kCoin);
  const auto run = run_overdue("simulate " + path);
  EXPECT_EQ(run.status, 0) << run.err;
  EXPECT_THAT(run.err, IsEmpty());
  EXPECT_THAT(run.out,
              AllOf(StartsWith("coin, seed 3: "), HasSubstr("what really happened"), HasSubstr("held")));
  EXPECT_EQ(run_overdue("simulate " + path).out, run.out) << "the same seed, the same bytes";

  const auto failed = run_overdue("simulate " + path + " --set 'expect.half.is=> 99%'");
  EXPECT_EQ(failed.status, 1);
  EXPECT_THAT(failed.out, HasSubstr("FAILED  calls.answered_share > 99%"));
}

TEST(SimulateCommand, JsonSaysWhatTheLedgerKnows) {
  const ScratchFolder folder;
  const auto run = run_overdue("simulate --json --seed 9 " + folder.file("coin.toml", kCoin));
  ASSERT_EQ(run.status, 0) << run.err;
  const auto json = nlohmann::json::parse(run.out);
  EXPECT_EQ(json["schema"], "overdue.simulation/1");
  EXPECT_EQ(json["seed"], 9);
  const auto& calls = json["calls"];
  const auto& ledger = json["ledger"];
  EXPECT_EQ(calls["total"], calls["answered"].get<int>() + calls["unknown"].get<int>());
  EXPECT_EQ(ledger["timed_out_applied"], 0) << "a request that was lost was never done";
  EXPECT_EQ(ledger["timed_out_not_applied"], calls["unknown"]);
  EXPECT_EQ(ledger["intents"], ledger["applied_once"].get<int>() + ledger["lost"].get<int>());
}

TEST(SimulateCommand, ARunWithoutASeedIsRefused) {
  const ScratchFolder folder;
  const std::string path = folder.file("coin.toml", std::string(kCoin).substr(kCoin.find('\n') + 1));
  const auto refused = run_overdue("simulate " + path);
  EXPECT_EQ(refused.status, 2);
  EXPECT_THAT(refused.err, HasSubstr("add `seed = 1` to it, or --seed 1"));
  EXPECT_EQ(run_overdue("simulate --seed 4 " + path).status, 0);
}

TEST(SimulateCommand, ManySeedsGiveAShareWithItsIntervalWhateverTheThreads) {
  const ScratchFolder folder;
  const std::string path = folder.file("coin.toml", kCoin);
  const auto one = run_overdue("simulate --json --seeds 1..40 --threads 1 " + path);
  const auto many = run_overdue("simulate --json --seeds 1..40 --threads 4 " + path);
  ASSERT_EQ(one.status, 0) << one.err;
  EXPECT_EQ(one.out, many.out);
  const auto row = nlohmann::json::parse(one.out)["runs"][0];
  EXPECT_EQ(row["seeds"], 40);
  EXPECT_EQ(row["held"], 40);
  EXPECT_NEAR(row["wilson"][0].get<double>(), 40 / (40 + 3.8415), 1e-4);
  EXPECT_EQ(row["wilson"][1], 1.0);
}

TEST(SimulateCommand, AFailedSeedIsNamedWithTheCommandThatShowsIt) {
  const ScratchFolder folder;
  const std::string path = folder.file("coin.toml", kCoin);
  const auto run = run_overdue("simulate --seeds 1..40 --set 'expect.half.is=>= 50%' " + path);
  EXPECT_EQ(run.status, 1);
  ASSERT_THAT(run.out, HasSubstr("to see the first: overdue simulate"));
  std::string command = run.out.substr(run.out.find("overdue simulate") + 8);
  command = command.substr(0, command.find('\n'));
  const auto again = run_overdue(command);
  EXPECT_EQ(again.status, 1) << command << again.err;
  EXPECT_THAT(again.out, HasSubstr("FAILED"));
}

TEST(SimulateCommand, CtrlCAPoliteKillOrALostTerminalPrintsWhatWasFinished) {
  const ScratchFolder folder;
  const std::string path = folder.file("coin.toml", kCoin);
  for (const std::string signal : {"INT", "TERM", "HUP"}) {
    const house::Outcome stopped = house::run_command("timeout --foreground --preserve-status -s " + signal +
                                                      " 1 " + house::quoted(OVERDUE_BINARY) +
                                                      " simulate --seeds 1..1000000 " + house::quoted(path));
    EXPECT_EQ(stopped.status, 3) << signal;
    EXPECT_THAT(stopped.output, HasSubstr("stopped: the seeds that were finished by then")) << signal;
    EXPECT_THAT(stopped.output, Not(HasSubstr("on 0 of 0"))) << signal;
  }
}

TEST(SimulateCommand, WarnsOfAScenarioThatIsNotWhatItSays) {
  const ScratchFolder folder;
  const std::string path = folder.file("direct.toml", R"(about = "A network that repeats."
seed = 1
duration = "1s"
[client.shop]
calls = "orders"
kind = "keyed_write"
rate = "10/s"
[dependency.orders]
promise = "1s"
[network.wan]
duplication = "30%"
[service.orders]
time = "1ms"
)");
  for (const std::string seeds : {"", "--seeds 1..2 "}) {
    const auto run = run_overdue(fmt::format("simulate --json {}{}", seeds, path));
    EXPECT_EQ(run.status, 0);
    EXPECT_THAT(run.err, HasSubstr("direct.toml:11: warning: network.wan: duplication of 30.0 %"));
    EXPECT_THAT(
        run_overdue(fmt::format("simulate --set dependency.orders.via_proxy=true {}{}", seeds, path)).err,
        Not(HasSubstr("warning: network.wan")));
  }
}

TEST(SimulateCommand, ATipThatWasStoppedIsNotFound) {
  const ScratchFolder folder;
  const std::string path = folder.file("coin.toml", kCoin);
  const std::string stop = "timeout --foreground --preserve-status -s INT 1 " +
                           house::quoted(OVERDUE_BINARY) +
                           " simulate --tip network.lan.request.loss=1%..90% --seeds 1..1000000 ";
  const house::Outcome json = house::run_command(stop + "--json " + house::quoted(path));
  EXPECT_EQ(json.status, 3);
  const auto tip = nlohmann::json::parse(json.output);
  EXPECT_EQ(tip["found"], false);
  EXPECT_EQ(tip["interrupted"], true);
  for (const auto& trial : tip["trials"]) EXPECT_GT(trial["seeds"], 0);
  const house::Outcome text = house::run_command(stop + house::quoted(path));
  EXPECT_THAT(text.output, AllOf(HasSubstr("stopped before it was found"), Not(HasSubstr("0 of 0"))));
}

TEST(SimulateCommand, JsonSaysThatManyRunsWereStoppedAndListsNoneThatWasNot) {
  const ScratchFolder folder;
  folder.file("a.toml", kCoin);
  folder.file("b.toml", kCoin);
  const house::Outcome stopped =
      house::run_command("timeout --foreground --preserve-status -s INT 1 " + house::quoted(OVERDUE_BINARY) +
                         " simulate --seeds 1..1000000 --json " + house::quoted(folder.path("")));
  EXPECT_EQ(stopped.status, 3);
  const auto json = nlohmann::json::parse(stopped.output);
  EXPECT_EQ(json["interrupted"], true);
  for (const auto& run : json["runs"]) EXPECT_GT(run["seeds"], 0);
  EXPECT_LT(json["runs"].size(), 2U);
}

TEST(SimulateCommand, AFolderWithAScenarioThatCannotBeReadIsRefused) {
  const ScratchFolder folder;
  folder.file("a.toml", kCoin);
  std::filesystem::create_symlink("nowhere.toml", folder.path("b.toml"));
  const auto run = run_overdue("simulate " + folder.path(""));
  EXPECT_EQ(run.status, 2);
  EXPECT_THAT(run.err, HasSubstr("b.toml: is no file that can be read"));
}

TEST(SimulateCommand, ARunThatDoesNotFitIntoMemoryIsAnErrorAndNoCrash) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "a sanitizer reserves more than any limit, and ends a process that wants too much";
#endif
  const ScratchFolder folder;
  const std::string path = folder.file("coin.toml", kCoin);
  for (const std::string flags : {"", "--seeds 1..2 --threads 2 "}) {
    const house::Outcome run =
        house::run_command("ulimit -v 400000; " + house::quoted(OVERDUE_BINARY) + " simulate " + flags +
                           "--set client.callers.rate=5000000/s " + house::quoted(path) + " 2>&1");
    EXPECT_EQ(run.status, 2) << run.output;
    EXPECT_THAT(run.output, HasSubstr("does not fit into memory")) << flags;
  }
}

TEST(SimulateCommand, AFolderRunsEveryScenarioInIt) {
  const ScratchFolder folder;
  folder.file("a.toml", kCoin);
  folder.file("b.toml", kCoin);
  folder.file("notes.txt", "not one");
  const auto run = run_overdue("simulate --json " + folder.path(""));
  ASSERT_EQ(run.status, 0) << run.err;
  const auto runs = nlohmann::json::parse(run.out)["runs"];
  ASSERT_EQ(runs.size(), 2U);
  EXPECT_EQ(runs[0]["scenario"], "a");
  EXPECT_EQ(runs[1]["seeds"], 1);
}

TEST(SimulateCommand, AFolderIsReadWholeBeforeAnythingOfItRuns) {
  const ScratchFolder folder;
  folder.file("a.toml", kCoin);
  folder.file("b.toml", std::string(kCoin) + "what = 1\n");
  folder.file("c.toml", std::string(kCoin) + "whit = 1\n");
  const auto run = run_overdue("simulate --seeds 1..100000 " + folder.path(""));
  EXPECT_EQ(run.status, 2);
  EXPECT_THAT(run.err, AllOf(HasSubstr("b.toml:20: expect.1.what"), HasSubstr("c.toml:20: expect.1.whit")));
  EXPECT_THAT(run.out, IsEmpty());
}

// One write in three ends unknown for its caller; keys and a journal end them all.
constexpr std::string_view kConfirmed = R"(seed = 1
duration = "2s"
until = "60s"
[client.shop]
calls = "orders"
kind = "keyed_write"
rate = "20/s"
[client.shop.journal]
[dependency.orders]
promise = "300ms"
[dependency.orders.timeout]
request = "100ms"
[dependency.orders.write]
on_unknown = ["retry"]
key_header = "Idempotency-Key"
last_send = "1h"
[network.lan]
delay = "1ms"
reply = { loss = "30%" }
[service.orders]
time = "5ms"
[service.orders.store]
[[expect]]
field = "checker.findings"
is = "== 0"
)";

TEST(SimulateCommand, WritesEndConfirmedAndAWrongStoreIsFound) {
  const ScratchFolder folder;
  const std::string path = folder.file("confirmed.toml", kConfirmed);
  const auto run = run_overdue("simulate --json " + path);
  ASSERT_EQ(run.status, 0) << run.err;
  const auto writes = nlohmann::json::parse(run.out)["writes"];
  EXPECT_GT(writes["unknown_at_deadline"], 0);
  EXPECT_EQ(writes["resolved_later"], writes["unknown_at_deadline"]);
  EXPECT_EQ(writes["applied"], writes["intents"]);
  EXPECT_EQ(writes["by_proof"]["reply"], writes["intents"]);

  const auto wrong = run_overdue("simulate --json --set service.orders.store.wrong=ignores_keys " + path);
  EXPECT_EQ(wrong.status, 1);
  const auto checker = nlohmann::json::parse(wrong.out)["checker"];
  EXPECT_GT(checker["duplicates"], 0);
  EXPECT_THAT(checker["first"], testing::SizeIs(testing::Ge(1)));
}

TEST(SimulateCommand, ThePageOfTheFormatNamesEveryWrongThereIsAndNoOther) {
  const std::string page = text_of_file("docs/formats/scenario.md");
  const auto names_under = [&](std::string_view head) {
    std::vector<std::string> names;
    std::size_t at = page.find(head);
    EXPECT_NE(at, std::string::npos) << head;
    for (at = page.find("\n| `", at); at != std::string::npos && page.compare(at, 4, "\n| `") == 0;
         at = page.find('\n', at + 1))
      names.push_back(page.substr(at + 4, page.find('`', at + 4) - at - 4));
    return names;
  };
  EXPECT_THAT(names_under("| a store | |"), testing::ElementsAreArray(kStoreWrongNames));
  EXPECT_THAT(names_under("| a client | |"), testing::ElementsAreArray(kClientWrongNames));
}

TEST(SimulateCommand, ASummaryOfAFolderIsALineEachAndTheSums) {
  const ScratchFolder folder;
  folder.file("a.toml", kConfirmed);
  folder.file("b.toml", kConfirmed);
  const auto run = run_overdue("simulate --summary --seeds 1..5 " + folder.path(""));
  EXPECT_EQ(run.status, 0) << run.err;
  EXPECT_THAT(run.out, AllOf(StartsWith("held    a: on 5 of 5 seeds"),
                             HasSubstr("\nall 2 scenarios: everything held in 10 of 10 runs\n  writes: "),
                             HasSubstr("checker: no duplicate, no loss, no guess\n")));
  EXPECT_THAT(run.out, Not(HasSubstr("over the seeds")));
}

TEST(SimulateCommand, ATipSaysItsOwnFaults) {
  const ScratchFolder folder;
  const std::string path = folder.file("coin.toml", kCoin);
  for (const std::string range : {"service.orders.wrkers=1..4", "'\"service\".orders.workers=0..4'",
                                  "dependency.orders.timeout.request=0ms..1s"}) {
    const auto run = run_overdue(fmt::format("simulate {} --tip {}", path, range));
    EXPECT_EQ(run.status, 2) << range;
    EXPECT_THAT(run.err, AllOf(HasSubstr("--tip: "), Not(HasSubstr("--set")))) << range;
  }
  EXPECT_THAT(
      run_overdue("simulate " + path + " --set service.orders.wrkers=1 --tip service.orders.workers=1..4")
          .err,
      HasSubstr("--set: service.orders.wrkers"));
}

TEST(SimulateCommand, ARunCutShortIsNotJudged) {
  const ScratchFolder folder;
  const auto run =
      run_overdue("simulate --until 1s --set 'expect.half.is=> 99%' " + folder.file("coin.toml", kCoin));
  EXPECT_EQ(run.status, 0) << run.err;
  EXPECT_THAT(run.out, AllOf(HasSubstr("expectations were not judged"), Not(HasSubstr("FAILED"))));
}

TEST(SimulateCommand, APolicyFileTakesThePlaceOfTheScenarios) {
  const ScratchFolder folder;
  const std::string path = folder.file("coin.toml", kCoin);
  const std::string policy =
      folder.file("retry.toml",
                  "[dependency.orders.timeout]\nrequest = \"100ms\"\n[dependency.orders.retry]\n"
                  "attempts = 5\nbudget = \"none\"\nunsafe_retry_without_key = true\n");
  const auto run =
      run_overdue("simulate --json " + path + " --policy " + policy + " --set 'expect.half.is=> 90%'");
  EXPECT_EQ(run.status, 0) << run.out << run.err;
}

TEST(SimulateCommand, WarnsOfAPolicyFileThatHurts) {
  const ScratchFolder folder;
  const std::string path = folder.file("coin.toml", kCoin);
  const std::string policy = folder.file("endless.toml", "[dependency.orders]\nbackends = [\"a:80\"]\n");
  const auto run = run_overdue("simulate " + path + " --policy " + policy);
  EXPECT_THAT(run.err, HasSubstr(policy + ":1: warning: dependency.orders"));
  EXPECT_THAT(run.out, Not(HasSubstr("warning")));
}

TEST(SimulateCommand, SaysWhatIsWrongWithItsFlags) {
  const ScratchFolder folder;
  const std::string path = folder.file("coin.toml", kCoin);
  const struct {
    std::string flags, says;
  } uses[] = {
      {"--seed 1 --seeds 1..2", "do not go together"},
      {"--seeds 5..1", "the lower one first"},
      {"--seeds 12", "FIRST..LAST"},
      {"--seeds 1..", "--seeds 1..: write two whole numbers"},
      {"--trace -", "standard output has the report"},
      {"--tip service.orders.wrkers=1..4", "--tip: service.orders.wrkers"},
      {"--seed x", "write a whole number"},
      {"--set workers", "write table.key=value"},
      {"--set service.orders.wrkers=3", "did you mean workers?"},
      {"--tip service.orders.workers=4", "LOW..HIGH"},
      {"--tip service.orders.workers=1s..4", "of one kind"},
      {"--trace x --seeds 1..2", "do not go together"},
      {"--until 0s", "above zero"},
      {"--policy no_such_file", "no_such_file"},
      {"--trace no_such_folder/x", "cannot be written"},
      {"--summary", "--summary is of many runs"},
      {"--summary --seeds 1..2 --json", "JSON has everything"},
  };
  for (const auto& use : uses) {
    const auto run = run_overdue("simulate " + path + " " + use.flags);
    EXPECT_EQ(run.status, 2) << use.flags;
    EXPECT_THAT(run.err, HasSubstr(use.says)) << use.flags;
    EXPECT_THAT(run.out, IsEmpty()) << use.flags;
  }
  EXPECT_EQ(run_overdue("simulate no_such_scenario.toml").status, 2);
  EXPECT_EQ(run_overdue("simulate").status, 2);
}

TEST(TipSearch, HalvesAmountsOfTheirKind) {
  EXPECT_EQ(middle_of("500ms", "1s"), "750ms");
  EXPECT_EQ(middle_of("1", "64"), "33");
  EXPECT_EQ(middle_of("4", "5"), "") << "no whole number lies between";
  EXPECT_EQ(middle_of("5%", "50%"), "27.5%");
  EXPECT_EQ(middle_of("5%", "47.5%"), "26.3%") << "no finer than policies and scenarios are";
  EXPECT_EQ(middle_of("100/s", "900/s"), "500/s");
  EXPECT_EQ(middle_of("0.1", "0.2"), "0.15");
  EXPECT_EQ(middle_of("1s", "1005ms"), "") << "finer than one in a hundred";
}

}  // namespace
}  // namespace overdue
