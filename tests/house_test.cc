// The rules of the house are tests: what review would say twice is said here. Each checker is first shown a
// sample that breaks its rule, because a check that cannot fail checks nothing.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "house_rules.h"
#include "overdue/base/time.h"

namespace overdue::house {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

// Files over the limit, with their exact length. This list may only shrink.
const std::map<std::string, std::size_t> kLongFiles = {};

constexpr std::string_view kCode[] = {".cc", ".h"};
constexpr std::string_view kRoomsFolder[] = {"overdue"};
constexpr std::string_view kSourceFolders[] = {"overdue", "tests", "bench", "fuzz"};

std::vector<SourceFile> room_files() { return files_under(".", kRoomsFolder, kCode); }

template <typename C>
concept HasNow = requires { C::now(); };
static_assert(!HasNow<PolicyClock> && !HasNow<WallClock>, "the pure rooms must not be able to read a clock");

TEST(HouseRules, CodeOnlyBlanksCommentsAndLiteralsAndKeepsLines) {
  EXPECT_EQ(code_only("a // time(\nb /* rand(\n */ c"), "a         \nb         \n    c");
  EXPECT_EQ(code_only("f(\"exit(\\\"\", 'x', 1'000'000)"), "f(         ,    , 1'000'000)");
  EXPECT_EQ(code_only("R\"(exit(\")\" + x"), "R           + x");
  EXPECT_EQ(code_only("R\"a(\n)\" )a\" x"), "R   \n       x");
}

TEST(HouseRules, FindsAnIncludeOfARoomThatMayNotBeSeen) {
  const auto findings_of = [](std::string path, const std::string& name) {
    return check_includes({std::move(path), "#pragma once\n#include \"" + name + "\"\n"});
  };
  EXPECT_THAT(describe(findings_of("overdue/base/a.h", "overdue/latency/histogram.h")),
              HasSubstr("overdue/base/a.h:2: base may not see latency"));
  EXPECT_THAT(findings_of("overdue/latency/a.cc", "overdue/timeout/advice.h"), SizeIs(1));
  EXPECT_THAT(findings_of("overdue/policy/a.cc", "overdue/latency/histogram.h"), SizeIs(1));
  EXPECT_THAT(findings_of("overdue/recorded/a.cc", "overdue/simulated/lesson.h"), SizeIs(1));
  EXPECT_THAT(findings_of("overdue/simulated/a.cc", "overdue/recorded/read.h"), SizeIs(1));
  EXPECT_THAT(findings_of("overdue/report/a.cc", "overdue/recorded/read.h"), SizeIs(1));
  EXPECT_THAT(findings_of("overdue/report/a.cc", "overdue/simulated/run.h"), SizeIs(1));
  EXPECT_THAT(findings_of("overdue/main.cc", "overdue/latency/histogram.h"), SizeIs(1));
  EXPECT_THAT(findings_of("overdue/base/a.h", "time.h"), SizeIs(1)) << "a path that is not from the root";
  EXPECT_THAT(findings_of("overdue/attic/a.h", "overdue/base/time.h"), SizeIs(1))
      << "a room the table does not know";
}

TEST(HouseRules, AllowsARoomItselfAndTheRoomsItMaySee) {
  const auto findings_of = [](std::string path, const std::string& name) {
    return check_includes({std::move(path), "#include \"" + name + "\"\n#include <vector>\n"});
  };
  EXPECT_THAT(findings_of("overdue/latency/a.h", "overdue/latency/histogram.h"), IsEmpty());
  EXPECT_THAT(findings_of("overdue/timeout/a.h", "overdue/base/time.h"), IsEmpty());
  EXPECT_THAT(findings_of("overdue/cli/a.cc", "overdue/recorded/read.h"), IsEmpty());
  EXPECT_THAT(findings_of("overdue/report/a.cc", "overdue/simulated/run_result.h"), IsEmpty()) << "a result";
  EXPECT_THAT(findings_of("tests/a_test.cc", "house_rules.h"), IsEmpty());
}

TEST(HouseRules, FindsEveryKindOfImpurityInAPureRoom) {
  const std::vector<std::string> impure = {
      "auto t = std::chrono::steady_clock::now();",
      "using Clock = std::chrono::system_clock;",
      "auto t = SomeClock::now();",
      "time_t t = time(nullptr);",
      "auto t = std::time(nullptr);",
      "auto t = ::time(nullptr);",
      "return ::time(nullptr);",
      "return time(nullptr);",
      "int r = rand();",
      "std::random_device device;",
      "std::mt19937_64 generator(1);",
      "std::lognormal_distribution<double> service(2.0, 0.5);",
      "#include <random>",
      "#include <fstream>",
      "std::ifstream in(path);",
      "std::ofstream out(path);",
      "FILE* file = fopen(path, \"r\");",
      "int file = open(path, 0);",
      "int s = socket(AF_INET, SOCK_STREAM, 0);",
      "std::mutex mutex;",
      "std::lock_guard lock(mutex);",
      "std::atomic<int> count;",
      "printf(\"%d\", 1);",
      "std::printf(\"%d\", 1);",
      "std::cout << 1;",
      "std::cerr << 1;",
      "fmt::print(\"{}\", 1);",
      "exit(1);",
      "std::abort();",
      "const char* home = std::getenv(\"HOME\");",
      "std::this_thread::sleep_for(delay);",
  };
  for (const std::string& line : impure) {
    for (const std::string room : {"base", "latency", "timeout", "call", "fault"}) {
      EXPECT_FALSE(check_purity({"overdue/" + room + "/a.cc", "\n" + line + "\n"}).empty())
          << room << ": " << line;
      EXPECT_EQ(check_purity({"overdue/" + room + "/a.h", "\n" + line + "\n"}).at(0).line, 2U) << line;
    }
    EXPECT_THAT(check_purity({"overdue/recorded/a.cc", line}), IsEmpty()) << "worlds may: " << line;
  }
}

TEST(HouseRules, PureRoomsMaySpeakOfTimeAndBeTold) {
  const std::string pure =
      "// Never calls time() or rand().\n"
      "void on_event(Instant now, Duration time);\n"
      "const auto t = event.time();\n"
      "Duration time() const;\n"
      "const auto u = event->time();\n"
      "const auto v = Grid::open(1);\n"
      "const char* text = \"exit(1)\";\n"
      "if (now > deadline) return Uniform{}.draw(random);\n";
  EXPECT_EQ(describe(check_purity({"overdue/latency/a.cc", pure})), "");
}

TEST(HouseRules, TestsOfPureRoomsReadNoClockEither) {
  EXPECT_THAT(check_purity({"overdue/latency/a_test.cc", "auto t = std::chrono::steady_clock::now();"}),
              SizeIs(2));
  EXPECT_THAT(check_purity({"overdue/latency/a_test.cc", "std::uniform_real_distribution<double> draw;"}),
              SizeIs(1));
  EXPECT_THAT(check_purity({"overdue/latency/a_test.cc", "std::cerr << 1;"}), IsEmpty());
}

TEST(HouseRules, OnlyTheFailedCheckMayPrintAndAbort) {
  const std::string text = "std::fprintf(stderr, \"\"); std::abort();";
  EXPECT_THAT(check_purity({"overdue/base/check.cc", text}), IsEmpty());
  EXPECT_THAT(check_purity({"overdue/base/other.cc", text}), SizeIs(2));
}

TEST(HouseRules, FilesMayNotOutgrowTheirLimitAndExceptionsOnlyShrink) {
  const auto lines = [](std::size_t count) {
    std::string text;
    for (std::size_t i = 0; i < count; ++i) text += "x\n";
    return text;
  };
  const auto findings_of = [&](std::string path, std::size_t count,
                               const std::map<std::string, std::size_t>& exceptions) {
    const std::vector<SourceFile> files = {{std::move(path), lines(count)}};
    return describe(check_sizes(files, exceptions));
  };
  EXPECT_EQ(findings_of("a.h", 200, {}), "");
  EXPECT_THAT(findings_of("a.h", 201, {}), HasSubstr("201 lines"));
  EXPECT_EQ(findings_of("a.cc", 500, {}), "");
  EXPECT_THAT(findings_of("a.cc", 501, {}), HasSubstr("501 lines"));
  EXPECT_EQ(findings_of("a.cc", 600, {{"a.cc", 600}}), "");
  EXPECT_THAT(findings_of("a.cc", 601, {{"a.cc", 600}}), HasSubstr("grew"));
  EXPECT_THAT(findings_of("a.cc", 599, {{"a.cc", 600}}), HasSubstr("lower its entry"));
  EXPECT_THAT(findings_of("a.cc", 500, {{"a.cc", 600}}), HasSubstr("fits now"));
  EXPECT_THAT(findings_of("a.cc", 10, {{"b.cc", 600}}), HasSubstr("is gone"));
}

TEST(HouseRules, FindsWhatWasPutOffUntilLater) {
  EXPECT_THAT(describe(check_leftovers({"a.cc",
                                        "int a;\n// TO"
                                        "DO: later\n"})),
              HasSubstr("a.cc:2"));
  EXPECT_THAT(check_leftovers({"a.cc",
                               "// FIX"
                               "ME\n"}),
              SizeIs(1));
  EXPECT_THAT(check_leftovers({"a.cc",
                               "kTodoList, todo, a_TO"
                               "DO_b\n"}),
              IsEmpty());
}

TEST(HouseRules, FindsASubcommandWithoutItsFileOrItsPage) {
  const SourceFile header{"overdue/cli/subcommands.h",
                          "// add_nothing()\nvoid add_big_sweep(CLI::App& app, int& status);\n"};
  const std::vector<std::string> files = {"overdue/cli/big_sweep.cc"};
  const std::vector<std::string> pages = {"docs/commands/big-sweep.md"};
  EXPECT_THAT(check_subcommand_pages(header, files, pages), IsEmpty());
  EXPECT_THAT(check_subcommand_pages(header, {}, pages), SizeIs(1));
  EXPECT_THAT(describe(check_subcommand_pages(header, files, {})), HasSubstr("no page big-sweep.md"));
}

TEST(House, EveryRoomIncludesOnlyWhatItMaySee) {
  ASSERT_GT(room_files().size(), 10U) << "tests run in the repository root";
  for (const SourceFile& file : room_files()) EXPECT_EQ(describe(check_includes(file)), "");
}

TEST(House, PureRoomsNeitherReadClocksNorTouchTheWorld) {
  for (const SourceFile& file : room_files()) EXPECT_EQ(describe(check_purity(file)), "");
}

TEST(House, FilesStaySmall) {
  const std::vector<SourceFile> files = files_under(".", kSourceFolders, kCode);
  EXPECT_EQ(describe(check_sizes(files, kLongFiles)), "");
}

TEST(House, NothingIsPutOffUntilLater) {
  constexpr std::string_view folders[] = {"overdue", "tests",     "bench",   "fuzz",
                                          "cmake",   "packaging", "examples"};
  constexpr std::string_view suffixes[] = {".cc", ".h", ".cmake", ".txt", ".sh", ".py"};
  for (const SourceFile& file : files_under(".", folders, suffixes))
    EXPECT_EQ(describe(check_leftovers(file)), "");
}

TEST(House, EverySubcommandHasItsFileAndItsPage) {
  constexpr std::string_view cli[] = {"overdue/cli"};
  constexpr std::string_view docs[] = {"docs"};
  constexpr std::string_view markdown[] = {".md"};
  std::vector<std::string> files;
  std::vector<std::string> pages;
  SourceFile subcommands;
  for (SourceFile& file : files_under(".", cli, kCode)) {
    files.push_back(file.path);
    if (file.path.ends_with("/subcommands.h")) subcommands = std::move(file);
  }
  for (const SourceFile& page : files_under(".", docs, markdown)) pages.push_back(page.path);
  ASSERT_THAT(subcommands.text, HasSubstr("add_"));
  EXPECT_EQ(describe(check_subcommand_pages(subcommands, files, pages)), "");
}

}  // namespace
}  // namespace overdue::house
