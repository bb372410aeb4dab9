#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "overdue/recorded/read.h"
#include "overdue/recorded/rows_as_text.h"

namespace overdue {
namespace {

TEST(Headers, AnotherOneInTheMiddleOfAFileIsAnErrorWithItsLine) {
  const std::string rows = "1,7,200\n2,8,200\n";
  EXPECT_EQ(rows_of("ts,latency_ms,status\n" + rows + "ts,latency_ms,status\n3,9,200\n"),
            Rows({"replied 7", "replied 8", "replied 9"}));
  const std::string many = rows + rows + rows + rows;
  for (const std::string_view other : {"ts,latency_s,status", "ts,status,latency_ms", "latency_ms,status",
                                       "ts,latency_ms,status,host", "\"ts\",\"latency_s\",\"status\""}) {
    EXPECT_EQ(rows_of(fmt::format("ts,latency_ms,status\n{}{}\n3,9,200\n", many, other)),
              Rows({fmt::format(
                  "log: line 10: another header, '{}', and not that of the first line: files with other "
                  "columns were joined. Give the files one by one",
                  other)}))
        << other;
  }
  // Rows at fault are no headers.
  EXPECT_EQ(rows_of("ts,latency_ms,note,ok\n1,7,x,1\n2,8,x,1\n2025-11-30T10:53:20Z,,high latency,ok\n"),
            Rows({"replied 7", "replied 8", "no latency value x1"}));
  EXPECT_EQ(rows_of("ts,latency_ms,status\n" + rows + "a,b,c\n3,latency,200\n"),
            Rows({"replied 7", "replied 8", "unknown status x1", "latency is no number x1"}));
}

TEST(Headers, TheSameOneOnceMoreIsNoRowHoweverItIsWritten) {
  const std::string rows = "1,7,200\n2,8,200\n";
  for (const std::string_view first : {"ts,latency_ms,status", "\"ts\",\"latency_ms\",\"status\""}) {
    for (const std::string_view again :
         {"ts,latency_ms,status", "TS,LATENCY_MS,STATUS", "Ts, Latency_ms, Status",
          "\"ts\",\"latency_ms\",\"status\"", "\xef\xbb\xbfts,\"latency_ms\", status"}) {
      EXPECT_EQ(rows_of(fmt::format("{}\n{}{}\n3,9,200\n", first, rows, again)),
                Rows({"replied 7", "replied 8", "replied 9"}))
          << first << ' ' << again;
      EXPECT_EQ(rows_of(fmt::format("{}\r\n1,7,200\r\n{}\r\n3,9,200\r\n", first, again)),
                Rows({"replied 7", "replied 9"}))
          << first << ' ' << again;
    }
  }
  // A row whose texts are like the header's in part is one.
  EXPECT_EQ(rows_of("host,latency_ms,status\nhost,7,200\nh0,8,200\n"), Rows({"replied 7", "replied 8"}));
}

TEST(Headers, ANamedLatencyWhoseValuesHaveUnitsIsEnoughToKnowCsv) {
  EXPECT_EQ(rows_of("time,node,latency,status\n2025-11-30T10:53:20Z,h0,8.43ms,OK\n2025-11-30T10:53:21Z,h1,1s,"
                    "timeout\n"),
            Rows({"replied 8.43", "timed_out 1000"}));
  EXPECT_EQ(rows_of("latency,status\n1.2s,OK\n7ms,OK\n"), Rows({"replied 1200", "replied 7"}));
  EXPECT_NE(rows_of("name,colour\n1.2s,blue\n7ms,red\n").at(0).find("its format is not known"),
            std::string::npos);
}

TEST(Headers, RowsThatAreAllShorterOrLongerThanTheHeaderAreSaidToBe) {
  const auto begins = [](std::string_view bytes, std::string_view text) {
    const Rows rows = rows_of(bytes);
    EXPECT_EQ(rows.size(), 1U);
    EXPECT_TRUE(rows[0].starts_with(text)) << rows[0];
  };
  begins("ts,latency_ms,status\n1,7\n2,8\n",
         "log: line 2: fewer fields than the header: 2, where it names 3");
  begins("latency,status\n1,7,200\n2,8,200\n",
         "log: line 2: more fields than the header: 3, where it names 2");
  // A delimiter more at the end is none.
  EXPECT_EQ(rows_of("latency,status\n7ms,200,\n8ms,200,\n"), Rows({"replied 7", "replied 8"}));
}

TEST(Headers, EscapedKeysOfJsonAreReadAsTheyRead) {
  EXPECT_EQ(rows_of("{\"dur\\u0061tion_ms\":8,\"status\":200}\n{\"duration_ms\":9,\"status\":200}\n"),
            Rows({"replied 8", "replied 9"}));
  EXPECT_EQ(rows_of("{\"dur\\u0061tion_ms\":8,\"st\\u0061tus\":504}\n"), Rows({"timed_out 8"}));
}

}  // namespace
}  // namespace overdue
