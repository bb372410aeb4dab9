#include "overdue/recorded/nginx.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "overdue/recorded/collecting_sink.h"

namespace overdue {
namespace {

struct Read {
  std::string rows;
  std::string set_aside;
};

Read read_nginx(const std::string& text, const ReadOptions& options) {
  auto opened = open_nginx(text, "access.log", options);
  if (!opened) {
    ADD_FAILURE() << opened.error().message;
    return {};
  }
  CollectingSink sink;
  // A buffer of its own, so that a sanitizer sees a byte read past what may be.
  std::vector<char> buffer(text.begin(), text.end());
  buffer.resize(text.size() + ChunkReader::kReadableAfter, 'x');
  opened->reader->read({buffer.data(), text.size()}, sink);
  return {sink.text(), sink.set_aside_text()};
}

ReadOptions with_format(std::string format, Level level = Level::attempts) {
  ReadOptions options;
  options.log_format = std::move(format);
  options.level = level;
  return options;
}

// $gzip_ratio, at a line's end as the manual's own example has it, has two.
TEST(Nginx, TakesAnUnnamedNumberForATimeOnlyWithTheThreeDecimalsNginxWrites) {
  const std::string combined =
      R"(127.0.0.1 - - [06/Sep/2015:05:58:05 +0900] "GET /a HTTP/1.1" 200 12 "-" "curl/7.54.0" )";
  struct Case {
    const char* fields;
    const char* rows;
  };
  const Case cases[] = {{R"("2.71" 0.081)", "replied 81ms +call\n"},
                        {R"(0.129 "2.71")", "replied 129ms +call\n"},
                        {R"(0.563 0.146 . HIT "1.65")", "replied 146ms +call\n"},
                        {R"(0.563 10.5)", "replied 563ms +call\n"},
                        {"rt=0.5", "replied 500ms +call\n"}};
  for (const Case& each : cases) {
    const std::string line = fmt::format("{}{}\n", combined, each.fields);
    EXPECT_EQ(read_nginx(line, {}).rows, each.rows) << each.fields;
  }
  for (const char* tail : {"\"2.71\"", "10.5", "1.5 2.25", "0.1234", "a b 1.5 [p] x:1 0 1.5 200"}) {
    const std::string text = fmt::format("{0}{1}\n{0}-\n", combined, tail);
    EXPECT_TRUE(looks_like_nginx(text)) << tail;
    const auto opened = open_nginx(text, "access.log", {});
    ASSERT_FALSE(opened.has_value()) << tail;
    EXPECT_TRUE(opened.error().message.ends_with(kNginxTimedLogFormat)) << opened.error().message;
  }
  // One value that is none is enough.
  EXPECT_FALSE(open_nginx(combined + "0.081\n" + combined + "2.71\n", "access.log", {}).has_value());
}

TEST(Nginx, ReadsNothingWhereAVariableIsAbsentAsTheDashOfOtherFormats) {
  struct Case {
    const char* format;
    const char* line;
    const char* rows;
    const char* calls;
    const char* set_aside;
  };
  const char* const kNoUpstream = "answered by nginx itself, no upstream: 1, line 1\n";
  const char* const kJson =
      R"({"s":"$status","rt":$request_time,"ut":"$upstream_response_time","ua":"$upstream_addr","us":"$upstream_status"})";
  const Case cases[] = {
      {kJson, R"({"s":"200","rt":0.120,"ut":"","ua":"","us":""})", "", "replied 120ms +call\n", kNoUpstream},
      {kJson, R"({"s":"499","rt":0.120,"ut":"","ua":"a:1","us":""})", "abandoned 120ms a:1 +call\n",
       "abandoned 120ms a:1 +call\n", ""},
      {R"({"s":$status,"rt":$request_time,"ut":$upstream_response_time,"us":$upstream_status})",
       R"({"s":200,"rt":0.120,"ut":,"us":})", "", "replied 120ms +call\n", kNoUpstream},
      {R"({"s":$status,"rt":$request_time,"ut":"$upstream_response_time","ref":"$http_referer"})",
       R"({"s":200,"rt":0.12,"ut":"","ref":""})", "", "replied 120ms +call\n", kNoUpstream},
      {"$status $request_time $upstream_response_time $upstream_addr", "200 0.120  ", "",
       "replied 120ms +call\n", kNoUpstream},
      {"log_format x escape=none '$status $request_time $upstream_response_time';", "200 0.120 ", "",
       "replied 120ms +call\n", kNoUpstream},
      {"$status $upstream_connect_time $upstream_addr $request_time $upstream_response_time $upstream_status",
       "502  a:1 0.120 0.120 502", "refused 120ms a:1 +call\n", "rejected 120ms a:1 +call\n", ""},
      // A line that was cut off where the time would stand.
      {"$status $request_time $upstream_response_time", "200 0.120 ", nullptr, nullptr, nullptr},
  };
  for (const Case& each : cases) {
    const std::string line = std::string(each.line) + "\n";
    if (each.rows == nullptr) {
      EXPECT_FALSE(open_nginx(line, "access.log", with_format(each.format)).has_value());
      continue;
    }
    const Read read = read_nginx(line, with_format(each.format));
    EXPECT_EQ(read.rows, each.rows) << each.line;
    EXPECT_EQ(read.set_aside, each.set_aside) << each.line;
    EXPECT_EQ(read_nginx(line, with_format(each.format, Level::calls)).rows, each.calls) << each.line;
  }
}

TEST(Nginx, ReadsALogFormatAsNginxWouldWithItsTabsAndWithoutItsComments) {
  const char* const line = "200\t0.120\ta:1\n";
  for (const char* format :
       {R"($status\t$request_time\t$upstream_addr)", R"('$status\t$request_time\t$upstream_addr')",
        R"(log_format x $status\t$request_time\t$upstream_addr;)",
        "# the main one\nlog_format x # timed\n '$status\\t'\n # how long\n '$request_time' # and who\n"
        "'\\t$upstream_addr' ;"}) {
    EXPECT_EQ(read_nginx(line, with_format(format)).rows, "replied 120ms a:1 +call\n") << format;
  }
  // Behind other than a blank it is no comment.
  EXPECT_EQ(read_nginx("200 0.120#a:1\n", with_format("'$status $request_time#$upstream_addr'")).rows,
            "replied 120ms a:1 +call\n");
}

}  // namespace
}  // namespace overdue
