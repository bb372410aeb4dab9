#include "overdue/recorded/nginx.h"

#include <gtest/gtest.h>

#include "overdue/recorded/collecting_sink.h"

namespace overdue {
namespace {

struct Read {
  std::string rows;
  std::string set_aside;
  SourceSummary summary;
  std::vector<Attempt> attempts;
};

Read read_nginx(const std::string& text, const ReadOptions& options, bool with_routes = false,
                bool with_starts = false) {
  auto opened = open_nginx(text, "access.log", options);
  if (!opened) {
    ADD_FAILURE() << opened.error().message;
    return {};
  }
  CollectingSink sink;
  sink.with_routes = with_routes;
  sink.with_starts = with_starts;
  // A buffer of its own, so that a sanitizer sees a byte read past what may be.
  std::vector<char> buffer(text.begin(), text.end());
  buffer.resize(text.size() + ChunkReader::kReadableAfter, 'x');
  EXPECT_EQ(opened->reader->read({buffer.data(), text.size()}, sink),
            static_cast<std::uint64_t>(std::count(text.begin(), text.end(), '\n')) +
                (text.ends_with('\n') ? 0 : 1));
  Read read{sink.text(), sink.set_aside_text(), std::move(opened->summary), {}};
  read.attempts = sink.attempts;
  return read;
}

ReadOptions with_format(std::string format, Level level = Level::attempts) {
  ReadOptions options;
  options.log_format = std::move(format);
  options.level = level;
  return options;
}

constexpr const char* kListFormat =
    "rt=$request_time ua=$upstream_addr us=$upstream_status ut=$upstream_response_time st=$status";
constexpr const char* kListLines =
    "rt=0.012 ua=10.0.0.1:80 us=200 ut=0.012 st=200\n"
    "rt=5.021 ua=10.0.0.1:80, 10.0.0.2:80 us=504, 200 ut=5.001, 0.020 st=200\n"
    "rt=0.034 ua=10.0.0.1:80 : 10.0.1.9:80 us=200 : 200 ut=0.003 : 0.031 st=200\n"
    "rt=0.874 ua=10.0.0.1:80, 10.0.0.2:80 us=502, 200 ut=-, 0.873 st=200\n"
    "rt=0.001 ua=- us=- ut=- st=304\n";
constexpr const char* kListRows =
    "replied 12ms 10.0.0.1:80 +call\n"
    "timed_out 5001ms 10.0.0.1:80 +call\n"
    "replied 20ms 10.0.0.2:80\n"
    "replied 3ms 10.0.0.1:80 +call\n"
    "replied 31ms 10.0.1.9:80\n"
    "rejected untimed 10.0.0.1:80 +call\n"
    "replied 873ms 10.0.0.2:80\n";

// Field case C21.
TEST(Nginx, ReadsEachUpstreamOfAListAsAnAttemptChargedToItsOwnServer) {
  const Read read = read_nginx(kListLines, with_format(kListFormat));
  EXPECT_EQ(read.rows, kListRows);
  EXPECT_EQ(read.set_aside, "answered by nginx itself, no upstream: 1, line 5\n");
  EXPECT_EQ(read.summary.vantage, Vantage::proxy);
  EXPECT_FALSE(read.summary.level_is_fixed);
}

TEST(Nginx, ReadsListsOfKeyedLinesWithoutBeingToldTheFormat) {
  EXPECT_EQ(read_nginx(kListLines, {}).rows, kListRows);
  EXPECT_TRUE(looks_like_nginx(kListLines));
}

TEST(Nginx, MeasuresWholeCallsByTheRequestTime) {
  const Read read = read_nginx(kListLines, with_format(kListFormat, Level::calls));
  EXPECT_EQ(read.rows,
            "replied 12ms 10.0.0.1:80 +call\nreplied 5021ms +call\nreplied 34ms +call\nreplied 874ms +call\n"
            "replied 1ms +call\n");
  EXPECT_EQ(read.set_aside, "");
}

// Field case C22: the wait of a caller who left is the request time, whatever stands for the upstream.
TEST(Nginx, CensorsACallItsCallerLeftAtTheRequestTime) {
  const char* const format = "st=$status rt=$request_time ut=$upstream_response_time";
  for (const Level level : {Level::attempts, Level::calls}) {
    for (const char* upstream : {"2.000", "-", "0.000"}) {
      EXPECT_EQ(read_nginx("st=200 rt=0.100 ut=0.100\nst=499 rt=2.000 ut=" + std::string(upstream) + "\n",
                           with_format(format, level))
                    .rows,
                "replied 100ms +call\nabandoned 2s +call\n")
          << upstream;
    }
  }
  EXPECT_EQ(read_nginx("st=499 rt=0.003\n", with_format("st=$status rt=$request_time")).rows,
            "abandoned 3ms +call\n");
}

struct Attempted {
  const char* fields;
  const char* rows;
};

TEST(Nginx, JudgesAnAttemptByItsStatusAndByHowFarItCame) {
  const char* const format =
      "$status $request_time|$upstream_addr|$upstream_status|$upstream_response_time|$upstream_connect_time|"
      "$upstream_header_time";
  const Attempted cases[] = {
      // 502: never connected, connected without an answer, answered so by the upstream itself.
      {"502 0.001|a:1|502|0.001|-|-", "refused 1ms a:1 +call\n"},
      {"502 0.301|a:1|502|0.300|0.001|-", "reset 300ms a:1 connect=1ms +call\n"},
      {"502 0.301|a:1|502|0.300|0.001|0.300", "rejected 300ms a:1 connect=1ms +call\n"},
      {"503 0.301|a:1|503|0.300|0.001|0.300", "rejected 300ms a:1 connect=1ms +call\n"},
      {"429 0.003|a:1|429|0.002|0.001|0.002", "rejected 2ms a:1 connect=1ms +call\n"},
      {"404 0.003|a:1|404|0.002|0.001|0.002", "replied 2ms a:1 connect=1ms +call\n"},
      {"504 60.001|a:1|504|60.000|0.001|-", "timed_out 1m a:1 connect=1ms +call\n"},
      // The caller left during the second attempt: that one waited for what the first had left.
      {"499 7.000|a:1, b:1|504, -|5.000, -|0.001, 0.001|-, -",
       "timed_out 5s a:1 connect=1ms +call\nabandoned 2s b:1 connect=1ms\n"},
      {"499 7.000|a:1, b:1|504, -|5.000, 1.998|0.001, -|-, -",
       "timed_out 5s a:1 connect=1ms +call\nabandoned 2s b:1\n"},
      // A reply that was whole long before the caller left is a reply; one cut off with it is not.
      {"499 2.000|a:1|200|0.100|0.001|0.050", "replied 100ms a:1 connect=1ms +call\n"},
      {"499 2.000|a:1|200|1.999|0.001|0.050", "abandoned 2s a:1 connect=1ms +call\n"},
      {"499 2.000|a:1|503|0.100|0.001|0.050", "rejected 100ms a:1 connect=1ms +call\n"},
      // No server of the group could be tried: the group's name stands alone.
      {"502 0.000|backend|502|0.000|-|-", "refused 0s backend +call\n"},
      {"502 5.000|a:1, backend|504, 502|5.000, 0.000|-, -|-, -",
       "timed_out 5s a:1 +call\nrefused 0s backend\n"},
      // The request time may be less than the upstream's: two clocks.
      {"200 0.010|a:1|200|0.012|0.000|0.012", "replied 12ms a:1 connect=0s +call\n"},
      {"200 0.010|[2001:db8::1]:80, [2001:db8::2]:80|502, 200|0.001, 0.009|-, 0.001|-, 0.009",
       "refused 1ms [2001:db8::1]:80 +call\nreplied 9ms [2001:db8::2]:80 connect=1ms\n"},
      {"200 0.010|unix:/run/app.sock : unix:/run/b.sock|200 : 200|0.001 : 0.009|0.000 : 0.000|0.001 : 0.009",
       "replied 1ms unix:/run/app.sock connect=0s +call\nreplied 9ms unix:/run/b.sock connect=0s\n"},
  };
  for (const Attempted& each : cases) {
    EXPECT_EQ(read_nginx(each.fields, with_format(format)).rows, each.rows) << each.fields;
  }
}

TEST(Nginx, SetsAsideWhatCannotBeMeasuredAndSaysWhy) {
  const Attempted cases[] = {
      {"rt=1.000 ua=a:1, b:1 us=504, 200 ut=1.000 st=200", "upstream lists of different lengths"},
      {"rt=1.000 ua=a:1 us=504, 200 ut=1.000 st=200", "upstream lists of different lengths"},
      {"rt=-0.412 ua=a:1 us=200 ut=0.012 st=200", "negative duration"},
      {"rt=0.412 ua=a:1 us=200 ut=-0.012 st=200", "negative duration"},
      {"rt=0.412 ua=a:1, b:1 us=504, 200 ut=0.400, -0.012 st=200", "negative duration"},
      {"rt=0.412 ua=a:1 us=200 ut=- st=200", "reply without a time"},
      {"rt=0.412 ua=a:1 us=200 ut=0.4x2 st=200", "no latency value"},
      {"rt=0.412 ua=a:1 us=200", "not of the log_format"},
      {"2023/03/08 16:02:40 [error] 31#31: *569 upstream timed out", "line of an error log"},
      {"", "blank line"},
  };
  for (const Attempted& each : cases) {
    const Read read =
        read_nginx(std::string("rt=0.012 ua=10.0.0.1:80 us=200 ut=0.012 st=200\r\n") + each.fields + "\r\n",
                   with_format(kListFormat));
    EXPECT_EQ(read.rows, "replied 12ms 10.0.0.1:80 +call\n") << each.fields;
    EXPECT_EQ(read.set_aside, std::string(each.rows) + ": 1, line 2\n") << each.fields;
  }
}

TEST(Nginx, StartsAttemptsOneAfterTheOtherBeforeTheLoggedEnd) {
  const Read read = read_nginx("1441519085.500 rt=5.100 ua=a:1, b:1 us=504, 200 ut=5.000, 0.020 st=200\n",
                               with_format("$msec rt=$request_time ua=$upstream_addr us=$upstream_status "
                                           "ut=$upstream_response_time st=$status"),
                               false, true);
  EXPECT_EQ(read.rows,
            "timed_out 5s a:1 start=1441519080400000000 +call\nreplied 20ms b:1 start=1441519085400000000\n");
  EXPECT_TRUE(read.summary.has_start_times);
}

TEST(Nginx, ReadsTimesOfDayInEveryFormNginxWrites) {
  for (const char* each :
       {"$time_local|06/Sep/2015:05:58:05 +0900", "$time_iso8601|2015-09-06T05:58:05+09:00",
        "[$time_local]|[06/Sep/2015:05:58:05 +0900]", "$msec|1441486685.000"}) {
    const std::string text = each;
    const std::size_t bar = text.find('|');
    const Read read = read_nginx(text.substr(bar + 1) + " 200 1.000",
                                 with_format(text.substr(0, bar) + " $status $request_time"), false, true);
    EXPECT_EQ(read.rows, "replied 1s start=1441486684000000000 +call\n") << each;
  }
}

TEST(Nginx, FindsFieldsBehindQuotesEscapesAndBlanks) {
  const char* const format =
      R"(log_format main '$remote_addr [$time_local] "$request" $status "$http_user_agent" '
         "rt=$request_time;";)";
  EXPECT_EQ(
      read_nginx(
          R"(::1 [06/Sep/2015:05:58:05 +0900] "GET /a b c?x=1 HTTP/1.1" 200 "x\x22 rt=9.000; \x22" rt=0.005;)"
          "\n"
          R"(::1 [06/Sep/2015:05:58:05 +0900] "GET /\x22q\x22 HTTP/1.1" 200 "say \"rt=9\" twice" rt=0.006;)"
          "\n"
          R"(::1 [06/Sep/2015:05:58:05 +0900] "-" 400 "" rt=0.007;)"
          "\n"
          R"(::1 [06/Sep/2015:05:58:05 +0900] "\x16\x03\x01" 400 "-" rt=0.008;)"
          "\n",
          with_format(format), true)
          .rows,
      "replied 5ms route=/a b c +call\nreplied 6ms route=/\\x22q\\x22 +call\nreplied 7ms +call\n"
      "replied 8ms +call\n");
}

TEST(Nginx, FindsFieldsThatHoldTheBlankThatEndsThem) {
  EXPECT_EQ(
      read_nginx(
          "06/Sep/2015:05:58:05 +0900 GET /a b HTTP/1.1 200 0.005 a:1, b:1 : c:1 0.001, 0.002 : 0.003 x\n",
          with_format(
              "$time_local $request $status $request_time $upstream_addr $upstream_response_time $host"),
          true)
          .rows,
      "rejected 1ms a:1 route=/a b +call\nreplied 2ms b:1 route=/a b\nreplied 3ms c:1 route=/a b\n");
  EXPECT_EQ(
      read_nginx("a:1, b:1,0.001, 0.002,200\n", with_format("$upstream_addr,$upstream_response_time,$status"))
          .rows,
      "rejected 1ms a:1 +call\nreplied 2ms b:1\n");
}

TEST(Nginx, FindsFieldsOfJsonStyleFormats) {
  const char* const format =
      R"(log_format j escape=json '{"t":"$time_iso8601","uri":"${request_uri}","ua":"$http_user_agent",'
         '"status":$status,"rt":$request_time,"urt":"$upstream_response_time","up":"$upstream_addr"}';)";
  EXPECT_EQ(
      read_nginx(
          R"({"t":"2015-09-06T05:58:05+09:00","uri":"/o/12?x","ua":"a\",\"status\":1","status":200,"rt":0.030,)"
          R"("urt":"0.010, 0.020","up":"a:1, b:1"})",
          with_format(format), true)
          .rows,
      "rejected 10ms a:1 route=/o/:id +call\nreplied 20ms b:1 route=/o/:id\n");
}

TEST(Nginx, ReadsLtsvWithLabelsInAnyOrderAndSomeMissing) {
  const std::string text =
      "time:2015-09-06T05:58:05+09:00\tmethod:POST\turi:/"
      "foo?token=1\tstatus:200\tsize:12\tapptime:0.057\tua:UA1\n"
      "time:2015-09-06T05:58:06+09:00\tmethod:GET\turi:/foo\tstatus:400\tsize:15\tapptime:-\tua:UA2\n"
      "time:2015-09-06T05:58:07+09:00\tstatus:504\tapptime:60.000\n"
      "time:2015-09-06T05:58:08+09:00\tstatus:200\treqtime:0.321\n"
      "time:2015-09-06T05:58:09+09:00\tstatus:200\n"
      "not a line of labels\n";
  EXPECT_TRUE(looks_like_nginx(text));
  const Read read = read_nginx(text, {}, true);
  EXPECT_EQ(read.rows, "replied 57ms route=/foo +call\ntimed_out 1m +call\nreplied 321ms +call\n");
  EXPECT_EQ(read.set_aside,
            "answered by nginx itself, no upstream: 1, line 2\nno latency value: 1, line 5\n"
            "not of the log_format: 1, line 6\n");
}

// The shape of ingress-nginx's default log, with its error log between.
TEST(Nginx, KnowsTheDefaultLogOfIngressNginx) {
  const std::string text =
      "2023/03/08 16:02:40 [error] 31#31: *569 upstream timed out while connecting to upstream\n"
      R"x(10.1.1.1 - - [08/Mar/2023:16:02:45 +0000] "GET / HTTP/1.1" 504 562 "-" "Mozilla/5.0 (X11)" 1100 14.998 )x"
      "[dev-web-80] [] 10.2.0.1:80, 10.2.0.1:80, 10.2.0.2:80 0, 0, 0 5.000, 5.000, 5.000 504, 504, 504 "
      "a7c98d\n"
      R"(10.1.1.1 - - [08/Mar/2023:16:02:46 +0000] "GET /x HTTP/1.1" 404 146 "-" "curl/7" 80 0.000 [] [] - - - - ff00)"
      "\n"
      R"(10.1.1.1 - - [08/Mar/2023:16:02:46 +0000] "GET /x HTTP/1.1" 200 146 "-" "curl/7" 80 0.004 [dev-web-80] [] )"
      "10.2.0.1:80 12 0.004 200 ff01\n";
  EXPECT_TRUE(looks_like_nginx(text));
  const Read read = read_nginx(text, {});
  EXPECT_EQ(read.rows,
            "timed_out 5s 10.2.0.1:80 +call\ntimed_out 5s 10.2.0.1:80\ntimed_out 5s 10.2.0.2:80\n"
            "replied 4ms 10.2.0.1:80 +call\n");
  EXPECT_EQ(read.set_aside,
            "answered by nginx itself, no upstream: 1, line 3\nline of an error log: 1, line 1\n");
  ReadOptions calls;
  calls.level = Level::calls;
  EXPECT_EQ(read_nginx(text, calls).rows,
            "timed_out 14998ms +call\nreplied 0s +call\nreplied 4ms 10.2.0.1:80 +call\n");
}

struct Tail {
  const char* tail;
  const char* rows;
};

TEST(Nginx, KnowsTheTimesBehindACombinedLine) {
  const std::string combined =
      R"(127.0.0.1 - - [06/Sep/2015:05:58:05 +0900] "GET /a HTTP/1.1" 200 12 "-" "curl/7.54.0")";
  const Tail tails[] = {
      {" 0.057", "replied 57ms +call\n"},
      {" \"-\" 0.057", "replied 57ms +call\n"},
      {" \"0.057\"", "replied 57ms +call\n"},
      {" 0.060 0.057", "replied 57ms +call\n"},
      {" \"0.060\" \"0.057\"", "replied 57ms +call\n"},
      {" 0.057 0.060", "replied 57ms +call\n"},
      {" rt=0.060", "replied 60ms +call\n"},
      {" rt=0.060 uct=0.001 uht=0.050 urt=0.057", "replied 57ms connect=1ms +call\n"},
      {" rt=0.060 uct=\"0.001\" uht=\"0.050\" urt=\"0.057\"", "replied 57ms connect=1ms +call\n"},
      {" request_time=0.060 upstream_response_time=0.057 upstream_addr=10.0.0.1:80",
       "replied 57ms 10.0.0.1:80 +call\n"},
      {" rt=5.060, urt=5.000, 0.060, ua=a:1, b:1, us=504, 200", "timed_out 5s a:1 +call\nreplied 60ms b:1\n"},
      {" 10.0.0.1:80 200 0.060 0.057", "replied 57ms 10.0.0.1:80 +call\n"},
  };
  for (const Tail& each : tails) {
    const std::string line = combined + each.tail + "\n";
    EXPECT_TRUE(looks_like_nginx(line)) << each.tail;
    EXPECT_EQ(read_nginx(line, {}).rows, each.rows) << each.tail;
  }
}

// An unnamed time that is "-" for some requests is the upstream's: a request's time is always a number.
TEST(Nginx, TellsUnnamedTimesApartByWhatTheyHold) {
  const std::string combined =
      R"(127.0.0.1 - - [06/Sep/2015:05:58:05 +0900] "GET /a HTTP/1.1" 200 12 "-" "curl/7.54.0" "-" )";
  const Read read =
      read_nginx(combined + "0.057\n" + combined + "-\n" + combined + "0.100\n" + combined + "- 0.321\n", {});
  EXPECT_EQ(read.rows, "replied 57ms +call\nreplied 100ms +call\n");
  EXPECT_EQ(read.set_aside, "answered by nginx itself, no upstream: 2, line 2\n");
  EXPECT_EQ(read.summary.vantage, Vantage::proxy);
  EXPECT_TRUE(read.summary.level_is_fixed);
}

TEST(Nginx, DeclinesALogWithoutTimesWithTheLineToAdd) {
  for (const char* text :
       {"127.0.0.1 - - [06/Sep/2015:05:58:05 +0900] \"GET /a HTTP/1.1\" 200 12 \"-\" \"curl/7.54.0\"\n",
        "127.0.0.1 - - [06/Sep/2015:05:58:05 +0900] \"GET /a HTTP/1.1\" 200 12\n"}) {
    EXPECT_TRUE(looks_like_nginx(text));
    const auto opened = open_nginx(text, "access.log", {});
    ASSERT_FALSE(opened.has_value());
    EXPECT_EQ(opened.error().code, ErrorCode::unsupported);
    EXPECT_TRUE(opened.error().message.ends_with(kNginxTimedLogFormat)) << opened.error().message;
  }
  const auto opened = open_nginx("", "access.log", with_format("combined"));
  ASSERT_FALSE(opened.has_value());
  EXPECT_EQ(opened.error().code, ErrorCode::unsupported);
  EXPECT_NE(opened.error().message.find("rt=$request_time"), std::string::npos);
}

TEST(Nginx, ReadsWhatTheLineItAsksForWrites) {
  const std::string line =
      R"(10.1.1.1 - - [29/Nov/2026:10:00:00 +0000] "GET /o/77?x HTTP/1.1" 200 12 "-" "curl/7 \x22 rt=1.000" rt=5.021 )"
      R"(ua="10.0.0.1:80, 10.0.0.2:80" us="504, 200" urt="5.001, 0.020" uct="0.001, 0.002" uht="-, 0.019" ms=1795946400.250)"
      "\n";
  const char* const rows =
      "timed_out 5001ms 10.0.0.1:80 connect=1ms route=/o/:id start=1795946395229000000 +call\n"
      "replied 20ms 10.0.0.2:80 connect=2ms route=/o/:id start=1795946400230000000\n";
  EXPECT_EQ(read_nginx(line, with_format(std::string(kNginxTimedLogFormat)), true, true).rows, rows);
  EXPECT_EQ(read_nginx(line, {}, true, true).rows, rows);
}

TEST(Nginx, ReadsOnlyRequestTimesAsAServersOwnCallsUnlessToldOtherwise) {
  const std::string line = "504 60.000\n";
  const Read server = read_nginx(line, with_format("$status $request_time"));
  EXPECT_EQ(server.rows, "rejected 1m +call\n");
  EXPECT_EQ(server.summary.vantage, Vantage::server);
  EXPECT_TRUE(server.summary.level_is_fixed);
  ReadOptions options = with_format("$status $request_time");
  options.vantage = Vantage::proxy;
  EXPECT_EQ(read_nginx(line, options).rows, "timed_out 1m +call\n");
}

TEST(Nginx, GroupsAndFiltersByItsFieldsAndByVariables) {
  ReadOptions options =
      with_format("$host \"$request\" $status $request_time $upstream_addr $upstream_response_time");
  options.group_by = "host";
  options.where = {{"method", "GET"}, {"upstream", "a:1"}};
  const std::string text =
      "x.org \"GET /a/1 HTTP/1.1\" 200 0.010 a:1 0.009\n"
      "y.org \"GET /a/2 HTTP/1.1\" 200 0.020 a:1 0.019\n"
      "y.org \"PUT /a/2 HTTP/1.1\" 200 0.030 a:1 0.029\n"
      "y.org \"GET /a/2 HTTP/1.1\" 200 0.040 b:1, a:1 0.005, 0.039\n";
  EXPECT_EQ(read_nginx(text, options).rows,
            "replied 9ms a:1 group=x.org +call\nreplied 19ms a:1 group=y.org +call\nreplied 39ms a:1 "
            "group=y.org +call\n");
  options.group_by = "route";
  EXPECT_EQ(read_nginx(text, options).rows.substr(0, 34), "replied 9ms a:1 group=/a/:id +call");
  options.group_by = "nowhere";
  EXPECT_EQ(open_nginx(text, "access.log", options).error().code, ErrorCode::invalid_argument);
}

TEST(Nginx, SaysWhichLineALogFormatDoesNotFit) {
  const auto opened = open_nginx("\nGET / 200\n", "access.log", with_format("$status|$request_time"));
  ASSERT_FALSE(opened.has_value());
  EXPECT_EQ(opened.error().code, ErrorCode::unreadable_input);
  EXPECT_NE(opened.error().message.find("access.log, line 2: 'GET / 200'"), std::string::npos)
      << opened.error().message;
  EXPECT_EQ(open_nginx("", "access.log", with_format("no variables")).error().code,
            ErrorCode::invalid_argument);
  EXPECT_EQ(open_nginx("", "access.log", with_format("log_format x '$status")).error().code,
            ErrorCode::invalid_argument);
  for (const char* format : {"$status ${request_time", "$status ${request_time $x}", "$status ${}",
                             "$status $ 1", "$status $request_time$"}) {
    const auto wrong = open_nginx("200 0.1\n", "access.log", with_format(format));
    ASSERT_FALSE(wrong.has_value()) << format;
    EXPECT_EQ(wrong.error().code, ErrorCode::invalid_argument) << format;
    EXPECT_NE(wrong.error().message.find(": at '$"), std::string::npos) << wrong.error().message;
  }
}

TEST(Nginx, IsNotMistakenForOtherLogs) {
  for (const char* text : {"latency_ms,status\n1.5,200\n", "{\"status\":200,\"latency\":1}\n",
                           "[2024-02-06T15:18:17.437Z] \"GET / HTTP/1.1\" 503 UF 0 91 1998 - \"1.2.3.4\" "
                           "\"curl\" \"id\" \"host\" \"1.2.3.4:80\"\n",
                           "Jul 30 09:03:52 localhost haproxy[32450]: 1.2.3.4:38862 "
                           "[30/Jul/2018:09:03:52.726] in docs/docs 0/0/1/0/2 304 168 - - "
                           "---- 6/6/0/0/0 0/0 \"GET /a HTTP/1.1\"\n",
                           "#[Histogram log format version 1.2]\n", "start\telapsed\n1\t2\n", ""}) {
    EXPECT_FALSE(looks_like_nginx(text)) << text;
  }
}

TEST(Nginx, ReadsEveryRowAsAReplyWhereNoStatusIsLogged) {
  const std::string lines = "rt=0.012 ut=0.011\nrt=0.500 ut=0.300, 0.200\n";
  const std::string format = "rt=$request_time ut=$upstream_response_time";
  const Read attempts = read_nginx(lines, with_format(format));
  // A server after which another was asked failed, whatever it said.
  EXPECT_EQ(attempts.rows, "replied 11ms +call\nrejected 300ms +call\nreplied 200ms\n");
  EXPECT_EQ(attempts.set_aside, "");
  EXPECT_TRUE(attempts.summary.outcome_unknown);
  EXPECT_EQ(std::ranges::count_if(attempts.summary.notes,
                                  [](const auto& note) { return note.starts_with("no status is logged"); }),
            1);
  EXPECT_EQ(read_nginx(lines, with_format(format, Level::calls)).rows,
            "replied 12ms +call\nreplied 500ms +call\n");
  EXPECT_EQ(read_nginx("0.012\n0.013\n", with_format("$request_time")).rows,
            "replied 12ms +call\nreplied 13ms +call\n");
}

TEST(Nginx, TakesTheLastUpstreamsStatusForACallWhereNoOtherIsLogged) {
  const Read read = read_nginx("0.012 200\n0.013 502, 200\n0.014 200, 503\n0.015 -\n0.016 502, -\n",
                               with_format("$request_time $upstream_status", Level::calls));
  EXPECT_EQ(read.rows,
            "replied 12ms +call\nreplied 13ms +call\nrejected 14ms +call\nreplied 15ms +call\n"
            "reset 16ms +call\n");
  EXPECT_FALSE(read.summary.outcome_unknown);
}

// A format that has a status, and a line without a readable one: that is no reply.
TEST(Nginx, SetsAsideACallWithoutItsStatusWhereTheFormatHasOne) {
  const Read read = read_nginx("0.012 200\n0.013 000\n", with_format("$request_time $status"));
  EXPECT_EQ(read.rows, "replied 12ms +call\n");
  EXPECT_EQ(read.set_aside, "no status: 1, line 2\n");
}

// nginx names the group where no server of it could be tried; such a line may be the first.
TEST(Nginx, FindsTheUpstreamsBesideTheNameOfTheirGroup) {
  const std::string begin = "10.0.0.9 - - [06/Sep/2015:05:58:05 +0900] \"GET /a HTTP/1.1\" ";
  for (const char* quote : {"\"", ""}) {
    const auto line = [&](const char* status, const char* address, const char* time) {
      return begin + status + " 5 \"-\" \"c\" rt=" + time + " ua=" + quote + address + quote +
             " us=" + quote + status + quote + " urt=" + quote + time + quote + "\n";
    };
    const std::string text = line("502", "backend", "0.000") + line("200", "10.0.0.1:80", "0.012") +
                             line("502", "10.0.0.1:80, backend", "0.007, 0.000");
    const Read read = read_nginx(text, {});
    EXPECT_NE(read.rows.find("refused 0s backend"), std::string::npos) << read.rows;
    EXPECT_NE(read.rows.find("replied 12ms 10.0.0.1:80"), std::string::npos) << read.rows;
  }
}

TEST(Nginx, SaysThatThereAreNoUpstreamsToGroupBy) {
  ReadOptions options;
  options.group_by = "upstream";
  const auto opened =
      open_nginx("10.0.0.9 - - [06/Sep/2015:05:58:05 +0900] \"GET /a HTTP/1.1\" 200 5 \"-\" \"c\" 0.010\n",
                 "access.log", options);
  ASSERT_FALSE(opened);
  EXPECT_NE(opened.error().message.find("--by upstream: there is no such field; there are route"),
            std::string::npos)
      << opened.error().message;
}

}  // namespace
}  // namespace overdue
