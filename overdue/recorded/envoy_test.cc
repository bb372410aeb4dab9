#include "overdue/recorded/envoy.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "overdue/recorded/collecting_sink.h"
#include "overdue/recorded/envoy_flags.h"

namespace overdue {
namespace {

struct Read {
  std::string rows;
  std::string set_aside;
  std::map<std::string, std::uint64_t> notes;
};

Read read_envoy(const std::string& text, const ReadOptions& options = {}, bool with_details = false) {
  auto opened = open_envoy(text, "envoy.log", options);
  if (!opened) {
    ADD_FAILURE() << opened.error().message;
    return {};
  }
  CollectingSink sink;
  sink.with_routes = sink.with_starts = with_details;
  std::vector<char> buffer(text.begin(), text.end());
  buffer.resize(text.size() + ChunkReader::kReadableAfter, '"');
  opened->reader->read({buffer.data(), text.size()}, sink);
  return {sink.text(), sink.set_aside_text(), sink.notes};
}

ReadOptions calls() {
  ReadOptions options;
  options.level = Level::calls;
  return options;
}

std::string text_line(const std::string& code_to_times, const std::string& host = "10.0.2.1:80") {
  return "[2016-04-15T20:17:00.310Z] \"POST /api/v1/locations/77?x=1 HTTP/2\" " + code_to_times +
         " \"10.0.35.28\" \"nsq \\\"2\\\" http\" \"cc21d9b0\" \"locations\" \"" + host + "\"\n";
}

std::string json_line(const std::string& code, const std::string& flags, const std::string& duration,
                      const std::string& service_time, const std::string& host) {
  return R"({"upstream_host":)" + host + R"(,"duration":)" + duration +
         R"(,":authority":"a.org","method":"GET",)" +
         R"("x-envoy-origin-path":"/a/12?b","response_flags":")" + flags + R"(","response_code":)" + code +
         R"(,"start_time":"2026-01-24T01:34:36.743Z","user-agent":"x \" y","x-envoy-upstream-service-time":)" +
         service_time + R"(,"nested":{"duration":1},"list":[1,2]})" + "\n";
}

TEST(Envoy, ReadsTheDefaultTextFormatAtBothLevels) {
  const std::string text = text_line("204 - 154 0 226 100", "tcp://10.0.2.1:80");
  EXPECT_TRUE(looks_like_envoy(text));
  EXPECT_EQ(read_envoy(text, {}, true).rows,
            "replied 100ms 10.0.2.1:80 route=/api/v1/locations/:id start=1460751420310000000 +call\n");
  EXPECT_EQ(read_envoy(text, calls()).rows, "replied 226ms 10.0.2.1:80 +call\n");
}

TEST(Envoy, ReadsIstiosTextFormatWithDetailsBetween) {
  const std::string text =
      "[2020-11-25T21:26:18.409Z] \"GET /status/418 HTTP/1.1\" 418 - via_upstream - \"-\" 0 135 3 1 \"-\" "
      "\"curl/7.73.0-DEV\" \"84961386\" \"httpbin:8000\" \"127.0.0.1:80\" inbound|8000|| 127.0.0.1:41854 "
      "10.44.1.27:80 10.44.1.23:37652 outbound_.8000_._.httpbin default\n";
  ReadOptions options;
  options.group_by = "route_name";
  EXPECT_EQ(read_envoy(text, options).rows, "replied 1ms 127.0.0.1:80 group=default +call\n");
}

TEST(Envoy, ReadsJsonKeysInAnyOrderAndStringsForNumbers) {
  const std::string text = json_line("200", "-", "11", "9", "\"10.42.0.82:8080\"") +
                           json_line("\"200\"", "-", "\"12\"", "\"8\"", "\"10.42.0.82:8080\"") +
                           json_line("200", "-", "13", "null", "\"10.42.0.82:8080\"");
  EXPECT_TRUE(looks_like_envoy(text));
  const Read read = read_envoy(text, {}, true);
  EXPECT_EQ(read.rows,
            "replied 9ms 10.42.0.82:8080 route=/a/:id start=1769218476743000000 +call\n"
            "replied 8ms 10.42.0.82:8080 route=/a/:id start=1769218476743000000 +call\n"
            "replied 13ms 10.42.0.82:8080 route=/a/:id start=1769218476743000000 +call\n");
  EXPECT_EQ(read.notes.size(), 1U);
}

TEST(Envoy, LooksThroughThePrefixesOfContainerLogs) {
  const std::string line = text_line("200 - 0 512 30 15");
  const std::string text = "2026-01-24T01:37:00.000000000+00:00 stdout F " + line +
                           "2026-01-24T01:37:00.000000000+00:00 stdout F " +
                           json_line("200", "-", "20", "null", "\"b:1\"") +
                           "2026-01-24T01:37:00.000000000Z " + line + "[pod/web-1/envoy] " + line +
                           "2026-01-24T01:37:00.000Z stdout P " + line;
  EXPECT_TRUE(looks_like_envoy(text));
  const Read read = read_envoy(text);
  EXPECT_EQ(read.rows,
            "replied 15ms 10.0.2.1:80 +call\nreplied 20ms b:1 +call\nreplied 15ms 10.0.2.1:80 +call\n"
            "replied 15ms 10.0.2.1:80 +call\n");
  EXPECT_EQ(read.set_aside, "part of a line of a container's log: 1, line 5\n");
}

struct Flagged {
  const char* line;
  const char* attempt;
  const char* call;
};

TEST(Envoy, JudgesByFlagsBeforeTheStatus) {
  const Flagged cases[] = {
      {"504 UT 0 24 15000 -", "timed_out 15s", "timed_out 15s"},
      {"0 DC 0 0 2000 -", "abandoned 2s", "abandoned 2s"},
      {"200 DC 0 0 2000 900", "abandoned 2s", "abandoned 2s"},
      {"503 UC 0 95 301 -", "reset 301ms", "reset 301ms"},
      {"503 UF 0 91 1998 -", "refused 1998ms", "refused 1998ms"},
      {"503 UF,URX 0 91 5 -", "refused 5ms", "refused 5ms"},
      {"504 UT,URX 0 91 5000 -", "timed_out 5s", "timed_out 5s"},
      {"503 URX 0 91 50 20", "rejected 20ms", "rejected 50ms"},
      {"503 UO 0 81 0 -", "rejected 0s", "rejected 0s"},
      {"429 RL 0 18 1 -", "rejected 1ms", "rejected 1ms"},
      {"504 SI 0 18 300000 -", "timed_out 5m", "timed_out 5m"},
      {"503 - 0 18 7 5", "rejected 5ms", "rejected 7ms"},
      {"504 - 0 18 7000 6999", "timed_out 6999ms", "timed_out 7s"},
      {"404 - 0 18 7 5", "replied 5ms", "replied 7ms"},
      {"200 - 0 18 7 0", "replied 0s", "replied 7ms"},
  };
  for (const Flagged& each : cases) {
    EXPECT_EQ(read_envoy(text_line(each.line)).rows, std::string(each.attempt) + " 10.0.2.1:80 +call\n")
        << each.line;
    EXPECT_EQ(read_envoy(text_line(each.line), calls()).rows, std::string(each.call) + " 10.0.2.1:80 +call\n")
        << each.line;
  }
}

TEST(Envoy, KnowsTheLongNamesOfFlagsToo) {
  EXPECT_EQ(judge_envoy_flags("UpstreamRequestTimeout").ending, Ending::timed_out);
  EXPECT_EQ(judge_envoy_flags("UpstreamRetryLimitExceeded,NoHealthyUpstream").ending, Ending::refused);
  EXPECT_EQ(judge_envoy_flags("URX").ending, std::nullopt);
  EXPECT_EQ(judge_envoy_flags("-").ending, std::nullopt);
}

TEST(Envoy, SetsAsideWhatIsNoAttemptAndSaysWhy) {
  struct Case {
    std::string line;
    const char* reason;
  };
  const Case cases[] = {
      {text_line("301 - 0 0 0 -", "-"), "answered by Envoy itself, no upstream"},
      {json_line("301", "-", "0", "null", "null"), "answered by Envoy itself, no upstream"},
      {text_line("400 DPE 0 11 0 -"), "the caller broke the protocol (DPE), no call"},
      {text_line("0 - 0 11 4 -"), "no status"},
      {text_line("200 - 0 11 -4 -"), "negative duration"},
      {text_line("200 - 0 11 4 -2"), "negative duration"},
      {text_line("200 - 0 11 - -"), "no latency value"},
      {"[2016-04-15T20:17:00.310Z] \"- - -\" 0 - 154 0 226 - \"-\" \"-\" \"-\" \"-\" \"10.0.2.1:80\"\n",
       "a TCP connection, no call"},
      {"[2016-04-15T20:17:00.310Z] \"GET / HTTP/2\" 204 - 154 0 22", "not a line of Envoy's access log"},
      {"{\"response_code\":200,\"duration\":11", "not a line of Envoy's access log"},
      {"{\"level\":\"info\"}", "not a line of Envoy's access log"},
      {"[2024-01-01 00:00:00.000][1][info][main] starting", "not a line of Envoy's access log"},
      {"", "blank line"},
  };
  for (const Case& each : cases) {
    const Read read =
        read_envoy(text_line("204 - 154 0 226 100") + each.line + (each.line.ends_with("\n") ? "" : "\n"));
    EXPECT_EQ(read.rows, "replied 100ms 10.0.2.1:80 +call\n") << each.line;
    EXPECT_EQ(read.set_aside, std::string(each.reason) + ": 1, line 2\n") << each.line;
  }
}

TEST(Envoy, MeasuresCallsWithoutAnUpstreamAtTheLevelOfCalls) {
  EXPECT_EQ(read_envoy(text_line("301 - 0 0 1 -", "-"), calls()).rows, "replied 1ms +call\n");
  EXPECT_EQ(read_envoy(text_line("404 NR 0 0 1 -", "-"), calls()).rows, "rejected 1ms +call\n");
}

TEST(Envoy, GroupsByItsFieldsAndByJsonKeys) {
  ReadOptions options;
  options.group_by = ":authority";
  options.where = {{"method", "GET"}};
  const std::string text = json_line("200", "-", "11", "9", "\"b:1\"") + text_line("204 - 154 0 226 100");
  EXPECT_EQ(read_envoy(text, options).rows, "replied 9ms b:1 group=a.org +call\n");
  options.group_by = "upstream";
  EXPECT_EQ(read_envoy(text, options).rows, "replied 9ms b:1 group=b:1 +call\n");
  options.group_by = "nowhere";
  EXPECT_EQ(open_envoy(text, "envoy.log", options).error().code, ErrorCode::invalid_argument);
}

TEST(Envoy, IsNotMistakenForOtherLogs) {
  for (const char* text :
       {"latency_ms,status\n1.5,200\n", "{\"status\":200,\"duration\":1}\n", "",
        "[2024-01-01 00:00:00.000][1][info][main] starting\n",
        "1.1.1.1 - - [06/Sep/2015:05:58:05 +0900] \"GET /a HTTP/1.1\" 200 12 \"-\" \"curl\" 0.1\n"}) {
    EXPECT_FALSE(looks_like_envoy(text)) << text;
  }
}

std::string quoted_line(const std::string& quoted) {
  return "[2016-04-15T20:17:00.310Z] \"GET /a HTTP/2\" 200 - 0 24 5 4 " + quoted + "\n";
}

// Envoy escapes nothing, and a caller may send any user agent.
TEST(Envoy, FindsTheUpstreamFromTheEndOfTheLineWhereTheUserAgentHoldsQuotes) {
  const std::string plain = quoted_line(R"("-" "ua" "id" "auth:1" "a:80")");
  for (const char* agent : {R"(Mozilla "compatible" x)", R"(a" b)", R"(a" "b)", R"(a" "b" "c" "d)",
                            R"("a" "b")", R"(a\)", R"(a \" b)", R"(")", R"(" ")", R"("a:1" "b:2)", "", " "}) {
    ReadOptions options;
    options.group_by = "authority";
    const std::string fields = fmt::format(R"("10.1.1.1" "{}" "id" "auth:2" "b:80")", agent);
    const Read read = read_envoy(plain + plain + quoted_line(fields), options);
    EXPECT_EQ(read.rows,
              "replied 4ms a:80 group=auth:1 +call\nreplied 4ms a:80 group=auth:1 +call\n"
              "replied 4ms b:80 group=auth:2 +call\n")
        << agent;
    options.group_by = "route_name";
    EXPECT_EQ(
        read_envoy(plain + quoted_line(fmt::format("{} out|80|| c:1 d:2 e:3 - main", fields)), options).rows,
        "replied 4ms a:80 +call\nreplied 4ms b:80 group=main +call\n")
        << agent;
  }
}

TEST(Envoy, SetsALineAsideWhoseQuotesLeaveItsUpstreamOpen) {
  // A format with a field of its own in quotes behind the upstream.
  const std::string plain = quoted_line(R"("-" "ua" "id" "auth" "a:80" "own")");
  const Read read = read_envoy(plain + plain + quoted_line(R"("-" "u" "v" "id" "auth" "b:80" "own")") +
                               quoted_line(R"("-" "u" "id" "auth" "b:80" "own" "x")"));
  EXPECT_EQ(read.rows, "replied 4ms a:80 +call\nreplied 4ms a:80 +call\nreplied 4ms b:80 +call\n");
  EXPECT_EQ(read.set_aside, "quotes in it hide its upstream: 1, line 4\n");
  const Read alone = read_envoy(quoted_line(R"("-" "u" "v" "id" "auth" "b:80")"));
  EXPECT_EQ(alone.rows, "");
  EXPECT_EQ(alone.set_aside, "quotes in it hide its upstream: 1, line 1\n");
}

TEST(Envoy, ReadsJsonWithoutTheMethodAsCallsWhereTheCodeOrAFlagOfHttpSaysSo) {
  const auto line = [](const char* code, const char* flags, const char* more) {
    return fmt::format(
        R"({{"duration":17,"response_code":{},"response_flags":"{}","upstream_host":"a:80"{}}})", code, flags,
        more);
  };
  EXPECT_EQ(read_envoy(line("200", "-", "")).rows, "replied 17ms a:80 +call\n");
  EXPECT_EQ(read_envoy(line("\"504\"", "UT", "")).rows, "timed_out 17ms a:80 +call\n");
  EXPECT_EQ(read_envoy(line("0", "DC", "")).rows, "abandoned 17ms a:80 +call\n");
  EXPECT_EQ(read_envoy(line("0", "URX,UpstreamRequestTimeout", "")).rows, "timed_out 17ms a:80 +call\n");
  for (const std::string& connection : {line("0", "-", ""), line("0", "UF,URX", ""),
                                        line("0", "DC", ",\"method\":null"), line("null", "-", "")})
    EXPECT_EQ(read_envoy(connection).set_aside, "a TCP connection, no call: 1, line 1\n") << connection;
}

}  // namespace
}  // namespace overdue
