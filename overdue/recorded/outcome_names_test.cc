#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "overdue/recorded/field_names.h"
#include "overdue/recorded/read.h"

namespace overdue {
namespace {

struct Read {
  std::vector<std::string> rows;  // Ending, ms, and the backend where there is one.
  SourceSummary summary;
};

Read read(const std::string& bytes, const ReadOptions& options = {}) {
  Read read;
  auto summary = read_attempts(
      bytes, "log", options,
      [&](std::span<const Attempt> rows, const NameTable& backends, const NameTable&, const NameTable&) {
        for (const Attempt& row : rows) {
          read.rows.push_back(fmt::format(
              "{} {}{}", kEndingNames[static_cast<std::size_t>(row.ending)],
              static_cast<double>(row.elapsed.count()) / 1e6,
              row.backend == 0 ? std::string() : fmt::format(" at {}", backends.name_of(row.backend))));
        }
      });
  if (!summary) read.rows = {summary.error().message};
  if (summary) read.summary = std::move(*summary);
  return read;
}

// Twenty answers, then a call that failed, as `row` writes them.
template <typename Row>
std::string last_of(const Row& row, std::string header, const std::string& good, const std::string& bad) {
  for (int i = 0; i < 20; ++i) header += row(7, good);
  header += row(1000, bad);
  const Read got = read(header);
  if (got.rows.size() != 21) return got.rows.empty() ? "nothing" : got.rows[0];
  return got.rows[0] == "replied 7" || got.rows[0] == "replied 7 at h" ? got.rows[20] : got.rows[0];
}

std::string last_csv(const std::string& column, const std::string& good, const std::string& bad) {
  const auto row = [](int ms, const std::string& text) { return fmt::format("1,{},{}\n", ms, text); };
  return last_of(row, fmt::format("id,latency_ms,{}\n", column), good, bad);
}

std::string last_json(std::string_view line, const std::string& good, const std::string& bad) {
  const auto row = [&](int ms, const std::string& text) {
    return fmt::format(fmt::runtime(line), ms, text) + "\n";
  };
  return last_of(row, "", good, bad);
}

TEST(OutcomeNames, InTheObjectOfTheLatencyTheFieldsBesideItAreTheCalls) {
  EXPECT_EQ(last_json(R"({{"call":{{"latency_ms":{},"status":{}}}}})", "200", "504"), "timed_out 1000");
  EXPECT_EQ(
      last_json(R"({{"data":{{"latency_ms":{},"outcome":{},"host":"h"}}}})", R"("replied")", R"("reset")"),
      "reset 1000 at h");
  EXPECT_EQ(last_json(R"({{"fields":{{"duration_ms":{},"status":{}}}}})", R"("ok")", R"("timeout")"),
            "timed_out 1000");
  EXPECT_EQ(last_json(R"({{"fields":{{"duration_ms":{},"error":{}}}}})", "null", R"("connection refused")"),
            "refused 1000");
  EXPECT_EQ(last_json(R"({{"result":{{"duration_ms":{},"success":{}}}}})", "true", "false"),
            "timed_out 1000");
  EXPECT_EQ(last_json(R"({{"httpRequest":{{"latency":"{}ms","status":{}}}}})", "200", "503"),
            "rejected 1000");
  // In an object around its own.
  EXPECT_EQ(last_json(R"({{"call":{{"time":{{"latency_ms":{}}},"status":{}}}}})", "200", "504"),
            "timed_out 1000");
  EXPECT_EQ(last_json(R"({{"payload":{{"took_ms":{},"status":{}}}}})", "200", "504"), "timed_out 1000");
  // Of somebody else's object nothing is.
  EXPECT_EQ(last_json(R"({{"call":{{"latency_ms":{}}},"user":{{"status":{}}}}})", "200", "504"),
            "replied 1000");
}

TEST(OutcomeNames, OfSeveralObjectsTheOneNearestToTheLatencySaysHowTheCallEnded) {
  EXPECT_EQ(last_json(R"({{"status":200,"host":"far","call":{{"latency_ms":{},"host":"h","status":{}}}}})",
                      "200", "504"),
            "timed_out 1000 at h");
  EXPECT_EQ(last_json(R"({{"status":200,"call":{{"latency_ms":{},"error":{}}}}})", "null", R"("timeout")"),
            "timed_out 1000");
  EXPECT_EQ(last_json(R"({{"call":{{"latency_ms":{}}},"status":{}}})", "200", "504"), "timed_out 1000");
  // A logger's, whose values are no statuses.
  EXPECT_EQ(last_json(R"({{"call":{{"latency_ms":{},"status":"info"}},"outcome":{}}})", R"("replied")",
                      R"("timed_out")"),
            "timed_out 1000");
  ReadOptions options;
  options.columns["status"] = "status";
  EXPECT_EQ(read(R"({"status":503,"call":{"latency_ms":5,"status":200}})", options).rows,
            std::vector<std::string>{"rejected 5"});
}

TEST(OutcomeNames, AnErrorBesideANestedLatencyIsFoundWhereTheFirstComesLate) {
  for (const int first : {20, 1000, 40'000}) {
    std::string log;
    for (int i = 0; i < first; ++i) log += "{\"level\":\"info\",\"fields\":{\"duration_ms\":7}}\n";
    log += "{\"level\":\"warn\",\"fields\":{\"duration_ms\":1000,\"error\":\"timeout\"}}\n";
    EXPECT_EQ(read(log).rows.back(), "timed_out 1000") << first;
  }
}

TEST(OutcomeNames, AStartThatIsNoTimeOfDayLeavesTheRoleToAFieldFurtherOut) {
  const Read got =
      read(R"({"ts":"2025-11-30T10:53:20Z","call":{"latency_ms":5,"status":200,"at":"gateway"}})");
  EXPECT_TRUE(got.summary.has_start_times) << got.summary.detail;
}

TEST(OutcomeNames, AStatusIsKnownByManyNamesAndByWhatItsNameEndsIn) {
  for (const char* const name :
       {"status", "resp_code", "respCode", "return_code", "rc", "http_response_code", "http_response_status",
        "resp_status", "res_status", "rpc_status", "upstream_status", "target_status_code", "elb_status_code",
        "sc-status", "call_status", "request_status", "svc_status", "my_api_status_code",
        "pod_response_code"})
    EXPECT_EQ(last_csv(name, "200", "504"), "timed_out 1000") << name;
  for (const char* const name : {"call_status", "request_status", "state", "end_reason", "outcome",
                                 "call_outcome", "verdict", "reason"})
    EXPECT_EQ(last_csv(name, "ok", "timeout"), "timed_out 1000") << name;
  EXPECT_EQ(last_csv("outcome", "replied", "abandoned"), "abandoned 1000");
}

TEST(OutcomeNames, AnErrorIsKnownByManyNames) {
  for (const char* const name :
       {"exception", "error_code", "error_type", "error_message", "errorMessage", "errmsg", "err_msg",
        "failure", "failure_reason", "cause", "reason", "last_error", "call_error", "exceptionClass"})
    EXPECT_EQ(last_csv(name, "", "timeout"), "timed_out 1000") << name;
  EXPECT_EQ(last_csv("rc", "0", "28"), "timed_out 1000");
}

TEST(OutcomeNames, AFlagIsKnownByManyNames) {
  for (const char* const name :
       {"failed", "timeout", "is_timeout", "errored", "aborted", "cancelled", "lost", "dropped", "expired"})
    EXPECT_EQ(last_csv(name, "false", "true"), "timed_out 1000") << name;
  for (const char* const name : {"success", "completed", "answered", "replied"})
    EXPECT_EQ(last_csv(name, "1", "0"), "timed_out 1000") << name;
}

TEST(OutcomeNames, ANameThatMayMeanOtherThingsIsNotBelievedWhereItsValuesDo) {
  struct Case {
    const char* name;
    const char* most;
    const char* last;
  };
  const Case cases[] = {{"timeout", "1000", "1000"},
                        {"timeout", "1", "1"},
                        {"state", "CA", "NV"},
                        {"cause", "cold start", "warm"},
                        {"reason", "", "cold start"},
                        {"dropped", "3", "0"},
                        {"completed", "2025-11-30T10:53:20Z", "2025-11-30T10:53:21Z"},
                        {"cache_status", "HIT", "MISS"},
                        {"rms_error", "0.25", "0.5"},
                        {"replica_status", "3", "0"}};
  for (const Case& c : cases) EXPECT_EQ(last_csv(c.name, c.most, c.last), "replied 1000") << c.name;
}

TEST(OutcomeNames, TheUsualNameComesBeforeTheRareOneAndAStatusBeforeAnError) {
  EXPECT_EQ(last_csv("resp_code,status", "504,200", "200,503"), "rejected 1000");
  EXPECT_EQ(last_csv("exception,resp_code", ",200", "x,503"), "rejected 1000");
  EXPECT_EQ(last_csv("svc_status,error", "200,", "200,reset by peer"), "reset 1000");
  EXPECT_EQ(last_csv("state,status", "ok,200", "ok,504"), "timed_out 1000");
}

TEST(OutcomeNames, OfTwoStatusesTheOneOnTheSideOfTheLatencyIsTheCalls) {
  const std::string rows = "7,200,200\n9,503,200\n";
  EXPECT_EQ(read("latency_ms,status,upstream_status\n" + rows).rows.back(), "rejected 9");
  EXPECT_EQ(read("upstream_response_time_ms,status,upstream_status\n" + rows).rows.back(), "replied 9");
  EXPECT_EQ(read("upstream_response_time_ms,status,more\n" + rows).rows.back(), "rejected 9");
}

std::string note_with(std::string_view part, const SourceSummary& summary) {
  const auto found =
      std::ranges::find_if(summary.notes, [&](const auto& note) { return note.contains(part); });
  return found == summary.notes.end() ? "" : *found;
}

TEST(OutcomeNames, WhereNoneIsKnownTheOtherColumnsAreNamed) {
  const std::string note =
      "no column is known to say how a call ended, so every row is read as a reply; not used are how, why: "
      "if one "
      "of them says it, name it, as in --map status=COLUMN";
  EXPECT_EQ(note_with("no column", read("how,latency_ms,why\nx,7,y\n").summary), note);
  EXPECT_EQ(note_with("no column", read("{\"how\":\"x\",\"latency_ms\":7,\"why\":\"y\"}\n").summary), note);
  EXPECT_EQ(note_with("no column", read("latency_ms,host\n7,h\n").summary), "");
  EXPECT_EQ(note_with("no column", read("latency_ms,status,how\n7,200,x\n").summary), "");
  ReadOptions options;
  options.columns["status"] = "";
  EXPECT_EQ(note_with("no column", read("how,latency_ms\nx,7\n", options).summary), "");
}

// Loggers call a line's level its status; how the call ended stands elsewhere.
TEST(OutcomeNames, ALineIsNoOutcomeByItsLevelWhereACodeStandsBeside) {
  for (const auto& [good, bad] :
       {std::pair("ok", "ok"), std::pair("info", "error"), std::pair("INFO", "WARN")}) {
    std::string json, csv = "Status,latency_ms,@http.status_code\n";
    for (int i = 0; i < 20; ++i) {
      const bool failed = i == 19;
      json += fmt::format("{{\"status\":\"{}\",\"latency_ms\":{},\"http\":{{\"status_code\":{}}}}}\n",
                          failed ? bad : good, failed ? 900 : 7, failed ? 504 : 200);
      csv += fmt::format("{},{},{}\n", failed ? bad : good, failed ? 900 : 7, failed ? 504 : 200);
    }
    for (const std::string& log : {json, csv}) {
      const Read got = read(log);
      ASSERT_EQ(got.rows.size(), 20U) << log;
      EXPECT_EQ(got.rows.front(), "replied 7");
      EXPECT_EQ(got.rows.back(), "timed_out 900") << log;
    }
  }
  // Without a code it is all there is.
  EXPECT_EQ(read("{\"status\":\"ok\",\"latency_ms\":7}\n").rows, std::vector<std::string>{"replied 7"});
}

}  // namespace
}  // namespace overdue
