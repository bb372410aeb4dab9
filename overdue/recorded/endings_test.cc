#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "overdue/recorded/ending_words.h"
#include "overdue/recorded/read.h"
#include "overdue/recorded/rows_as_text.h"

namespace overdue {
namespace {

ReadOptions with_limit() {
  ReadOptions options;
  options.limit = std::chrono::seconds(1);
  return options;
}

TEST(Endings, AnObjectOrListAsAnErrorIsOneUnlessNothingIsInIt) {
  struct Case {
    std::string_view error;
    std::string_view row;
  };
  const Case cases[] = {
      {"null", "replied 9"},
      {"{}", "replied 9"},
      {"[]", "replied 9"},
      {"\"\"", "replied 9"},
      {"false", "replied 9"},
      {"0.0", "replied 9"},
      {"{\"code\":\"ETIMEDOUT\"}", "timed_out 9"},
      {"{\"message\":\"read tcp: connection reset by peer\"}", "reset 9"},
      {"{\"port\":1,\"cause\":{\"code\":\"ECONNREFUSED\"}}", "refused 9"},
      {"{\"name\":\"Error\",\"message\":\"connect ECONNREFUSED\"}", "refused 9"},
      {"{\"reset_at\":\"never\",\"code\":503}", "rejected 9"},
      {"{\"port\":1}", "timed_out 9"},
      {"{\"message\":null}", "replied 9"},
      {"{\"code\":0,\"message\":\"\"}", "replied 9"},
      {"{\"code\":0,\"message\":\"\",\"details\":\"x\"}", "replied 9"},
      {"{\"code\":\"OK\"}", "replied 9"},
      {"{\"code\":0}", "replied 9"},
      {"{\"message\":\"\"}", "replied 9"},
      {"{\"code\":null}", "replied 9"},
      {"{\"code\":200,\"message\":\"OK\"}", "replied 9"},
      {"{\"status\":200}", "replied 9"},
      {"[null]", "replied 9"},
      {"[\"\"]", "replied 9"},
      {"[{}]", "replied 9"},
      {"{\"errors\":[]}", "replied 9"},
      {"{\"Op\":\"Get\",\"URL\":\"http://reset\",\"Err\":{}}", "timed_out 9"},
      {"{\"code\":4,\"message\":\"Deadline Exceeded\"}", "timed_out 9"},
      {"{\"code\":14,\"message\":\"14 UNAVAILABLE: No connection\"}", "rejected 9"},
      {"{\"code\":\"NOT_FOUND\"}", "rejected 9"},
      {"{\"statusCode\":429}", "rejected 9"},
      {"{\"message\":\"\",\"stack\":\"Error\"}", "timed_out 9"},
      {"[{\"message\":\"x\",\"extensions\":{\"code\":\"INTERNAL_SERVER_ERROR\"}}]", "rejected 9"},
      {"{\"name\":\"TimeoutError\",\"status_code\":503}", "rejected 9"},
      {"{\"name\":\"HTTPError\",\"status\":504}", "timed_out 9"},
      {"{\"name\":\"AxiosError\",\"code\":\"ERR_BAD_REQUEST\",\"status\":404,"
       "\"message\":\"reset\"}",
       "rejected 9"},
      {"{\"message\":\"socket hang up\",\"status\":null}", "reset 9"},
      {"{\"code\":\"ECONNABORTED\",\"config\":{\"url\":\"http://x\",\"timeout\":1}}", "timed_out 9"},
      {"[\"timeout\"]", "timed_out 9"},
      {"[{\"type\":\"ECONNRESET\"}]", "reset 9"},
      {"[1]", "timed_out 9"},
      {"\"connection refused\"", "refused 9"},
      {"\"something else\"", "timed_out 9"}};
  for (const Case& c : cases) {
    const std::string line = fmt::format("{{\"latency_ms\":9,\"error\":{}}}\n", c.error);
    // Alone in the head, beside lines without one, and as the first of its kind behind others.
    EXPECT_EQ(rows_of("{\"latency_ms\":7,\"error\":null}\n" + line), Rows({"replied 7", std::string(c.row)}))
        << c.error;
    const std::string quiet = "{\"latency_ms\":7}\n{\"latency_ms\":7}\n";
    EXPECT_EQ(rows_of(quiet + line), Rows({"replied 7", "replied 7", std::string(c.row)})) << c.error;
  }
}

TEST(Endings, AFieldInsideAnErrorIsFoundAllTheSame) {
  ReadOptions refused;
  refused.where = {{"error.code", "X"}};
  EXPECT_EQ(
      rows_of(
          "{\"latency_ms\":7,\"error\":{\"code\":\"X\"}}\n{\"latency_ms\":8,\"error\":{\"code\":\"Y\"}}\n",
          refused),
      Rows({"timed_out 7"}));
}

TEST(Endings, AnErrorInACsvColumnIsReadByItsWords) {
  EXPECT_EQ(
      rows_of("latency_ms,error\n9,i/o timeout\n9,ECONNRESET\n9,ECONNREFUSED\n9,oops\n9,{}\n9,[]\n9,true\n"
              "9,503 Service Unavailable\n9,404 Not Found\n"),
      Rows({"timed_out 9", "reset 9", "refused 9", "timed_out 9", "replied 9", "replied 9", "timed_out 9",
            "rejected 9", "rejected 9"}));
}

TEST(Endings, AMinusOneIsNoTimeHoweverItIsWritten) {
  for (const std::string_view minus : {"-1", "-1.0", "-1.000", "-1e0"}) {
    const std::string csv = fmt::format("latency_ms,status\n7,200\n{},504\n{},timeout\n", minus, minus);
    EXPECT_EQ(rows_of(csv, with_limit()), Rows({"replied 7", "timed_out 1000", "timed_out 1000"})) << minus;
    EXPECT_EQ(rows_of(csv), Rows({"replied 7", "timed_out untimed", "timed_out untimed"})) << minus;
    const std::string json =
        fmt::format("{{\"latency_ms\":7,\"status\":200}}\n{{\"latency_ms\":{},\"status\":504}}\n", minus);
    EXPECT_EQ(rows_of(json, with_limit()), Rows({"replied 7", "timed_out 1000"})) << minus;
    const std::string refused = fmt::format("latency_ms,ending\n7,replied\n{},refused\n", minus);
    EXPECT_EQ(rows_of(refused), Rows({"replied 7", "refused untimed"})) << minus;
  }
  // No other negative time is.
  EXPECT_NE(rows_of("latency_ms,status\n7,200\n-1.5,504\n"), Rows({"replied 7", "timed_out untimed"}));
}

TEST(Endings, AStatusIsReadByTheWordsThatLogsWrite) {
  struct Case {
    std::string_view status;
    std::string_view row;
  };
  const Case cases[] = {{"-1", "timed_out 9"},
                        {"-1.0", "timed_out 9"},
                        {"n/a", "timed_out 9"},
                        {"context deadline exceeded", "timed_out 9"},
                        {"i/o timeout", "timed_out 9"},
                        {"request timeout", "timed_out 9"},
                        {"ETIMEDOUT", "timed_out 9"},
                        {"context canceled", "abandoned 9"},
                        {"ECONNRESET", "reset 9"},
                        {"ECONNREFUSED", "refused 9"},
                        {"fail", "timed_out 9"},
                        {"failed", "timed_out 9"},
                        {"ERR", "timed_out 9"},
                        {"exception", "timed_out 9"},
                        {"false", "timed_out 9"},
                        {"true", "replied 9"},
                        {"OK", "replied 9"},
                        {"200 OK", "replied 9"},
                        {"503 Service Unavailable", "rejected 9"},
                        {"504 Gateway Timeout", "timed_out 9"},
                        {"HTTP/1.1 200", "replied 9"},
                        {"HTTP/1.1 200 OK", "replied 9"},
                        {"HTTP 429", "rejected 9"},
                        {"UNAVAILABLE", "rejected 9"},
                        {"SUCCESSFUL", "replied 9"},
                        {"404 Not Found", "replied 9"},
                        {"ECONNABORTED", "timed_out 9"},
                        {"EOF", "reset 9"},
                        {"unexpected EOF", "reset 9"},
                        {"RemoteDisconnected", "reset 9"},
                        {"Connection closed by remote host", "reset 9"},
                        {"no response", "timed_out 9"},
                        {"lost", "timed_out 9"},
                        {"dropped", "timed_out 9"},
                        {"Client closed request", "abandoned 9"},
                        {"AbortError", "abandoned 9"},
                        {"ERR_NETWORK", "timed_out 9"},
                        {"ERR_BAD_RESPONSE", "timed_out 9"},
                        {"HTTP Error 503: Service Unavailable", "rejected 9"},
                        {"unexpected status: 503 Service Unavailable", "rejected 9"},
                        {"status=404", "replied 9"},
                        {"status code 504", "timed_out 9"},
                        {"typeof x", "unknown status x1"},
                        {"after 503 s", "unknown status x1"},
                        {"200 ms", "unknown status x1"},
                        {"2000", "unknown status x1"},
                        {"blue", "unknown status x1"}};
  for (const Case& c : cases) {
    EXPECT_EQ(rows_of(fmt::format("latency_ms,status\n7,200\n9,{}\n", c.status)),
              Rows({"replied 7", std::string(c.row)}))
        << c.status;
  }
  EXPECT_EQ(rows_of("{\"latency_ms\":7,\"status\":true}\n{\"latency_ms\":9,\"status\":false}\n"),
            Rows({"replied 7", "timed_out 9"}));
}

TEST(Endings, AStatusThatAnErrorNamesIsTheAnswerAndNoOtherNumberIs) {
  const std::pair<std::string_view, std::string_view> cases[] = {
      {"HTTP Error 503: Service Unavailable", "rejected 9"},
      {"Request failed with status code 503", "rejected 9"},
      {"Request failed with status code 404", "rejected 9"},
      {"unexpected status: 503 Service Unavailable", "rejected 9"},
      {"unexpected status 204", "rejected 9"},
      {"status=503", "rejected 9"},
      {"upstream timeout: status:503", "rejected 9"},
      {"bad status: 502", "rejected 9"},
      {"Response code 503 (Service Unavailable)", "rejected 9"},
      {"Response status code does not indicate success: 503 (Service Unavailable).", "rejected 9"},
      {"The remote server returned an error: (503) Server Unavailable.", "rejected 9"},
      {"unexpected HTTP status code received from server: 502 (Bad Gateway)", "rejected 9"},
      {"the server responded with a status of 500 ()", "rejected 9"},
      {"upstream answered HTTP/1.1 503", "rejected 9"},
      {"HttpServerErrorException$ServiceUnavailable: 503 : [no body]", "rejected 9"},
      {"feign.FeignException$ServiceUnavailable: [503] during [GET]", "rejected 9"},
      {"500 Server Error: Internal Server Error for url: http://x/timeout", "rejected 9"},
      {"got 503 from upstream", "rejected 9"},
      {"status code 504", "timed_out 9"},
      {"Error 500", "rejected 9"},
      {"Response ended prematurely", "reset 9"},
      {"expected status 200 but got 429", "rejected 9"},
      {"rpc error: code = ResourceExhausted desc = quota", "rejected 9"},
      {"rpc error: code = Unavailable desc = connection refused", "refused 9"},
      {"StatusRuntimeException: UNAVAILABLE: io exception", "rejected 9"},
      {"connect 10.0.0.1:503", "timed_out 9"},
      {"dial server:503: connection refused", "refused 9"},
      {"no response from server:503", "timed_out 9"},
      {"got 503 bytes: connection reset", "reset 9"},
      {"connection reset after 500 ms", "reset 9"},
      {"HTTP 200: unexpected EOF", "reset 9"},
      {"[Errno 104] Connection reset by peer", "reset 9"},
      {"104", "timed_out 9"}};
  for (const auto& [error, row] : cases) {
    EXPECT_EQ(rows_of(fmt::format("latency_ms,error\n7,\n9,\"{}\"\n", error)),
              Rows({"replied 7", std::string(row)}))
        << error;
  }
}

TEST(Endings, WhatIsQuotedOrInAnAddressDoesNotSayHowACallEnded) {
  const std::pair<std::string_view, std::string_view> cases[] = {
      {R"(Post "http://auth/reset-password": EOF)", "reset 9"},
      {R"(Post "http://auth/reset-password": context deadline exceeded)", "timed_out 9"},
      {R"(Post "http://timeout-svc/": dial tcp 10.0.0.1:80: connect: connection refused)", "refused 9"},
      {R"(Post "http://refused.example/": read: connection reset by peer)", "reset 9"},
      {R"(Get http://timeout/canceled: connection refused)", "refused 9"},
      {R"(lookup "timeout": no such host)", "refused 9"},
      {R"(Get "http://status/503": EOF)", "reset 9"},
      {R"(GET /reset?to=/timeout refused)", "refused 9"},
      {R"(request for url (http://timeout/): connection reset)", "reset 9"},
      // Nothing else is in it.
      {R"("connection refused")", "refused 9"},
      {R"(error: "connection refused")", "refused 9"},
      {R"(http://refused/)", "refused 9"}};
  for (const auto& [error, row] : cases) {
    std::string quoted;
    for (const char c : error) quoted += c == '"' ? std::string("\\\"") : std::string(1, c);
    EXPECT_EQ(rows_of(fmt::format(
                  "{{\"latency_ms\":7,\"error\":\"\"}}\n{{\"latency_ms\":9,\"error\":\"{}\"}}\n", quoted)),
              Rows({"replied 7", std::string(row)}))
        << error;
  }
}

TEST(Endings, AnEmptyOkBesideAYesIsNone) {
  EXPECT_EQ(rows_of("latency_ms,ok\n7,1\n8,\n"), Rows({"replied 7", "timed_out 8"}));
  EXPECT_EQ(rows_of("latency_ms,ok\n7,0\n8,\n"), Rows({"timed_out 7", "neither ok nor not ok x1"}));
}

TEST(Endings, ATimeThatIsOnlyKnownToBeExceededIsNone) {
  EXPECT_EQ(rows_of("latency_ms,status\n7,200\n>1000,timeout\n>= 1s,timeout\n>1000,200\n", with_limit()),
            Rows({"replied 7", "timed_out 1000", "timed_out 1000", "latency is no number x1"}));
  EXPECT_EQ(rows_of("latency_ms,status\n7,200\n>1000,timeout\n"), Rows({"replied 7", "timed_out untimed"}));
  EXPECT_EQ(rows_of("latency_ms\n7\n>1000\n", with_limit()), Rows({"replied 7", "timed_out 1000"}));
}

TEST(Endings, OkIsReadByItsValue) {
  EXPECT_EQ(rows_of("latency_ms,ok\n7,1\n7,1.0\n7,true\n8,0\n8,0.0\n8,-1\n8,-1.0\n8,false\n8,connection "
                    "refused\n9,2\n"),
            Rows({"replied 7", "replied 7", "replied 7", "timed_out 8", "timed_out 8", "timed_out 8",
                  "timed_out 8", "timed_out 8", "refused 8", "neither ok nor not ok x1"}));
}

TEST(Endings, AWordInPlaceOfATimeIsNoTime) {
  EXPECT_EQ(
      rows_of("latency_ms,status\n7,200\ntimeout,timeout\nfailed,504\ntimeout,200\nblue,504\n", with_limit()),
      Rows({"replied 7", "timed_out 1000", "timed_out 1000", "latency is no number x2"}));
  EXPECT_EQ(rows_of("latency_ms,ending\n7,replied\ntimeout,timed_out\n"),
            Rows({"replied 7", "timed_out untimed"}));
  // Where nothing else says how the call ended, it does.
  EXPECT_EQ(rows_of("latency_ms\n7\ntimeout\nok\n", with_limit()),
            Rows({"replied 7", "timed_out 1000", "latency is no number x1"}));
}

TEST(Endings, AnEmptyLatencyWithNothingThatSaysHowItEndedIsNoted) {
  const auto notes = [](std::string_view bytes) {
    const auto ignore = [](std::span<const Attempt>, const NameTable&, const NameTable&, const NameTable&) {};
    return fmt::format("{}", fmt::join(read_attempts(bytes, "log", {}, ignore).value().notes, "; "));
  };
  EXPECT_NE(notes("rtt_ms,x\n7,a\n,a\n").find("some rows have no latency"), std::string::npos);
  EXPECT_EQ(notes("rtt_ms,status\n7,200\n,200\n").find("some rows have no latency"), std::string::npos);
}

}  // namespace
}  // namespace overdue
