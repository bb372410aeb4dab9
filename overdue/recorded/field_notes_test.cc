#include "overdue/recorded/field_notes.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace overdue {
namespace {

std::string note_with(std::string_view part, const std::string& bytes, const ReadOptions& options = {}) {
  const auto summary =
      read_attempts(bytes, "log", options,
                    [](std::span<const Attempt>, const NameTable&, const NameTable&, const NameTable&) {});
  if (!summary) {
    ADD_FAILURE() << summary.error().message;
    return "";
  }
  const auto found =
      std::ranges::find_if(summary->notes, [&](const auto& note) { return note.contains(part); });
  return found == summary->notes.end() ? "" : *found;
}

bool has_start(const std::string& bytes) {
  bool all = true;
  const auto read = read_attempts(
      bytes, "log", {},
      [&all](std::span<const Attempt> rows, const NameTable&, const NameTable&, const NameTable&) {
        for (const Attempt& row : rows) all = all && row.has_start;
      });
  return read && all;
}

TEST(FieldNotes, ColumnsOfDatesAreNamedWhereNoneIsKnownToSayWhenACallBegan) {
  const std::string rows = "1700000000,2023-11-14T22:13:20Z,9,200\n1700000001,2023-11-14T22:13:21Z,9,200\n";
  EXPECT_EQ(
      note_with("no column", "created_at,logged,latency_ms,status\n" + rows),
      "no column is known to say when a call began, so nothing is said of time; dates are in created_at, "
      "logged: if one of them says it, name it, as in --map start=created_at");
  EXPECT_NE(note_with("dates are in when", "{\"latency_ms\":9,\"status\":200,\"when\":1700000000}\n"), "");
  EXPECT_EQ(note_with("no column", "created_at,ts,latency_ms,status\n" + rows), "");
  EXPECT_EQ(note_with("no column", "bytes,latency_ms,status\n17,9,200\n1700000000,9,200\n"), "");
  ReadOptions none;
  none.columns["start"] = "";
  EXPECT_EQ(note_with("no column", "created_at,logged,latency_ms,status\n" + rows, none), "");
}

TEST(FieldNotes, MoreNamesThanOneSayThatACallBegan) {
  for (const char* name : {"begin", "began_at", "started", "receivedAt", "arrival_time", "requested_at"}) {
    EXPECT_TRUE(has_start(std::string(name) + ",latency_ms,status\n1700000000,9,200\n")) << name;
    EXPECT_FALSE(has_start(std::string(name) + ",latency_ms,status\nyes,9,200\n")) << name;
  }
}

TEST(FieldNotes, AFilterByHowCallsEndedIsSaid) {
  const auto where = [](std::string name, std::string value) {
    ReadOptions options;
    options.where = {{std::move(name), std::move(value)}};
    return options;
  };
  const std::string csv = "latency_ms,code,route\n9,200,/a\n9,504,/a\n";
  const std::string note =
      "--where code=200 chooses the calls by how they ended: of all others, lost ones too, nothing is "
      "counted";
  EXPECT_EQ(note_with("--where code", csv, where("code", "200")), note);
  EXPECT_NE(note_with("by how they ended", csv, where("status", "200")), "");
  EXPECT_EQ(note_with("by how they ended", csv, where("route", "/a")), "");
  EXPECT_NE(note_with("by how they ended", "{\"latency_ms\":9,\"outcome\":\"ok\"}\n", where("outcome", "ok")),
            "");
  const std::string nginx =
      "10.0.0.9 - - [06/Sep/2015:05:58:05 +0900] \"GET /a HTTP/1.1\" 200 5 \"-\" \"c\" 0.010\n";
  EXPECT_NE(note_with("by how they ended", nginx, where("status", "200")), "");
  EXPECT_EQ(note_with("by how they ended", nginx, where("method", "GET")), "");
}

TEST(FieldNotes, GroupsByHowCallsEndedAreSaid) {
  ReadOptions by;
  by.group_by = "code";
  const std::string csv = "latency_ms,code,route\n9,200,/a\n9,504,/a\n";
  EXPECT_EQ(note_with("--by code", csv, by),
            "--by code divides the calls by how they ended: no group has the others, lost ones too, in its "
            "figures");
  by.group_by = "route";
  EXPECT_EQ(note_with("by how they ended", csv, by), "");
}

}  // namespace
}  // namespace overdue
