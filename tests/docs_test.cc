// Every `$ overdue ...` in README.md and docs/ is run, and must print what the page says.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest-spi.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "document_examples.h"
#include "house_rules.h"
#include "run_command.h"

namespace overdue::house {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

TEST(DocumentExamples, AreTheCommandsOfConsoleBlocksAndWhatFollowsThem) {
  const auto examples = examples_in(
      "$ overdue outside\n```console\n$ overdue lesson \\\n> --json\none\n...\ntwo\n$ echo $?\n0\n```\n"
      "```\n$ overdue other\n```\n1. In a list\n\n   ```console\n   $ overdue --version\n   overdue 0\n   "
      "```\n");
  ASSERT_EQ(examples.size(), 3U);
  EXPECT_EQ(examples[0].command, "overdue lesson --json");
  EXPECT_EQ(examples[0].line, 3U);
  EXPECT_THAT(examples[0].expected, ElementsAre("one", "...", "two"));
  EXPECT_EQ(examples[1].command, "echo $?");
  EXPECT_THAT(examples[1].expected, ElementsAre("0"));
  EXPECT_EQ(examples[2].command, "overdue --version");
  EXPECT_THAT(examples[2].expected, ElementsAre("overdue 0"));
}

TEST(DocumentExamples, RunWhatShowsOverdueAndLeaveTheRestToTheReader) {
  EXPECT_TRUE(is_run("overdue lesson"));
  EXPECT_TRUE(is_run("./run"));
  EXPECT_TRUE(is_run("zcat examples/orders.log.gz | overdue advise -"));
  EXPECT_TRUE(is_run("echo $?"));
  EXPECT_FALSE(is_run("git clone https://example.org/overdue"));
  EXPECT_FALSE(is_run("./test long"));
  EXPECT_EQ(as_shell_command("./run advise a | head -5"), "overdue advise a | head -5");
  EXPECT_EQ(as_shell_command("zcat a | ./run advise -"), "zcat a | overdue advise -");
  EXPECT_EQ(as_shell_command("./run"), "overdue advise examples/orders.log.gz");
  EXPECT_THAT(named_files("overdue advise 'examples/a b.gz' --write-policy overdue.toml | head"),
              ElementsAre("examples/a b.gz"));
}

TEST(DocumentExamples, AreComparedToTheLetterExceptForThreeDots) {
  EXPECT_FALSE(difference({"a", "b"}, {"a", "b"}));
  EXPECT_FALSE(difference({"a", "...", "d"}, {"a", "b", "c", "d"}));
  EXPECT_FALSE(difference({"...", "d"}, {"d"}));
  EXPECT_FALSE(difference({"..."}, {}));
  EXPECT_THAT(difference({"a", "b"}, {"a", "c"}).value_or(""), HasSubstr("line 2"));
  EXPECT_TRUE(difference({"a"}, {"a", "b"}));
  EXPECT_TRUE(difference({"a", "b"}, {"a"}));
  EXPECT_TRUE(difference({"a", "...", "d"}, {"a", "b"}));
  EXPECT_TRUE(difference({"a "}, {"a"}));
}

// Commands of one document, run one after the other in a folder that looks like the repository root and is
// thrown away, so that a command that writes a file leaves the tree alone and a later one can show it.
class Shell {
 public:
  Shell() {
    std::string pattern = (fs::temp_directory_path() / "overdue-docs-XXXXXX").string();
    folder_ = mkdtemp(pattern.data());
    for (const auto& entry : fs::directory_iterator(".")) {
      fs::create_symlink(fs::absolute(entry.path()), folder_ / entry.path().filename());
    }
    fs::create_directory(folder_ / ".programs");
    fs::create_symlink(fs::absolute(OVERDUE_BINARY), folder_ / ".programs" / "overdue");
  }
  ~Shell() {
    std::error_code ignored;
    fs::remove_all(folder_, ignored);  // Links are removed, not what they lead to.
  }
  Shell(const Shell&) = delete;
  Shell& operator=(const Shell&) = delete;

  // Whether the root has the file, or an earlier command has written it.
  bool has(const std::string& file) const { return fs::exists(folder_ / file); }

  Outcome run(const std::string& command) {
    std::ofstream(folder_ / ".programs" / "command") << "(exit " << last_status_ << ")\n" << command << "\n";
    Outcome outcome = run_command(
        fmt::format("cd {0} && PATH={0}/.programs:\"$PATH\" timeout 120 sh .programs/command 2>&1",
                    quoted(folder_.string())));
    last_status_ = outcome.status;
    return outcome;
  }

 private:
  fs::path folder_;
  int last_status_ = 0;
};

void run_document(const SourceFile& page) {
  Shell shell;
  for (const Example& example : examples_in(page.text)) {
    SCOPED_TRACE(fmt::format("{}:{}: $ {}", page.path, example.line, example.command));
    if (!is_run(example.command)) continue;
    bool complete = true;
    for (const std::string& file : named_files(example.command)) {
      complete = complete && shell.has(file);
      EXPECT_TRUE(shell.has(file)) << "the command names " << file << ", which is not there";
    }
    if (!complete) continue;
    const Outcome outcome = shell.run(as_shell_command(example.command));
    const auto different = difference(example.expected, split_lines(outcome.output));
    EXPECT_FALSE(different.has_value()) << different.value_or("");
  }
}

TEST(Documents, AShellRunsCommandsInACopyOfTheRootAndKeepsTheStatus) {
  Shell shell;
  EXPECT_THAT(split_lines(shell.run("echo one; echo two >&2; exit 3").output), ElementsAre("one", "two"));
  EXPECT_THAT(split_lines(shell.run("echo $?").output), ElementsAre("3"));
  EXPECT_THAT(split_lines(shell.run("overdue --version").output), testing::SizeIs(1));
  EXPECT_THAT(split_lines(shell.run("echo written > a_new_file; cat a_new_file").output),
              ElementsAre("written"));
  EXPECT_FALSE(fs::exists("a_new_file"));
  EXPECT_THAT(split_lines(shell.run("test -f CMakeLists.txt").output), IsEmpty());
  EXPECT_THAT(split_lines(shell.run("echo $?").output), ElementsAre("0"));
}

TEST(Documents, APageThatIsWrongOrNamesAMissingFileFails) {
  const auto page = [](const std::string& lines) {
    run_document({"page.md", "```console\n" + lines + "```\n"});
  };
  page("$ echo one\none\n$ echo $?\n0\n");
  EXPECT_NONFATAL_FAILURE(page("$ echo one\ntwo\n"), "the document says \"two\", it printed \"one\"");
  EXPECT_NONFATAL_FAILURE(page("$ cat docs/no_such_file\n"), "names docs/no_such_file, which is not there");
}

class Page : public testing::TestWithParam<std::string> {};

std::vector<std::string> page_paths() {
  std::vector<std::string> paths = {"README.md"};
  constexpr std::string_view folders[] = {"docs", "examples"};
  constexpr std::string_view suffixes[] = {".md"};
  for (const SourceFile& page : files_under(".", folders, suffixes)) paths.push_back(page.path);
  return paths;
}

TEST_P(Page, ShowsWhatItsCommandsPrint) {
  std::ostringstream text;
  text << std::ifstream(GetParam(), std::ios::binary).rdbuf();
  run_document({GetParam(), std::move(text).str()});
}

// The letters of the path that a test's name may have.
std::string name_of(const testing::TestParamInfo<std::string>& info) {
  std::string name;
  for (const char letter : info.param) {
    if (std::isalnum(static_cast<unsigned char>(letter)) != 0) name += letter;
  }
  return name;
}

INSTANTIATE_TEST_SUITE_P(Documents, Page, testing::ValuesIn(page_paths()), name_of);

}  // namespace
}  // namespace overdue::house
