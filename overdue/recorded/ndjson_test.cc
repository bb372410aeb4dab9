#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "overdue/base/random.h"
#include "overdue/recorded/flat_json.h"
#include "overdue/recorded/read.h"

namespace overdue {
namespace {

using Rows = std::vector<std::string>;

struct Read {
  Result<SourceSummary> summary = fail(ErrorCode::unsupported, "");
  Rows rows;
};

Read read(std::string_view bytes, const ReadOptions& options = {}) {
  Read read;
  read.summary = read_attempts(
      bytes, "log.json", options,
      [&](std::span<const Attempt> rows, const NameTable& backends, const NameTable& routes,
          const NameTable&) {
        for (const Attempt& row : rows) {
          std::string text = std::string(kEndingNames[static_cast<std::size_t>(row.ending)]);
          text +=
              row.untimed ? " untimed" : fmt::format(" {}", static_cast<double>(row.elapsed.count()) / 1e6);
          if (row.backend != 0) text += " b=" + backends.name_of(row.backend);
          if (row.route != 0) text += " r=" + routes.name_of(row.route);
          if (row.has_start) text += fmt::format(" t={}", row.start.time_since_epoch().count());
          read.rows.push_back(text);
        }
      });
  return read;
}

std::string asides(const SourceSummary& summary) {
  std::string text;
  for (const SetAside& aside : summary.set_aside)
    text += fmt::format("{} x{} @{}; ", aside.reason, aside.count, aside.first_line);
  return text;
}

TEST(Ndjson, ReadsFlatAndNestedLines) {
  struct Case {
    std::string_view name;
    std::string_view bytes;
    std::string_view row;
  };
  const Case cases[] = {
      {"flat", "{\"latency_ms\":12.5,\"status\":200,\"upstream\":\"a:1\"}\n", "replied 12.5 b=a:1"},
      {"blanks", "{\"latency_ms\": 12.5, \"status\": 503}\r\n", "rejected 12.5"},
      {"numbers as strings", "{\"latency_ms\":\"12.5\",\"status\":\"200\"}", "replied 12.5"},
      {"nested", "{\"http\":{\"status\":200},\"latency_ms\":3}\n", "replied 3"},
      {"exponent", "{\"duration_s\":2.5e-03,\"status\":200}\n", "replied 2.5"},
      {"escaped text", "{\"path\":\"/a\\/b\",\"latency_ms\":3,\"status\":200}\n", "replied 3 r=/a/b"},
      {"ending", "{\"latency_ms\":3,\"ending\":\"reset\"}\n", "reset 3"},
      {"a status beside others of the answer", "{\"latency_ms\":3,\"res\":{\"statusCode\":503}}\n",
       "rejected 3"},
      {"a status two objects down", "{\"latency_ms\":3,\"http\":{\"response\":{\"status_code\":503}}}\n",
       "rejected 3"},
      {"somebody else's status", "{\"latency_ms\":3,\"user\":{\"status\":503}}\n", "replied 3"},
      {"a dot in a key", "{\"latency_ms\":3,\"http.status_code\":503}\n", "rejected 3"},
      {"a dot in a key of an object", "{\"http\":{\"call.duration_ms\":3,\"code\":503},\"at\":{}}\n",
       "rejected 3"},
      {"null", "{\"latency_ms\":null,\"status\":504}\n", "timed_out untimed"},
      {"Caddy",
       "{\"level\":\"info\",\"ts\":1693840791.5,\"logger\":\"http.log.access\",\"request\":{\"method\":"
       "\"GET\",\"host\":\"h\",\"uri\":"
       "\"/x?y\"},\"duration\":0.000033987,\"status\":401}\n",
       "replied 0.033987 r=/x t=1693840791499966013"},
  };
  for (const Case& c : cases) {
    const Read got = read(c.bytes);
    ASSERT_TRUE(got.summary) << c.name << ": " << got.summary.error().message;
    EXPECT_EQ(got.rows, Rows{std::string(c.row)}) << c.name;
    EXPECT_EQ(got.summary->format, Format::ndjson) << c.name;
  }
}

// OpenTelemetry's attributes are written both ways, by one program or by two whose logs were joined.
TEST(Ndjson, AFieldMayBeNestedInSomeLinesAndWrittenOutInOthers) {
  EXPECT_EQ(
      read("{\"latency_ms\":3,\"http.status\":503}\n{\"latency_ms\":4,\"http\":{\"status\":429}}\n").rows,
      (Rows{"rejected 3", "rejected 4"}));
}

TEST(Ndjson, TakesAnyFieldByMap) {
  ReadOptions options;
  options.columns = {{"latency", "call.took"}, {"status", "call.result.code"}};
  options.unit = std::chrono::microseconds(1);
  EXPECT_EQ(read("{\"call\":{\"took\":2500,\"result\":{\"code\":200}},\"status\":999}\n", options).rows,
            Rows{"replied 2.5"});
}

TEST(Ndjson, KnowsTraefikByItsFields) {
  const std::string_view bytes =
      "{\"DownstreamStatus\":200,\"Duration\":357313,\"OriginDuration\":324669,\"ServiceAddr\":\"a:1\","
      "\"StartUTC\":\"2021-12-08T14:02:"
      "43.5Z\"}\n"
      "{\"DownstreamStatus\":404,\"Duration\":10158,\"OriginDuration\":0,\"StartUTC\":\"2021-12-08T14:02:43."
      "5Z\"}\n";
  const Read attempts = read(bytes);
  EXPECT_EQ(attempts.rows, Rows{"replied 0.324669 b=a:1 t=1638972163500000000"});
  EXPECT_EQ(asides(*attempts.summary), "no upstream was contacted x1 @2; ");
  EXPECT_EQ(attempts.summary->vantage, Vantage::proxy);
  ReadOptions options;
  options.level = Level::calls;
  EXPECT_EQ(read(bytes, options).rows,
            (Rows{"replied 0.357313 b=a:1 t=1638972163500000000", "replied 0.010158 t=1638972163500000000"}));
}

TEST(Ndjson, SetsAsideByReason) {
  const Read got = read(
      "{\"latency_ms\":1,\"status\":200}\n"
      "DEBUG: something else\n"
      "{\"latency_ms\":1,\"sta\n"
      "{\"latency_ms\":1,\"sta{\"latency_ms\":1,\"status\":200}\n"
      "{\"msg\":\"started\"}\n"
      "\n"
      "{\"latency_ms\":-1,\"status\":599}\n"
      "{\"latency_ms\":[1],\"status\":200}\n"
      "{\"latency_ms\":1,\"status\":200}\n");
  // The negative one is more than 1 % here.
  ASSERT_FALSE(got.summary);
  EXPECT_NE(got.summary.error().message.find("from line 7 on"), std::string::npos);
  const Read most = read(
      "{\"latency_ms\":1,\"status\":200}\n"
      "DEBUG: something else\n"
      "{\"latency_ms\":1,\"sta\n"
      "{\"latency_ms\":1,\"sta{\"latency_ms\":1,\"status\":200}\n"
      "{\"msg\":\"started\"}\n"
      "\n"
      "{\"latency_ms\":[1],\"status\":200}\n"
      "{\"latency_ms\":1,\"status\":200}\n");
  ASSERT_TRUE(most.summary);
  EXPECT_EQ(most.rows, (Rows{"replied 1", "replied 1"}));
  EXPECT_EQ(asides(*most.summary),
            "not JSON x1 @2; JSON cut off x1 @3; JSON with a fault x1 @4; no latency, status or ending in it "
            "x1 @5; no "
            "latency value x1 @7; ");
}

// Some programs write a status, an error or an ending only where a call failed.
TEST(Ndjson, ALineWithoutTheFieldThatFailuresHaveIsAReply) {
  struct Case {
    std::string_view field;
    std::string_view row;
  };
  const Case cases[] = {{"\"status\":504", "timed_out 1000"},
                        {"\"status_code\":503", "rejected 1000"},
                        {"\"ending\":\"abandoned\"", "abandoned 1000"},
                        {"\"error\":\"deadline exceeded\"", "timed_out 1000"},
                        {"\"timed_out\":true", "timed_out 1000"}};
  // The first failure is in the lines looked at closely, behind them, and behind the head of the file.
  for (const std::size_t first : {20U, 1000U, 40'000U}) {
    for (const Case& c : cases) {
      std::string log;
      for (std::size_t i = 0; i < first; ++i) log += "{\"latency_ms\":7}\n";
      log += fmt::format("{{\"latency_ms\":1000,{}}}\n{{\"latency_ms\":8}}\n", c.field);
      const Read got = read(log);
      ASSERT_TRUE(got.summary) << got.summary.error().message;
      ASSERT_EQ(got.rows.size(), first + 2) << c.field << asides(*got.summary);
      EXPECT_EQ(got.rows[first - 1], "replied 7") << c.field;
      EXPECT_EQ(got.rows[first], c.row) << first << " " << c.field;
      EXPECT_EQ(got.rows[first + 1], "replied 8") << c.field;
      EXPECT_TRUE(std::ranges::any_of(
          got.summary->notes, [](const std::string& note) { return note.starts_with("only some lines"); }))
          << first << " " << c.field;
    }
  }
}

TEST(Ndjson, ALineWithoutTheStatusThatMostHaveGotNoAnswer) {
  std::string log;
  for (int i = 0; i < 20; ++i) log += "{\"latency_ms\":7,\"status\":200}\n";
  const Read got =
      read(log + "{\"latency_ms\":1000}\n{\"latency_ms\":7,\"status\":200,\"ending\":\"reset\"}\n");
  ASSERT_EQ(got.rows.size(), 22U);
  EXPECT_EQ(got.rows[0], "replied 7");
  EXPECT_EQ(got.rows[20], "timed_out 1000");
  EXPECT_EQ(got.rows[21], "reset 7");
  EXPECT_TRUE(std::ranges::none_of(
      got.summary->notes, [](const std::string& note) { return note.starts_with("only some lines"); }));
}

TEST(Ndjson, AFieldThatIsSaidNotToBeTheStatusIsNotLookedForLater) {
  std::string log;
  for (int i = 0; i < 40'000; ++i) log += "{\"latency_ms\":7}\n";
  ReadOptions options;
  options.columns["status"] = "";
  const Read got = read(log + "{\"latency_ms\":9,\"status\":504}\n", options);
  EXPECT_EQ(got.rows.back(), "replied 9");
}

TEST(Ndjson, RefusesWhatHasNoUnitOrNoCalls) {
  EXPECT_NE(read("{\"latency\":1,\"status\":200}\n").summary.error().message.find("unit_unclear:"),
            std::string::npos);
  EXPECT_NE(read("{\"avg\":1,\"min\":1,\"max\":2}\n").summary.error().message.find("cannot be merged"),
            std::string::npos);
  EXPECT_NE(read("{\n \"latency_ms\": 1\n}\n").summary.error().message.find("one JSON document"),
            std::string::npos);
}

// Flat lines are read by their keys' text, the same lines with an object more by a parser: they must agree.
TEST(Ndjson, ReadsFlatLinesAsTheParserDoes) {
  Random random(5);
  std::string flat;
  std::string nested;
  for (int i = 0; i < 2000; ++i) {
    std::string fields = fmt::format(
        "\"latency_ms\":{}.{},\"note\":\"{}\",\"status\":{},\"upstream\":\"{}\"", random.below(10'000),
        random.below(1000), std::string(random.below(70), 'x'), 100 + random.below(600),
        std::string(random.below(30), static_cast<char>('a' + random.below(26))));
    if (random.below(20) == 0) fields = fmt::format("\"status\":{}", random.below(600));
    flat += '{' + fields + "}\n";
    nested += '{' + fields + ",\"more\":{}}\n";
  }
  const Read one = read(flat);
  const Read other = read(nested);
  ASSERT_TRUE(one.summary && other.summary);
  EXPECT_EQ(one.rows, other.rows);
  EXPECT_EQ(asides(*one.summary), asides(*other.summary));
}

TEST(FlatJson, CallsALineFlatOnlyWithoutObjectsListsAndBackslashes) {
  const auto flat = [](std::string line) {
    line.resize(line.size() + 64, '{');
    const LineShape shape = shape_of_line(line.data(), line.size() - 64);
    return shape.flat ? static_cast<int>(shape.size) : -1;
  };
  EXPECT_EQ(flat("{\"a\":1}"), 7);
  EXPECT_EQ(flat("{\"a\":1}\n{\"b\":{}}\n"), 7);
  EXPECT_EQ(flat("{\"abcdefghijklmnopq\":1}\n{"), 23);
  EXPECT_EQ(flat("{\"a\":[1]}\n"), -1);
  EXPECT_EQ(flat("{\"abcdefghijklmnopqrstuv\":{}}\n"), -1);
  EXPECT_EQ(flat("{\"a\":\"\\n\"}\n"), -1);
  EXPECT_EQ(flat(" {\"a\":1}\n"), -1);
  EXPECT_EQ(flat("x"), -1);
}

// Found by fuzzing: the method is recognised and not read, and the slow way asked for it all the same. The
// method stands last among the names, past the fields that are read.
TEST(Ndjson, AMethodThatNobodyAskedForIsNotLookedAt) {
  std::uint64_t rows = 0;
  const auto take = [&rows](std::span<const Attempt> batch, const NameTable&, const NameTable&,
                            const NameTable&) { rows += batch.size(); };
  ReadOptions options;
  options.format = Format::ndjson;
  const auto summary = read_attempts("{\"latency_ms\":250,\"status\":20,\"request\":{\"method\":\"GET\"}}\n",
                                     "methods", options, take);
  EXPECT_FALSE(summary.has_value());  // 20 is no status: the one line is set aside, and nothing is left.
  EXPECT_EQ(rows, 0u);
}

TEST(Ndjson, ReadsThePointsOfK6ThatAreCallsWithTheirStartsBeforeTheirEnds) {
  const auto point = [](std::string_view metric, std::string_view value, std::string_view status) {
    return fmt::format(
        R"({{"metric":"{}","type":"Point","data":{{"time":"1970-01-01T02:00:10.5+02:00","value":{},"tags":)"
        R"({{"error":"x","error_code":"1050","method":"GET","name":"/a?b","status":"{}"}}}}}})"
        "\n",
        metric, value, status);
  };
  const std::string text =
      R"({"type":"Metric","data":{"name":"http_req_duration","type":"trend","contains":"time"},)"
      R"("metric":"http_req_duration"})"
      "\n" +
      point("http_reqs", "1", "200") + point("http_req_duration", "459.865729", "200") +
      point("http_req_waiting", "450", "200") + point("http_req_duration", "500", "503") +
      point("http_req_duration", "500", "404") + point("http_req_duration", "10000", "0") +
      point("http_req_duration", "0", "0") +
      R"({"type":"Point","data":{"time":"x","value":5},"metric":"vus"})" + "\n";
  const Read k6 = read(text);
  EXPECT_EQ(k6.rows, Rows({"replied 459.865729 r=/a t=10040134271", "rejected 500 r=/a t=10000000000",
                           "replied 500 r=/a t=10000000000", "timed_out 10000 r=/a t=500000000",
                           "timed_out untimed r=/a t=10500000000"}));
  ASSERT_TRUE(k6.summary);
  EXPECT_EQ(asides(*k6.summary), "");
  EXPECT_TRUE(k6.summary->detail.starts_with("k6, ")) << k6.summary->detail;
  EXPECT_EQ(std::ranges::count_if(k6.summary->notes, [](const auto& note) { return note.contains("k6"); }),
            2);
  // The summary at a run's end is none of them.
  EXPECT_TRUE(read("{\"metrics\":{\"http_req_duration\":{\"med\":1}}}")
                  .summary.error()
                  .message.contains("a k6 summary"));
}

}  // namespace
}  // namespace overdue
