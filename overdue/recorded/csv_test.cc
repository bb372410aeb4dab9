#include "overdue/recorded/csv.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "overdue/base/random.h"

namespace overdue {
namespace {

using std::chrono::milliseconds;

struct Read {
  Result<SourceSummary> summary = fail(ErrorCode::unsupported, "");
  std::vector<std::string> rows;  // "replied 12.1 b=a r=/x c=3 t=1700000000000000000 g=x"
};

Read read(std::string_view bytes, const ReadOptions& options = {}) {
  Read read;
  read.summary = read_attempts(
      bytes, "log.csv", options,
      [&](std::span<const Attempt> rows, const NameTable& backends, const NameTable& routes,
          const NameTable& groups) {
        for (const Attempt& row : rows) {
          std::string text = std::string(kEndingNames[static_cast<std::size_t>(row.ending)]);
          text +=
              row.untimed ? " untimed" : fmt::format(" {}", static_cast<double>(row.elapsed.count()) / 1e6);
          if (row.backend != 0) text += " b=" + backends.name_of(row.backend);
          if (row.route != 0) text += " r=" + routes.name_of(row.route);
          if (row.has_connect) text += fmt::format(" c={}", static_cast<double>(row.connect.count()) / 1e6);
          if (row.has_start) text += fmt::format(" t={}", row.start.time_since_epoch().count());
          if (row.group != 0) text += " g=" + groups.name_of(row.group);
          read.rows.push_back(text);
        }
      });
  return read;
}

using Rows = std::vector<std::string>;

std::string asides(const SourceSummary& summary) {
  std::string text;
  for (const SetAside& aside : summary.set_aside)
    text += fmt::format("{} x{} @{}; ", aside.reason, aside.count, aside.first_line);
  return text;
}

TEST(Csv, TakesAColumnOfFailuresAsTheOppositeOfOk) {
  const Read failed = read("latency_ms,Failed\n7,false\n8,true\n9,0\n10,1\n11,\n");
  EXPECT_EQ(failed.rows, Rows({"replied 7", "timed_out 8", "replied 9", "timed_out 10", "replied 11"}));
  ASSERT_TRUE(failed.summary);
  EXPECT_EQ(failed.summary->detail, "columns latency_ms as latency, Failed as not ok");
  EXPECT_FALSE(failed.summary->outcome_unknown);
  const Read error = read("latency_ms,error\n7,\n8,connection lost\n9,-\n10,error\n11,null\n");
  EXPECT_EQ(error.rows, Rows({"replied 7", "reset 8", "replied 9", "timed_out 10", "replied 11"}));
  // What says more goes first.
  EXPECT_EQ(read("latency_ms,error,status\n7,x,200\n").rows, Rows({"replied 7"}));
  ReadOptions no_ok;
  no_ok.columns["ok"] = "";
  EXPECT_EQ(read("latency_ms,error\n7,x\n", no_ok).rows, Rows({"replied 7"}));
}

TEST(Csv, SaysThatNothingInItTellsHowACallEnded) {
  const auto unknown = [](std::string_view bytes) { return read(bytes).summary.value().outcome_unknown; };
  EXPECT_TRUE(unknown("latency_ms,backend\n7,a\n"));
  EXPECT_FALSE(unknown("latency_ms,status\n7,200\n"));
  EXPECT_FALSE(unknown("latency_ms,ending\n7,replied\n"));
  EXPECT_FALSE(unknown("latency_ms,ok\n7,true\n"));
}

TEST(Csv, CallsWithoutAnyReplyAreCallsAllTheSame) {
  EXPECT_EQ(read("latency_ms,status\n7,408\n,0\n").rows, Rows({"timed_out 7", "timed_out untimed"}));
  EXPECT_EQ(read("latency_ms,ending\n7,refused\n,refused\n").rows, Rows({"refused 7", "refused untimed"}));
}

TEST(Csv, FindsItsColumnsByTheNamesPeopleGiveThem) {
  struct Case {
    std::string_view name;
    std::string_view bytes;
    std::string_view row;
  };
  const Case cases[] = {
      {"ms", "latency_ms\n12.5\n", "replied 12.5"},
      {"seconds", "Response Time (s);Status\n0.25;200\n", "replied 250"},
      {"camel case and tab", "url\tresponseTimeMicros\thttpStatus\n/a?b=1\t1500\t200\n", "replied 1.5 r=/a"},
      {"nanoseconds and pipe", "backend|elapsed_ns\na:1|2500000\n", "replied 2.5 b=a:1"},
      {"micro sign", "duration(\xc2\xb5s),x\n1500,\n", "replied 1.5"},
      {"units in values", "duration,code\n1.5s,200\n", "replied 1500"},
      {"bom and crlf", "\xef\xbb\xbflatency_ms,host\r\n12,a\r\n", "replied 12 b=a"},
      {"no newline at the end", "latency_ms,status\n7,200", "replied 7"},
      {"quoted header and fields", "\"latency_ms\",\"path\"\n\"7\",\"/a \"\"b\"\", c\"\n",
       "replied 7 r=/a \"b\", c"},
      {"blanks around names", "latency_ms , status\n7 , 200\n", "replied 7"},
      {"start and connect", "start_ms,connect_ms,latency_ms\n1700000000123,3,12\n",
       "replied 12 c=3 t=1700000000123000000"},
      {"iso start", "time,latency_ms\n2015-09-06T05:58:05+09:00,12\n", "replied 12 t=1441486685000000000"},
      {"relative start with a unit", "start_s,latency_ms\n1.5,12\n", "replied 12 t=1500000000"},
      {"comment first", "# made by hand\nlatency_ms,status\n7,200\n", "replied 7"},
      {"delimiter more at the end", "latency_ms,status,\n7,200,\n", "replied 7"},
      {"ab -g",
       "starttime\tseconds\tctime\tdtime\tttime\twait\nTue Mar 01 13:13:25 "
       "2016\t1456827205\t115\t117\t232\t117\n",
       "replied 232 c=115 t=1456827205000000000"},
  };
  for (const Case& c : cases) {
    const Read got = read(c.bytes);
    ASSERT_TRUE(got.summary) << c.name << ": " << got.summary.error().message;
    EXPECT_EQ(got.rows, Rows{std::string(c.row)}) << c.name;
    EXPECT_EQ(got.summary->format, Format::csv) << c.name;
  }
}

TEST(Csv, TakesAnyColumnByMap) {
  ReadOptions options;
  options.columns = {{"latency", "took"}, {"status", "2"}, {"backend", "WHERE"}};
  options.unit = milliseconds(1);
  EXPECT_EQ(read("took,x,where\n5,200,a\n6,503,b\n", options).rows,
            (Rows{"replied 5 b=a", "rejected 6 b=b"}));
  options.columns = {{"latency", "1"}};
  EXPECT_EQ(read("5,200\n6,503\n", options).rows, (Rows{"replied 5", "replied 6"}));
}

TEST(Csv, EndsRowsByEndingStatusOrOk) {
  ReadOptions limit;
  limit.limit = milliseconds(1000);
  struct Case {
    std::string_view name;
    std::string_view bytes;
    Rows rows;
    bool with_limit = false;
  };
  const Case cases[] = {
      {"DESIGN's words",
       "latency_ms,ending\n1,replied\n2,rejected\n3,refused\n4,reset\n5,timed_out\n6,abandoned\n",
       {"replied 1", "rejected 2", "refused 3", "reset 4", "timed_out 5", "abandoned 6"}},
      {"ending before status", "latency_ms,status,ending\n1,200,reset\n", {"reset 1"}},
      {"http",
       "latency_ms,status\n1,200\n2,301\n3,404\n4,408\n5,429\n6,499\n7,500\n8,503\n9,504\n",
       {"replied 1", "replied 2", "replied 3", "timed_out 4", "rejected 5", "abandoned 6", "rejected 7",
        "rejected 8", "timed_out 9"}},
      {"no answer",
       "latency_ms,status\n1,200\n1000,0\n-,\n-1,0\n",
       {"replied 1", "timed_out 1000", "timed_out untimed", "timed_out untimed"}},
      {"no answer, at the limit",
       "latency_ms,status\n1,200\n1000,0\n-,\n",
       {"replied 1", "timed_out 1000", "timed_out 1000"},
       true},
      {"grpc",
       "latency_ms,grpc_code\n1,0\n2,4\n3,14\n4,5\n5,1\n",
       {"replied 1", "timed_out 2", "rejected 3", "replied 4", "abandoned 5"}},
      {"words",
       "latency_ms,status\n1,OK\n2,DEADLINE_EXCEEDED\n3,Unavailable\n4,timeout\n",
       {"replied 1", "timed_out 2", "rejected 3", "timed_out 4"}},
      {"resets without a time", "latency_ms,ending\n1,replied\n-,reset\n", {"replied 1", "reset untimed"}},
      {"JMeter",
       "timeStamp,elapsed,label,responseCode,success\n1532376558110,16,a,200,true\n1532376558110,17,a,200,"
       "false\n"
       "1532376558110,18,a,Non HTTP response code: java.net.SocketTimeoutException,false\n",
       {"replied 16 r=a t=1532376558110000000", "rejected 17 r=a t=1532376558110000000",
        "timed_out 18 r=a t=1532376558110000000"}},
  };
  for (const Case& c : cases) {
    const Read got = read(c.bytes, c.with_limit ? limit : ReadOptions{});
    ASSERT_TRUE(got.summary) << c.name << ": " << got.summary.error().message;
    EXPECT_EQ(got.rows, c.rows) << c.name;
    EXPECT_TRUE(got.summary->set_aside.empty()) << c.name << asides(*got.summary);
  }
}

// C18, and what a 0 is without a column that says so.
TEST(Csv, ReadsALostProbeStoredAsZeroAsLost) {
  const std::string_view bytes = "rtt_ms,ok\n12.1,1\n0,0\n11.8,1\n0,0\n12.4,1\n";
  ReadOptions options;
  EXPECT_EQ(read(bytes).rows,
            (Rows{"replied 12.1", "timed_out untimed", "replied 11.8", "timed_out untimed", "replied 12.4"}));
  options.limit = milliseconds(1000);
  EXPECT_EQ(read(bytes, options).rows,
            (Rows{"replied 12.1", "timed_out 1000", "replied 11.8", "timed_out 1000", "replied 12.4"}));
  EXPECT_EQ(read("rtt_ms,ok\n0,1\n12,1\n").rows, (Rows{"replied 0", "replied 12"}));
  const Read without = read("rtt_ms\n0\n12\n");
  EXPECT_EQ(without.rows, (Rows{"replied 0", "replied 12"}));
  ASSERT_EQ(without.summary->notes.size(), 1U);
  EXPECT_NE(without.summary->notes[0].find("--map ok=COLUMN"), std::string::npos);
  EXPECT_TRUE(read("rtt_ms\n1\n12\n").summary->notes.empty());
}

TEST(Csv, SetsAsideByReasonAndFirstLineAndAccountsForEveryLine) {
  const std::string bytes =
      "latency_ms,status,backend\n"  // 1
      "10,200,a\n"
      "abc,200,a\n"  // 3
      "\n"
      "10,200\n"         // 5
      "10,200,a,b\n"     // 6
      "-,200,a\n"        // 7
      "10,whatever,a\n"  // 8
      "10,200,\"a\n"     // 9
      "abd,200,a\n"
      "latency_ms,status,backend\n"
      "# the end\n" +
      std::string("1\0,200,a\n", 9);
  const Read got = read(bytes);
  ASSERT_TRUE(got.summary);
  EXPECT_EQ(got.rows, Rows{"replied 10 b=a"});
  EXPECT_EQ(asides(*got.summary),
            "latency is no number x3 @3; fewer fields than the header x1 @5; more fields than the header x1 "
            "@6; no latency "
            "value x1 @7; unknown status x1 @8; quote not closed on its line x1 @9; ");
  EXPECT_EQ(got.summary->lines, 13U);  // One row, 8 set aside, a header twice, a blank and a comment.
}

TEST(Csv, SetsAsideAnEndingThatIsNoneOfOurWords) {
  const Read got = read("latency_ms,ending\n1,replied\n2,exploded\n");
  EXPECT_EQ(asides(*got.summary), "unknown ending word x1 @3; ");
}

// C26.
TEST(Csv, SetsAsideImpossibleDurationsAndStopsWhereTheyAreMany) {
  std::string few = "latency_ms\n";
  for (int i = 0; i < 995; ++i) few += fmt::format("{}\n", 20 + i % 11);
  few += "-412\n-407\n-398\n431\n428\n";
  const Read got = read(few);
  ASSERT_TRUE(got.summary);
  EXPECT_EQ(got.rows.size(), 997U);
  EXPECT_EQ(asides(*got.summary), "negative duration x3 @997; ");
  const Read all = read("latency_ms\n-412\n-407\n");
  EXPECT_NE(all.summary.error().message.find("operands swapped?"), std::string::npos);
  const Read many = read("latency_ms\n-412\n407\n");
  EXPECT_NE(many.summary.error().message.find("above 1 %"), std::string::npos);
}

// C05.
TEST(Csv, DoubtsAUnitThatIsOffByAThousand) {
  const Read got = read("api_duration_seconds\n455\n450\n460\n455\n");
  ASSERT_TRUE(got.summary);
  EXPECT_EQ(got.rows[0], "replied 455000");
  EXPECT_EQ(got.summary->unit_doubt.substr(0, 38), "likely ms recorded as s (455 ms): half");
  ReadOptions told;
  told.unit = milliseconds(1);
  const Read settled = read("api_duration_seconds\n455\n450\n460\n455\n", told);
  EXPECT_EQ(settled.rows[0], "replied 455");
  EXPECT_EQ(settled.summary->unit_doubt, "");
  EXPECT_EQ(read("duration_seconds\n20\n29\n25\n").summary->unit_doubt, "");
  EXPECT_NE(read("latency_ms\n0.001\n0.0012\n0.0014\n").summary->unit_doubt, "");
}

TEST(Csv, RefusesWithWhatWouldBeRight) {
  struct Case {
    std::string_view name;
    std::string bytes;
    ErrorCode code;
    std::string_view message;
  };
  const Case cases[] = {
      {"empty", "", ErrorCode::unreadable_input, "is empty"},
      {"header only", "latency_ms,status\n", ErrorCode::unreadable_input, "has 1 lines and no calls"},
      {"unit unclear", "latency,status\n5,200\n", ErrorCode::unsupported, "unit_unclear:"},
      {"no header", "5,200\n6,200\n", ErrorCode::unreadable_input, "--map latency="},
      {"no latency", "a,status\n6,200\n", ErrorCode::unreadable_input,
       "no column is known to be the latency"},
      {"two latencies", "latency_ms,duration_ms\n6,200\n", ErrorCode::unreadable_input,
       "--map latency=latency_ms"},
      {"percentiles", "time,latency_p50_ms,latency_p99_ms\n1,2,3\n", ErrorCode::unsupported,
       "cannot be merged"},
      {"metrics", "collected,value,metric\n2020-08-28 21:34:57,3.3,avg_latency\n", ErrorCode::unsupported,
       "samples of metrics"},
      {"nothing usable", "latency_ms\nx\n", ErrorCode::unreadable_input,
       "latency is no number: 1 (first on line 2: 'x'; right are 12.5 and 12.5ms"},
  };
  for (const Case& c : cases) {
    const Read got = read(c.bytes);
    ASSERT_FALSE(got.summary) << c.name;
    EXPECT_EQ(got.summary.error().code, c.code) << c.name;
    EXPECT_NE(got.summary.error().message.find(c.message), std::string::npos)
        << c.name << ": " << got.summary.error().message;
  }
  ReadOptions options;
  options.columns = {{"latency", "x"}};
  EXPECT_NE(read("latency_ms\n1\n", options).summary.error().message.find("there is no such column"),
            std::string::npos);
  options.columns = {{"speed", "latency_ms"}};
  EXPECT_NE(read("latency_ms\n1\n", options).summary.error().message.find("there is no 'speed'"),
            std::string::npos);
}

TEST(Csv, ARouteIsFilteredByItsTextOrByTheNameThatGroupsGiveIt) {
  const std::string_view bytes = "latency_ms,path\n1,/orders/17\n2,/orders/18?x=1\n3,/carts\n";
  const auto kept = [&](std::string_view value) {
    ReadOptions options;
    options.where = {{"route", std::string(value)}};
    return read(bytes, options).rows;
  };
  EXPECT_EQ(kept("/orders/:id"), (Rows{"replied 1 r=/orders/:id", "replied 2 r=/orders/:id"}));
  EXPECT_EQ(kept("/orders/17"), Rows{"replied 1 r=/orders/:id"});
  EXPECT_EQ(kept("/orders"), Rows{});
}

TEST(Csv, GroupsAndFilters) {
  const std::string_view bytes =
      "latency_ms,host,zone,ts\n1,a,x,1700000000\n2,b,y,1700000010\n3,a,y,1700000020\n";
  ReadOptions options;
  options.group_by = "zone";
  options.where = {{"upstream", "a"}};
  Read got = read(bytes, options);
  EXPECT_EQ(got.rows,
            (Rows{"replied 1 b=a t=1700000000000000000 g=x", "replied 3 b=a t=1700000020000000000 g=y"}));
  EXPECT_EQ(got.summary->notes, (std::vector<std::string>{"1 rows left out by --where, --since or --until"}));
  options = {};
  options.since = WallTime(std::chrono::seconds(1700000010));
  options.until = WallTime(std::chrono::seconds(1700000020));
  EXPECT_EQ(read(bytes, options).rows, Rows{"replied 2 b=b t=1700000010000000000"});
  options = {};
  options.group_by = "colour";
  EXPECT_NE(read(bytes, options)
                .summary.error()
                .message.find("--by colour: there is no such field; its columns are latency_ms, host"),
            std::string::npos);
}

// The ordinary line is read another way than one with quotes: they must agree.
TEST(Csv, ReadsPlainAndQuotedLinesAlike) {
  Random random(11);
  std::string plain = "ts,backend,status,latency_ms\n";
  std::string quoted = plain;
  for (int i = 0; i < 3000; ++i) {
    const auto status = 100 + random.below(520);
    const std::string backend(random.below(20), static_cast<char>('a' + random.below(26)));
    std::string latency = fmt::format("{}", random.below(random.below(2) == 0 ? 100 : 100'000'000));
    if (random.below(3) != 0) latency += fmt::format(".{}", random.below(100'000));
    const std::string ts = fmt::format("{}", 1'700'000'000'000 + random.below(100'000));
    plain += fmt::format("{},{},{},{}\n", ts, backend, status, latency);
    quoted += fmt::format("\"{}\",{},{},\"{}\"\r\n", ts, backend, status, latency);
  }
  const Read one = read(plain);
  const Read other = read(quoted);
  ASSERT_TRUE(one.summary && other.summary);
  EXPECT_EQ(one.rows, other.rows);
  EXPECT_EQ(asides(*one.summary), asides(*other.summary));
}

TEST(Csv, ReadsTheTimesThatGoWritesInPieces) {
  struct Case {
    std::string_view text;
    std::string_view row;
  };
  const Case cases[] = {{"1m0.001s", "replied 60001"},
                        {"1m30s", "replied 90000"},
                        {"2m0s", "replied 120000"},
                        {"1h2m3s", "replied 3723000"},
                        {"1h0m0.5s", "replied 3600500"},
                        {"1.5m", "replied 90000"},
                        {"2h", "replied 7200000"},
                        {"+1s500ms", "replied 1500"},
                        {"1ms2us3ns", "replied 1.002003"},
                        {"1m 30s", "replied 90000"},
                        {"2562047h47m16.854775807s", "replied 9223372036854.775"}};
  for (const Case& each : cases)
    EXPECT_EQ(read(fmt::format("latency\n{}\n", each.text)).rows, Rows({std::string(each.row)})) << each.text;
  for (const std::string_view text : {"2562047h47m16.854775808s", "9999999999h", "30s1m", "1m1m", "1m5", "m",
                                      "1x2s", "1..5m", "1m s", "1 2m", "-"}) {
    EXPECT_EQ(read(fmt::format("latency\n5ms\n{}\n", text)).rows, Rows({"replied 5"})) << text;
  }
  const Read negative = read("latency\n5ms\n-1m30s\n");
  ASSERT_FALSE(negative.summary);
  EXPECT_NE(negative.summary.error().message.find("negative"), std::string::npos);
  // Whatever the column's name says of plain numbers.
  EXPECT_EQ(read("latency_ms,connect_ms\n5,1m0s\n1m0s,1\n").rows,
            Rows({"replied 5 c=60000", "replied 60000 c=1"}));
}

TEST(Csv, ABareNumberAmongValuesWithUnitsIsAtFaultAloneAndZeroIsNone) {
  EXPECT_EQ(read("latency,status\n0,200\n5ms,200\n").rows, Rows({"replied 0", "replied 5"}));
  const Read one = read("latency\n7\n5ms\n6ms\n");
  EXPECT_EQ(one.rows, Rows({"replied 5", "replied 6"}));
  ASSERT_TRUE(one.summary);
  EXPECT_EQ(asides(*one.summary), "latency without its unit x1 @2; ");
  for (const std::string_view text : {"latency\n7\n8\n5ms\n", "latency\n7\n5ms\n", "latency\n0\n0\n"})
    EXPECT_EQ(read(text).summary.error().code, ErrorCode::unsupported) << text;
}

TEST(Csv, TakesTheDelimiterFromTheLineThatExcelPutsFirst) {
  for (const std::string_view first :
       {"sep=;\n", "sep=;\r\n", "\"sep=;\"\n", "\xef\xbb\xbfsep=;\n", "SEP=;\n"}) {
    // And again where files were joined.
    const std::string rows = "latency_ms;note, or not, or;status\n7;a,b,c,d;200\n";
    const std::string_view again = first.starts_with("\xef") ? first.substr(3) : first;
    const Read told = read(fmt::format("{}{}{}{}", first, rows, again, rows));
    EXPECT_EQ(told.rows, Rows({"replied 7", "replied 7"})) << first;
    ASSERT_TRUE(told.summary) << first;
    EXPECT_EQ(asides(*told.summary), "") << first;
  }
  ReadOptions options;
  options.columns["latency"] = "1";
  options.unit = std::chrono::milliseconds(1);
  const Read headless = read("sep=|\n7|200\n8|x\n", options);
  EXPECT_EQ(headless.rows, Rows({"replied 7", "replied 8"}));
  ASSERT_TRUE(headless.summary);
  EXPECT_EQ(asides(*headless.summary), "");
}

TEST(Csv, SaysOfRowsWithLineBreaksInQuotesThatTheyAreNotRead) {
  const std::string row = "bob,1.5,\"select 1,\n 2\"\n";
  const Read all = read("user,duration_ms,query\n" + row + row + row);
  EXPECT_EQ(all.summary.error().message,
            "log.csv: no line of it could be used (7 read as csv). quote not closed on its line: 3 (first on "
            "line 2); fewer fields than the header: 3 (first on line 3)");
  const Read most = read("user,duration_ms,query\n" + row + "a,7,\"b\"\n" + row + row);
  EXPECT_EQ(most.rows, Rows({"replied 7"}));
}

TEST(Csv, RefusesK6sRowsOfAllMetricsTogether) {
  const std::string_view bytes =
      "metric_name,timestamp,metric_value,status\nhttp_reqs,1700000000,1,200\nhttp_req_duration,1700000000,"
      "22.5,200\n";
  ReadOptions options;
  const std::string right = "--where metric_name=http_req_duration --map latency=metric_value --unit ms";
  EXPECT_NE(read(bytes, options).summary.error().message.find(right), std::string::npos);
  options.columns["latency"] = "metric_value";
  options.unit = Duration(1'000'000);
  EXPECT_NE(read(bytes, options).summary.error().message.find(right), std::string::npos);
  options.where = {{"metric_name", "http_req_duration"}};
  EXPECT_EQ(read(bytes, options).rows, Rows{"replied 22.5 t=1700000000000000000"});
}

TEST(Csv, RefusesPercentilesInRowsOfTheirOwn) {
  for (const std::string_view bytes :
       {"host,quantile,latency_ms\na,0.5,10\na,0.99,50\n", "host,stat,latency_ms\na,p50,10\na,max,50\n",
        "{\"percentile\":\"99\",\"latency_ms\":50}\n", "host,99pct_latency_ms\na,50\n",
        "host,latency_tp99_ms\na,50\n", "host,latency_ms_upper_99\na,50\n", "host,latency_99th_ms\na,50\n"}) {
    const Read got = read(bytes);
    ASSERT_FALSE(got.summary) << bytes;
    EXPECT_EQ(got.summary.error().code, ErrorCode::unsupported) << got.summary.error().message;
  }
  // A column of that name may hold something else.
  EXPECT_TRUE(read("quantile,latency_ms\nlow,10\nhigh,50\n").summary);
  EXPECT_TRUE(read("stat,latency_ms\nhome,10\naway,50\n").summary);
}

TEST(Csv, ReadsTheUnitBehindANameOfAnotherScript) {
  for (const char* name : {"延迟 (ms)", "延迟（ms）", "Латентность_ms", "durée_ms"}) {
    ReadOptions options;
    options.columns["latency"] = name;
    const Read got = read(std::string(name) + ",code\n12.5,200\n", options);
    EXPECT_EQ(got.rows, Rows{"replied 12.5"}) << name;
  }
}

// -412 ms as a number of 64 bits without a sign.
TEST(Csv, TakesAWrappedDurationForANegativeOne) {
  std::string bytes = "latency_us,status\n";
  for (int i = 0; i < 200; ++i) bytes += "7000,200\n";
  const Read got = read(bytes + "18446744073709139616,200\n18446744073709551616,200\n");
  EXPECT_EQ(got.rows.size(), 200U);
  EXPECT_EQ(asides(got.summary.value()), "negative duration x1 @202; latency is no number x1 @203; ");
}

}  // namespace
}  // namespace overdue
