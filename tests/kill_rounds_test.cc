// The command, ended at moments nobody chose, many times over: by a kill, which it cannot see coming, and by
// Ctrl-C, which it answers. Part of `./test long`.

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/inotify.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <vector>

#include "overdue/base/random.h"
#include "tests/command_line.h"

namespace overdue {
namespace {

using namespace std::chrono_literals;
using std::chrono::nanoseconds;
using std::chrono::steady_clock;

constexpr int kRounds = 100;

struct Ended {
  bool by_signal = false;
  int status = 0;  // Of the exit, or the signal's number.
};

// Starts the command with its standard output in `out`.
pid_t start(std::vector<std::string> arguments, const std::string& out) {
  std::vector<char*> words{const_cast<char*>("overdue")};
  for (std::string& argument : arguments) words.push_back(argument.data());
  words.push_back(nullptr);
  const pid_t child = ::fork();
  if (child != 0) return child;
  const int to = ::open(out.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  const int nothing = ::open("/dev/null", O_RDWR | O_CLOEXEC);
  ::dup2(nothing, STDIN_FILENO);
  ::dup2(to, STDOUT_FILENO);
  ::dup2(nothing, STDERR_FILENO);
  ::execv(OVERDUE_BINARY, words.data());
  ::_exit(9);
}

Ended end(pid_t child, int signal) {
  ::kill(child, signal);
  int status = 0;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  if (WIFSIGNALED(status)) return {.by_signal = true, .status = WTERMSIG(status)};
  return {.by_signal = false, .status = WEXITSTATUS(status)};
}

Ended end_after(const std::vector<std::string>& arguments, const std::string& out, nanoseconds after,
                int signal) {
  const pid_t child = start(arguments, out);
  std::this_thread::sleep_for(after);
  return end(child, signal);
}

// Kills the command as soon as something in the folder is made or written to, or a moment later.
void kill_at_work_in(const std::string& folder, const std::vector<std::string>& arguments,
                     const std::string& out, nanoseconds later) {
  const int changes = ::inotify_init1(IN_CLOEXEC);
  ASSERT_GE(changes, 0);
  ASSERT_GE(::inotify_add_watch(changes, folder.c_str(), IN_CREATE | IN_MODIFY | IN_MOVED_TO), 0);
  const pid_t child = start(arguments, out);
  pollfd change{.fd = changes, .events = POLLIN, .revents = 0};
  EXPECT_EQ(::poll(&change, 1, 60'000), 1);
  const auto until = steady_clock::now() + later;
  while (steady_clock::now() < until) {
  }
  end(child, SIGKILL);
  ::close(changes);
}

// How long it takes when it is left alone, so that the ends fall before, within and after its work.
nanoseconds time_alone(const std::vector<std::string>& arguments) {
  const auto begun = steady_clock::now();
  std::string line;
  for (const std::string& argument : arguments) line += "'" + argument + "' ";
  run_overdue(line);
  return steady_clock::now() - begun;
}

nanoseconds part_of(nanoseconds whole, Random& random) {
  return nanoseconds(static_cast<std::int64_t>(static_cast<double>(whole.count()) * 1.3 * random.uniform()));
}

TEST(KillRounds, APolicyFileIsTheOldOneOrTheNewOneAndNeverAPart) {
  const ScratchFolder results;
  const ScratchFolder folder;
  std::string before = "# ours\n[dependency.orders.timeout]\nrequest = \"9s\"  # since 2019\n";
  for (int i = 0; i < 20'000; ++i) before += "# a line that stays " + std::to_string(i) + "\n";
  const std::string policy = folder.file("overdue.toml", before);
  const std::string out = results.path("out");
  const std::vector<std::string> arguments{
      "advise", "examples/orders.log.gz", "--write-policy", policy, "--name", "orders"};
  const nanoseconds alone = time_alone(arguments);
  const std::string after = text_of_file(policy);
  ASSERT_NE(after, before);
  ASSERT_THAT(after, testing::HasSubstr("a line that stays 19999"));
  Random random(20261130);
  int old_ones = 0;
  int new_ones = 0;
  for (int round = 0; round < kRounds; ++round) {
    folder.file("overdue.toml", before);
    if (round % 4 == 0) {
      end_after(arguments, out, part_of(alone, random), SIGKILL);
    } else {
      kill_at_work_in(folder.path(""), arguments, out, part_of(1ms, random));
    }
    const std::string found = text_of_file(policy);
    old_ones += found == before ? 1 : 0;
    new_ones += found == after ? 1 : 0;
  }
  EXPECT_EQ(old_ones + new_ones, kRounds);
  EXPECT_GT(old_ones, 0);
  EXPECT_GT(new_ones, 0);
  // What a kill left behind is in nobody's way.
  folder.file("overdue.toml", before);
  EXPECT_EQ(end_after(arguments, out, 0s, 0).status, 0);
  EXPECT_EQ(text_of_file(policy), after);
}

// Nothing, where the signal came before the command listened for it; else a whole report that says what it is
// of.
TEST(KillRounds, WhatIsReportedAfterCtrlCIsWholeAndSaysSo) {
  const ScratchFolder folder;
  const std::vector<std::vector<std::string>> commands{
      {"advise", "examples/orders.log.gz", "--json"},
      {"simulate", "scenarios/two-orders.toml", "--json"},
      {"simulate", "scenarios/two-orders.toml", "--seeds", "1..8", "--json"},
  };
  const std::string out = folder.path("out");
  Random random(20261201);
  int interrupted = 0;
  for (const auto& arguments : commands) {
    const nanoseconds alone = time_alone(arguments);
    for (int round = 0; round < kRounds / 2; ++round) {
      const Ended ended = end_after(arguments, out, part_of(alone, random), SIGINT);
      const std::string text = text_of_file(out);
      if (ended.by_signal) {
        EXPECT_EQ(ended.status, SIGINT);
        if (text.empty()) continue;  // Else it was done.
      }
      const auto report = nlohmann::json::parse(text, nullptr, false);
      ASSERT_FALSE(report.is_discarded()) << arguments[0] << ": " << text;
      if (!report["interrupted"].get<bool>()) continue;
      ++interrupted;
      EXPECT_NE(ended.status, 0) << arguments[0];
    }
  }
  EXPECT_GT(interrupted, 0);
}

TEST(KillRounds, ATraceThatWasCutOffIsTheBeginningOfTheWholeOne) {
  const ScratchFolder folder;
  const std::string trace = folder.path("trace");
  const std::vector<std::string> arguments{"simulate", "scenarios/four-failures.toml", "--trace", trace};
  const nanoseconds alone = time_alone(arguments);
  const std::string whole = text_of_file(trace);
  ASSERT_FALSE(whole.empty());
  Random random(20261202);
  for (int round = 0; round < kRounds / 2; ++round) {
    end_after(arguments, folder.path("out"), part_of(alone, random), round % 2 == 0 ? SIGKILL : SIGINT);
    const std::string found = text_of_file(trace);
    EXPECT_TRUE(whole.starts_with(found)) << round;
  }
}

}  // namespace
}  // namespace overdue
