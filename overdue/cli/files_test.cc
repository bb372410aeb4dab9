#include "overdue/cli/files.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

namespace overdue {
namespace {

class ReplaceFile : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = (std::filesystem::temp_directory_path() / "overdue-files-XXXXXX").string();
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    folder_ = name;
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  std::string path(const char* name) const { return (folder_ / name).string(); }

  std::filesystem::path folder_;
};

TEST_F(ReplaceFile, WritesANewFileAndReplacesAnOldOneKeepingItsPermissions) {
  ASSERT_TRUE(replace_file(path("a"), "one").has_value());
  ASSERT_EQ(::chmod(path("a").c_str(), 0640), 0);
  ASSERT_TRUE(replace_file(path("a"), "two").has_value());
  EXPECT_EQ(read_small_file(path("a")).value(), "two");
  struct stat now{};
  ASSERT_EQ(::stat(path("a").c_str(), &now), 0);
  EXPECT_EQ(now.st_mode & 07777, 0640u);
}

TEST_F(ReplaceFile, LeavesNothingBesideTheFile) {
  ASSERT_TRUE(replace_file(path("a"), "one").has_value());
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder_), {}), 1);
}

TEST_F(ReplaceFile, ChangesTheTargetOfALinkAndKeepsTheLink) {
  ASSERT_TRUE(replace_file(path("a"), "one").has_value());
  std::filesystem::create_symlink(path("a"), path("b"));
  ASSERT_TRUE(replace_file(path("b"), "two").has_value());
  EXPECT_EQ(read_small_file(path("a")).value(), "two");
  EXPECT_TRUE(std::filesystem::is_symlink(path("b")));
}

TEST_F(ReplaceFile, SaysWhatIsWrongWithAMissingFolderOrADirectory) {
  EXPECT_NE(replace_file(path("no/a"), "x").error().message.find("No such file"), std::string::npos);
  EXPECT_FALSE(replace_file(folder_.string(), "x").has_value());
  EXPECT_FALSE(read_small_file(path("none")).has_value());
}

}  // namespace
}  // namespace overdue
