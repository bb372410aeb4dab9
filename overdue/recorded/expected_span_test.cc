#include "overdue/recorded/expected_span.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "overdue/recorded/detect.h"

namespace overdue {
namespace {

using namespace std::chrono_literals;

constexpr int kRows = 60'000;  // Far more than is looked at, or than a head holds.

std::string log_of(int rows, std::string_view ending = "replied") {
  std::string log = "start_ms,ending,latency_ms\n";
  for (int i = 0; i < rows; ++i) log += fmt::format("{},{},5\n", 1'700'000'000'000 + i, ending);
  return log;
}

std::optional<TimeGrid::TimeSpan> span_of(std::string_view log, const ReadOptions& options = {}) {
  const auto path =
      std::filesystem::temp_directory_path() / fmt::format("overdue_expected_span_{}", ::getpid());
  std::ofstream(path, std::ios::binary) << log;
  const auto source = ChunkSource::open(path.string(), nullptr);
  std::filesystem::remove(path);
  if (!source) return std::nullopt;
  const auto format = open_format((*source)->head(), path.string(), options);
  if (!format) return std::nullopt;
  (*source)->skip(format->header_bytes);
  return expected_span(**source, *format->reader, options);
}

WallTime row(int number) { return WallTime(1'700'000'000s) + number * 1ms; }

TEST(ExpectedSpan, IsFromTheFirstRowToTheLast) {
  const auto span = span_of(log_of(kRows));
  ASSERT_TRUE(span);
  EXPECT_EQ(span->first, row(0));
  EXPECT_EQ(span->last, row(kRows - 1));
}

// What comes in time will be read; what was written of it so far may be any number.
TEST(ExpectedSpan, DoesNotLookAtALineThatMayBeHalfWritten) {
  const auto span = span_of(log_of(kRows) + "17,replied,5");
  ASSERT_TRUE(span);
  EXPECT_EQ(span->first, row(0));
  EXPECT_EQ(span->last, row(kRows - 1));
}

TEST(ExpectedSpan, IsOfTheRowsThatWillBeMeasured) {
  EXPECT_FALSE(span_of(log_of(kRows, "refused")));
  ReadOptions until;
  until.until = row(10);
  EXPECT_EQ(span_of(log_of(kRows), until)->last, row(9));
  ReadOptions none;
  none.where = {{"ending", "reset"}};
  EXPECT_FALSE(span_of(log_of(kRows), none));
}

// Who gives us standard input may have read of it.
TEST(ExpectedSpan, LooksAtNothingBeforeTheBeginning) {
  const std::string before(2000, '\n');
  const auto path = std::filesystem::temp_directory_path() / fmt::format("overdue_stdin_{}", ::getpid());
  std::ofstream(path, std::ios::binary) << "1600000000000,replied,5\n" << before << log_of(100);
  const int saved = ::dup(STDIN_FILENO);
  const int file = ::open(path.c_str(), O_RDONLY);
  std::filesystem::remove(path);
  ASSERT_EQ(::dup2(file, STDIN_FILENO), STDIN_FILENO);
  ::lseek(STDIN_FILENO, 24 + 2000, SEEK_SET);
  {
    const auto source = ChunkSource::open("-", nullptr);
    ASSERT_TRUE(source);
    const std::string lines = (*source)->lines_of_both_ends(std::size_t{64} << 10);
    EXPECT_EQ(lines.find("1600000000000"), std::string::npos);
    EXPECT_NE(lines.find("1700000000099"), std::string::npos);
  }
  ::dup2(saved, STDIN_FILENO);
  ::close(saved);
  ::close(file);
}

TEST(ExpectedSpan, IsUnknownWhereTheEndCannotBeLookedAt) {
  const std::string log = log_of(kRows);
  const auto source = ChunkSource::from_bytes(log, "-");
  ASSERT_TRUE(source);
  EXPECT_EQ((*source)->lines_of_both_ends(8192), "");
  EXPECT_FALSE(span_of("start_ms,ending,latency_ms\n" + std::string(20'000, '1') + "\n"));
}

}  // namespace
}  // namespace overdue
