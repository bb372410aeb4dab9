#include "overdue/recorded/read.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>
#include <zlib.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "overdue/base/random.h"
#include "overdue/recorded/chunk_source.h"

namespace overdue {
namespace {

// A file that is gone when its test is over.
class ScratchFile {
 public:
  explicit ScratchFile(std::string_view bytes)
      : path_(std::filesystem::temp_directory_path() /
              fmt::format("overdue_read_test_{}_{}", ::getpid(), ++count_)) {
    std::ofstream(path_, std::ios::binary) << bytes;
  }
  ScratchFile(const ScratchFile&) = delete;
  ScratchFile& operator=(const ScratchFile&) = delete;
  ~ScratchFile() { std::filesystem::remove(path_); }
  std::string path() const { return path_.string(); }

 private:
  static inline int count_ = 0;
  std::filesystem::path path_;
};

std::string gzipped(std::string_view bytes) {
  z_stream stream{};
  EXPECT_EQ(::deflateInit2(&stream, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
  std::string packed(::deflateBound(&stream, bytes.size()) + 64, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  stream.avail_in = static_cast<uInt>(bytes.size());
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  EXPECT_EQ(::deflate(&stream, Z_FINISH), Z_STREAM_END);
  packed.resize(stream.total_out);
  ::deflateEnd(&stream);
  return packed;
}

// About 1.5 MB: several chunks, with lines to set aside in all of them.
std::string long_log(bool header = true) {
  Random random(3);
  std::string log = header ? "ts,backend,status,latency_ms\n" : "";
  for (int i = 0; i < 40'000; ++i) {
    if (i % 1000 == 999) log += "broken\n";
    log += fmt::format("{},10.0.0.{}:80,{},{}.{:03}\n", 1'700'000'000'000 + i, 1 + random.below(7),
                       random.below(50) == 0 ? 504 : 200, 1 + random.below(300), random.below(1000));
  }
  return log;
}

std::string summary_of(const LogMeasurement& log) {
  std::string text =
      fmt::format("lines {} calls {} attempts {} ", log.source.lines, log.source.calls, log.source.attempts);
  for (const SetAside& aside : log.source.set_aside)
    text += fmt::format("[{} {} {}] ", aside.reason, aside.count, aside.first_line);
  for (const auto& [key, measured] : log.groups) {
    text += fmt::format("'{}' {}: ", key, measured.attempts());
    text += fmt::format("blocks {} of {} cells {} of {} ", measured.blocks().block_count(),
                        measured.blocks().block_length().count(), measured.starts().counts.size(),
                        measured.starts().cell_length.count());
    for (const std::uint32_t cell : measured.starts().counts) text += fmt::format("{}", cell);
    for (const EndingRow& row : measured.table()) {
      text += fmt::format("{}:{}/{} ", row.low.count(), row.replied, row.timed_out);
    }
    for (std::uint16_t id = 0; id < measured.backends().size(); ++id) {
      text += fmt::format("{}={} ", measured.backends().name_of(id), measured.endings_of(id)[0]);
    }
  }
  return text;
}

std::vector<std::string> routes_of(const LogMeasurement& log) {
  std::vector<std::string> routes;
  for (const auto& [key, measured] : log.groups) {
    for (std::uint16_t id = 1; id < measured.routes().size(); ++id) {
      routes.push_back(fmt::format("{} {} {}", key, measured.routes().name_of(id),
                                   measured.replies_by_route()[id].count()));
    }
  }
  return routes;
}

LogMeasurement read(const std::string& path, unsigned threads, const std::string& by = "") {
  ReadOptions options;
  options.threads = threads;
  options.group_by = by;
  auto log = read_log(path, options);
  if (!log) {
    ADD_FAILURE() << log.error().message;
    return {};
  }
  return std::move(*log);
}

TEST(ReadLog, GivesTheSameOnOneThreadAndOnTwo) {
  const ScratchFile file(long_log());
  for (const char* by : {"", "backend"}) {
    const std::string one = summary_of(read(file.path(), 1, by));
    EXPECT_NE(one.find("lines 40041 calls 40000 attempts 40000 [fewer fields than the header 40 1001]"),
              std::string::npos)
        << one.substr(0, 200);
    for (int round = 0; round < 3; ++round) EXPECT_EQ(summary_of(read(file.path(), 2, by)), one);
  }
}

// New routes, backends and groups turn up in every chunk, and each thread meets them in an order of its own.
TEST(ReadLog, GivesTheSameOnAnyNumberOfThreadsWhenNamesKeepComing) {
  std::string log = "path,backend,kind,status,latency_ms\n";
  for (int i = 0; i < 60'000; ++i) {
    log += fmt::format("/r{}x,b{},k{},{},{}\n", (i * 7919) % (1 + i / 100), (i * 31) % (1 + i / 2000),
                       (i * 17) % (1 + i / 5000), i % 97 == 0 ? 503 : 200, 1 + i % 50);
  }
  const ScratchFile file(log);
  for (const char* by : {"", "kind", "backend"}) {
    const LogMeasurement one = read(file.path(), 1, by);
    for (const unsigned threads : {2U, 2U, 3U}) {
      const LogMeasurement more = read(file.path(), threads, by);
      EXPECT_EQ(summary_of(more), summary_of(one)) << threads << " threads by " << by;
      EXPECT_EQ(routes_of(more), routes_of(one)) << threads << " threads by " << by;
    }
  }
  EXPECT_GT(routes_of(read(file.path(), 1)).size(), 500U);
}

TEST(ReadLog, ReadsGzipInMembersAsItReadsThePlainFile) {
  const std::string log = long_log();
  const ScratchFile plain(log);
  const std::string expected = summary_of(read(plain.path(), 1));
  const ScratchFile packed(gzipped(log));
  EXPECT_EQ(summary_of(read(packed.path(), 2)), expected);
  const std::size_t cut = 700'001;
  const ScratchFile members(gzipped(log.substr(0, cut)) + gzipped("") + gzipped(log.substr(cut)) +
                            std::string(512, '\0'));
  EXPECT_EQ(summary_of(read(members.path(), 2)), expected);
}

TEST(ReadLog, SaysWhatIsWrongWithAFile) {
  const std::string packed = gzipped(long_log());
  const ScratchFile cut(packed.substr(0, packed.size() / 2));
  std::string damaged_bytes = packed;
  damaged_bytes[packed.size() / 2] ^= 0x55;
  const ScratchFile damaged(damaged_bytes);
  const ScratchFile zstd("\x28\xb5\x2f\xfd----");
  const ScratchFile empty("");
  struct Case {
    std::string path;
    std::string_view message;
  };
  const Case cases[] = {{cut.path(), "the file is cut off"},
                        {damaged.path(), "the gzip data is damaged"},
                        {zstd.path(), "zstd -dc"},
                        {empty.path(), "is empty"},
                        {"/no/such/file", "No such file"},
                        {std::filesystem::temp_directory_path().string(), "is a directory"}};
  for (const Case& c : cases) {
    const auto log = read_log(c.path, {});
    ASSERT_FALSE(log) << c.path;
    EXPECT_EQ(log.error().code, ErrorCode::unreadable_input);
    EXPECT_NE(log.error().message.find(c.message), std::string::npos) << log.error().message;
    EXPECT_NE(log.error().message.find(c.path), std::string::npos) << log.error().message;
  }
}

TEST(ReadLog, SetsALineAsideThatIsLongerThanAChunk) {
  std::string log = "latency_ms,status\n";
  for (int i = 0; i < 100'000; ++i) log += "5,200\n";
  log += std::string(3 * ChunkSource::kChunkBytes, 'x') + "\n7,200\n";
  const ScratchFile file(log);
  const LogMeasurement got = read(file.path(), 2);
  EXPECT_EQ(got.source.attempts, 100'001U);
  EXPECT_EQ(got.source.lines, 100'003U);
  ASSERT_EQ(got.source.set_aside.size(), 1U);
  EXPECT_EQ(got.source.set_aside[0].reason, "line longer than 256 KiB");
  EXPECT_EQ(got.source.set_aside[0].first_line, 100'002U);
}

TEST(ReadLog, StopsWhenTold) {
  const ScratchFile file(long_log());
  ReadProgress progress;
  progress.stop = true;
  const auto log = read_log(file.path(), {}, &progress);
  ASSERT_TRUE(log) << log.error().message;
  EXPECT_LT(log->source.attempts, 40'000U);
  EXPECT_EQ(log->source.notes.back(), "reading was stopped before the end");
  EXPECT_GT(progress.bytes_total.load(), 1'000'000U);
}

TEST(ReadLog, RefusesMoreGroupsThanAnyoneWouldRead) {
  std::string log = "latency_ms,user\n";
  for (int i = 0; i < 300; ++i) log += fmt::format("5,{}\n", i);
  const ScratchFile file(log);
  ReadOptions options;
  options.group_by = "user";
  const auto got = read_log(file.path(), options);
  ASSERT_FALSE(got);
  EXPECT_NE(got.error().message.find("--where user=VALUE"), std::string::npos);
}

TEST(ReadLog, CountsImpossibleDurationsInTheMeasurement) {
  std::string log = "latency_ms\n";
  for (int i = 0; i < 995; ++i) log += "20\n";
  log += "-412\n-407\n-398\n431\n428\n";
  const ScratchFile file(log);
  EXPECT_EQ(read(file.path(), 1).groups.at("").negative_elapsed, 3U);
}

std::string repeated(std::string_view row, int times) {
  std::string text;
  for (int i = 0; i < times; ++i) text += row;
  return text;
}

std::string unit_doubt(std::string_view bytes, const ReadOptions& options = {}) {
  const ScratchFile file(bytes);
  const auto log = read_log(file.path(), options);
  if (!log) ADD_FAILURE() << log.error().message;
  return log ? log->source.unit_doubt : "";
}

// Field case C05, whatever the order of the rows.
TEST(ReadLog, DoubtsTheUnitByTheWholeLogAndNotByItsHead) {
  const std::string head = "latency_s,host\n";
  const std::string few = repeated("0.5,a\n", 1100);
  const std::string many = repeated("500,a\n", 3000);
  EXPECT_EQ(unit_doubt(head + few + many),
            "likely ms recorded as s (500 ms): half of 'latency_s' is above 8.33 min; --unit ms or --unit s "
            "settles it");
  EXPECT_EQ(unit_doubt(head + few + many), unit_doubt(head + many + few));
  EXPECT_EQ(unit_doubt(head + few + many, {.group_by = "host"}), unit_doubt(head + many + few));
  // Slow for a while at first: no doubt, since most are not.
  EXPECT_EQ(unit_doubt(head + repeated("500,a\n", 1100) + repeated("0.5,b\n", 3000)), "");
  // Zeros say nothing, as before.
  EXPECT_EQ(unit_doubt("latency_ms\n" + repeated("0\n", 3000) + repeated("5\n", 1100)), "");
  EXPECT_NE(unit_doubt("latency_s\n" + repeated("0\n", 3000) + repeated("500\n", 1100)), "");
  EXPECT_NE(
      unit_doubt("latency_s\n" + repeated("0\n", 2000) + repeated("0.5\n", 1000) + repeated("500\n", 2000)),
      "");
  // Beyond what is kept by value, and in groups.
  std::string distinct = "latency_s,host\n";
  for (int i = 0; i < 250'000; ++i) distinct += fmt::format("{}.{:03},{}\n", 40 + i / 1000, i % 1000, i % 3);
  EXPECT_TRUE(unit_doubt(distinct).starts_with("likely ms recorded as s (164 ms)")) << unit_doubt(distinct);
}

TEST(ReadLog, DoubtsTheUnitOfAnAccessLogsTimesUntilItIsConfirmed) {
  std::string log;
  for (int i = 0; i < 400; ++i) log += fmt::format("rt={}.000\n", 300 + i);
  ReadOptions options;
  options.log_format = "rt=$request_time";
  EXPECT_EQ(
      unit_doubt(log, options),
      "likely ms recorded as s (500 ms): half of '$request_time' is above 8.33 min; --unit s says that it "
      "is so");
  options.unit = Duration(std::chrono::seconds(1));
  EXPECT_EQ(unit_doubt(log, options), "");
  EXPECT_EQ(unit_doubt(repeated("rt=0.010\n", 400), {.log_format = options.log_format}), "");
}

TEST(ReadLog, SetsAsideANumberWithoutAUnitWhereEachCarriesItsOwn) {
  const ScratchFile file("latency\n" + repeated("12ms\n", 1200) + "0\n500\n");
  const auto log = read_log(file.path(), {});
  ASSERT_TRUE(log.has_value()) << log.error().message;
  EXPECT_EQ(log->source.attempts, 1201U);
  ASSERT_EQ(log->source.set_aside.size(), 1U);
  EXPECT_EQ(log->source.set_aside[0].reason, "latency without its unit");
  EXPECT_EQ(log->source.set_aside[0].first_line, 1203U);
}

std::string error_of(std::string_view bytes, Format format = Format::csv) {
  ReadOptions options;
  options.format = format;
  const auto summary = read_attempts(bytes, "a.log", options, [](auto&&...) {});
  return summary ? "" : summary.error().message;
}

TEST(ReadLog, ShowsTheFirstValueThatWasNoneAndWhatWouldBeRight) {
  for (const std::string value : {"0x10", "1m30", "1,000"}) {
    EXPECT_EQ(
        error_of("latency_ms,host\n\"" + value + "\",a\n\"x\",a\n"),
        "a.log: no line of it could be used (3 read as csv). latency is no number: 2 (first on line 2: '" +
            value + "'; right are 12.5 and 12.5ms: no commas, units ns, us, ms, s, m or h)");
  }
  EXPECT_NE(
      error_of("latency_ms,ending\n1,done\n").find("(first on line 2: 'done'; right are replied, rejected"),
      std::string::npos);
  EXPECT_NE(error_of("latency_ms,status\n1,perhaps\n").find("'perhaps'; right are HTTP statuses"),
            std::string::npos);
  EXPECT_NE(error_of("{\"latency_ms\":\"5,5\"}\n{\"latency_ms\":\"5,5\"}\n", Format::ndjson)
                .find("(first on line 1: '5,5'; "),
            std::string::npos);
}

TEST(ReadLog, ShowsNoMoreOfAValueThanAPersonReadsAndNothingThatATerminalObeys) {
  const std::string error = error_of("latency_ms,host\n\x1b[2J" + std::string(500, 'x') + ",a\n");
  EXPECT_NE(error.find("'\\x1b[2J" + std::string(36, 'x') + "...'"), std::string::npos) << error;
}

TEST(ReadLog, ReadsAStatusWithAPointAndZerosAsTheWholeNumber) {
  for (const char* const log :
       {"latency_ms,status\n1,200.0\n2,503.0\n3,\n4,200.5\n",
        "{\"latency_ms\":1,\"status\":200.0}\n{\"latency_ms\":2,\"status\":503.0}\n"
        "{\"latency_ms\":3,\"status\":null}\n{\"latency_ms\":4,\"status\":200.5}\n"}) {
    std::vector<Ending> endings;
    const auto summary = read_attempts(log, "a.log", {}, [&](std::span<const Attempt> rows, auto&&...) {
      for (const Attempt& row : rows) endings.push_back(row.ending);
    });
    ASSERT_TRUE(summary.has_value()) << summary.error().message;
    EXPECT_EQ(endings, (std::vector{Ending::replied, Ending::rejected, Ending::timed_out})) << log;
    ASSERT_EQ(summary->set_aside.size(), 1U);
    EXPECT_EQ(summary->set_aside[0].first_value, "200.5");
  }
}

}  // namespace
}  // namespace overdue
