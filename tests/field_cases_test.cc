// The field cases of the issue through the whole command: what an engineer would type and must get.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/command_line.h"

namespace overdue {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

struct Advised {
  CommandResult run;
  json root;
  json group;
  double quantile(double q, const char* key) const {
    for (const json& row : group["quantiles"]) {
      if (std::abs(row["q"].get<double>() - q) < 1e-12)
        return row[key].is_null() ? -1 : row[key].get<double>();
    }
    return -2;
  }
  bool doubts(const std::string& code) const {
    for (const json& doubt : group["doubts"]) {
      if (doubt["code"] == code) return true;
    }
    return false;
  }
  std::string judgement(const std::string& backend) const {
    for (const json& row : group["backends"]) {
      if (row["backend"] == backend) return row["judgement"];
    }
    return "";
  }
};

Advised advise(std::string_view log, const std::string& flags = "") {
  Advised advised{.run = run_overdue("advise - --json " + flags, log)};
  if (advised.run.out.starts_with("{")) {
    advised.root = json::parse(advised.run.out);
    advised.group = advised.root["groups"][0];
  }
  return advised;
}

std::string repeated(std::string_view row, int times) {
  std::string text;
  for (int i = 0; i < times; ++i) text += row;
  return text;
}

TEST(FieldCases, C05MillisecondsInAColumnNamedSecondsAreDeclinedUntilAUnitIsGiven) {
  std::string log = "api_duration_seconds,code\n";
  for (int i = 0; i < 400; ++i) log += fmt::format("{},200\n", 300 + i);
  const Advised doubted = advise(log);
  EXPECT_EQ(doubted.run.status, 3);
  EXPECT_EQ(doubted.group["advice"]["declined"], "unit_unclear");
  EXPECT_TRUE(doubted.group["advice"]["request_timeout_ms"].is_null());
  EXPECT_TRUE(doubted.doubts("unit_mismatch"));
  EXPECT_THAT(doubted.run.out, HasSubstr("likely ms recorded as s"));
  const Advised told = advise(log, "--unit ms --accept 1%");
  EXPECT_EQ(told.run.status, 0) << told.run.out << told.run.err;
  EXPECT_EQ(told.quantile(0.5, "replies_only_ms"), 499);
}

TEST(FieldCases, C05AUnitIsDoubtedByTheWholeLogWhateverTheOrderOfItsRows) {
  const std::string few = repeated("0.5\n", 1100);
  const std::string many = repeated("500\n", 3000);
  for (const std::string& rows : {few + many, many + few}) {
    const Advised doubted = advise("rtt_s\n" + rows);
    EXPECT_EQ(doubted.run.status, 3);
    EXPECT_EQ(doubted.group["advice"]["declined"], "unit_unclear");
    EXPECT_TRUE(doubted.doubts("unit_mismatch"));
  }
}

TEST(FieldCases, C07TheQuantileOfAFleetIsPooledAndTheSlowHostIsNamed) {
  const std::string head = "latency_ms,host\n" + repeated("10,a\n", 9900);
  const Advised hundred = advise(head + repeated("2000,b\n", 100));
  EXPECT_EQ(hundred.quantile(0.99, "replies_only_ms"), 10);
  EXPECT_EQ(hundred.quantile(0.999, "replies_only_ms"), 2000);
  EXPECT_EQ(hundred.judgement("b"), "slow");
  const Advised more = advise(head + repeated("2000,b\n", 101));
  EXPECT_EQ(more.quantile(0.99, "replies_only_ms"), 2000);
  EXPECT_EQ(more.judgement("b"), "slow");
}

TEST(FieldCases, C09WhatAHistogramHasNoRoomForIsOpenAtItsLimit) {
  // 9,950 values up to 99.5 ms in a histogram that ends at 1 s.
  const std::string log =
      "#[Histogram log format version 1.3]\n"
      "\"StartTimestamp\",\"Interval_Length\",\"Interval_Max\",\"Interval_Compressed_Histogram\"\n"
      "0.000,1.000,99.500,HISTFAAAAJl42pNpmSzMwMDuxAABzFCaEURYzzrFYP8BIrC5QuQvv8h7TpFuNhB6yCzSyiz"
      "SDEZAxnwmkf2MIgfBCJOxl1EkHghjwWQ8GhtVNFZEV0QfirGxcInjU6EtIgqE4mCSHBa9dAqLcMIhNxKbNLFRnTDIL"
      "sKMFbLiECdPHTVVjRQ7R0MDBBlFIAhGY0XkS9LO5FEHk6MZAOoDgqM=\n";
  const Advised seen = advise(log, "--sent 10000 --accept 1%");
  EXPECT_EQ(seen.group["endings"]["timed_out"], 50);
  EXPECT_EQ(seen.group["advice"]["longest_wait_ms"], 1000.0);
  EXPECT_NEAR(seen.quantile(0.99, "all_calls_ms"), 99.0, 0.1);  // Rank 9,900 of 10,000.
  EXPECT_EQ(seen.quantile(0.999, "all_calls_ms"), -1);
  EXPECT_EQ(seen.quantile(0.999, "beyond_ms"), 1000.0);
  const Advised longer = advise(log, "--sent 10000 --limit 2s --accept 1%");
  EXPECT_EQ(longer.group["advice"]["longest_wait_ms"], 2000.0);
}

TEST(FieldCases, C12ABareOneIsBadUsageAndPercentAndFractionAgree) {
  std::string log = "latency_ms\n";
  for (int i = 1; i <= 10'000; ++i) log += fmt::format("{}\n", i);
  for (const char* bad : {"1", "99.9", "0", "-1%", "abc"}) {
    const CommandResult run = run_overdue(fmt::format("advise - --accept={}", bad), log);
    EXPECT_EQ(run.status, 2) << bad;
    EXPECT_THAT(run.err, HasSubstr("--accept"));
  }
  for (const char* same : {"0.1%", "0.001"}) {
    EXPECT_EQ(advise(log, fmt::format("--accept {}", same)).group["advice"]["point_ms"], 9990) << same;
  }
  for (const char* same : {"1%", "0.01"}) {
    EXPECT_EQ(advise(log, fmt::format("--accept {}", same)).group["advice"]["point_ms"], 9900) << same;
  }
}

TEST(FieldCases, C13TwentyCallsAreTooFewAndItSaysHowManyItWouldTake) {
  const Advised advised = advise("latency_ms\n" + repeated("10\n", 19) + "1000\n", "--accept 1%");
  EXPECT_EQ(advised.run.status, 3);
  EXPECT_EQ(advised.group["advice"]["declined"], "too_few_calls");
  EXPECT_EQ(advised.group["advice"]["calls_needed"], 299);
  EXPECT_EQ(advised.quantile(0.95, "replies_only_ms"), 10);
  EXPECT_EQ(advised.quantile(0.99, "replies_only_ms"), 1000);
}

TEST(FieldCases, C14AFreezeHidesBehindAClosedLoopUntilItsIntervalIsNamed) {
  std::string log = "start_ms,latency_ms\n";
  for (int i = 0; i < 120; ++i) log += fmt::format("{},40\n", 1'700'000'000'000 + i * 100LL);
  log += fmt::format("{},12040\n", 1'700'000'000'000 + 12'000);
  for (int i = 0; i < 159; ++i) log += fmt::format("{},40\n", 1'700'000'000'000 + 24'040 + i * 100LL);
  const Advised seen = advise(log);
  EXPECT_EQ(seen.quantile(0.99, "replies_only_ms"), 40);
  EXPECT_TRUE(seen.doubts("coordinated_omission"));
  const Advised filled = advise(log, "--expected-interval 100ms");
  EXPECT_EQ(filled.quantile(0.9, "replies_only_ms"), 8140);
  EXPECT_EQ(filled.quantile(0.99, "replies_only_ms"), 11740);
  // A freeze that ended in a give-up hides as many.
  log.replace(log.find("12040\n"), 6, "12040,timed_out\n");
  log.replace(0, log.find('\n'), "start_ms,latency_ms,ending");
  for (std::size_t at = 0; (at = log.find(",40\n", at)) != std::string::npos;)
    log.replace(at, 4, ",40,replied\n");
  const Advised given_up = advise(log, "--expected-interval 100ms");
  EXPECT_EQ(given_up.group["endings"]["timed_out"], 120);
}

TEST(FieldCases, C16GiveUpsCountAndWithoutATimeTheyAreTooMany) {
  std::string log = "latency_ms,ending\n";
  for (int i = 1; i <= 70; ++i) log += fmt::format("{},replied\n", i * 10);
  log += repeated("200,timed_out\n", 10) + repeated("500,timed_out\n", 20);
  const Advised advised = advise(log, "--accept 10%");
  EXPECT_EQ(advised.quantile(0.5, "all_calls_ms"), 470);
  EXPECT_EQ(advised.quantile(0.9, "all_calls_ms"), 660);
  EXPECT_EQ(advised.quantile(0.5, "replies_only_ms"), 350);
  EXPECT_EQ(advised.quantile(0.9, "replies_only_ms"), 630);
  const Advised lost =
      advise("latency_ms,ending\n" + repeated("10,replied\n", 5) + repeated(",timed_out\n", 195));
  EXPECT_EQ(lost.run.status, 3);
  EXPECT_EQ(lost.group["advice"]["declined"], "too_many_untimed");
  EXPECT_EQ(lost.group["endings"]["timed_out"], 195);
}

TEST(FieldCases, C17FastFailuresMakeNothingFaster) {
  const Advised a = advise("latency_ms,status\n" + repeated("900,200\n", 90) + repeated("4,503\n", 30));
  EXPECT_EQ(a.quantile(0.5, "all_calls_ms"), 900);
  EXPECT_EQ(a.quantile(0.5, "replies_only_ms"), 900);
  EXPECT_EQ(a.group["endings"]["rejected"], 30);
  const Advised b = advise("latency_ms,status\n" + repeated("170,429\n", 300) + repeated("2600,200\n", 110));
  EXPECT_EQ(b.quantile(0.5, "all_calls_ms"), 2600);
}

TEST(FieldCases, C18ALostProbeStoredAsZeroIsLostAndNotFast) {
  const Advised told = advise("rtt_ms,ok\n12.1,1\n0,0\n11.8,1\n0,0\n12.4,1\n", "--limit 1s");
  EXPECT_EQ(told.group["endings"]["timed_out"], 2);
  EXPECT_EQ(told.group["endings"]["replied"], 3);
  EXPECT_EQ(told.quantile(0.5, "all_calls_ms"), 12.4);
  EXPECT_EQ(told.quantile(0.9, "beyond_ms"), 1000);
  const Advised zeros = advise("rtt_ms\n12.1\n0\n11.8\n0\n12.4\n");
  EXPECT_TRUE(zeros.doubts("zero_latency"));
}

TEST(FieldCases, C21EveryUpstreamAttemptIsChargedToItsOwnServer) {
  const std::string log =
      "rt=0.012 ua=10.0.0.1:80 us=200 ut=0.012 st=200\n"
      "rt=5.021 ua=10.0.0.1:80, 10.0.0.2:80 us=504, 200 ut=5.001, 0.020 st=200\n"
      "rt=0.034 ua=10.0.0.1:80 : 10.0.1.9:80 us=200 : 200 ut=0.003 : 0.031 st=200\n"
      "rt=0.874 ua=10.0.0.1:80, 10.0.0.2:80 us=502, 200 ut=-, 0.873 st=200\n"
      "rt=0.001 ua=- us=- ut=- st=304\n";
  const std::string format =
      "--log-format 'rt=$request_time ua=$upstream_addr us=$upstream_status ut=$upstream_response_time "
      "st=$status'";
  const Advised attempts = advise(log, format);
  EXPECT_EQ(attempts.root["sources"][0]["calls"], 5) << attempts.run.err;
  EXPECT_EQ(attempts.root["sources"][0]["attempts"], 7);
  EXPECT_EQ(attempts.group["endings"]["timed_out"], 1);
  for (const json& row : attempts.group["backends"]) {
    EXPECT_EQ(row["timeout_rate"].get<double>() > 0, row["backend"] == "10.0.0.1:80") << row;
  }
  const Advised calls = advise(log, format + " --calls");
  EXPECT_EQ(calls.group["endings"]["replied"], 5);
  EXPECT_EQ(calls.quantile(0.9999, "replies_only_ms"), 5021);
}

TEST(FieldCases, C22ACallerWhoLeftIsCensoredWhereItLeft) {
  const std::string format = "--log-format 'st=$status rt=$request_time ut=$upstream_response_time'";
  for (const char* left : {"2.000", "-", "0.000"}) {
    const Advised advised = advise(repeated("st=200 rt=0.100 ut=0.100\n", 95) +
                                       repeated(fmt::format("st=499 rt=2.000 ut={}\n", left), 5),
                                   format);
    EXPECT_EQ(advised.group["endings"]["abandoned"], 5) << left << advised.run.err;
    EXPECT_EQ(advised.quantile(0.95, "all_calls_ms"), 100) << left;
    EXPECT_EQ(advised.quantile(0.99, "all_calls_ms"), -1) << left;
    EXPECT_EQ(advised.quantile(0.99, "beyond_ms"), 2000) << left;
    EXPECT_TRUE(advised.doubts("caller_limit")) << left;
  }
}

TEST(FieldCases, C26ImpossibleRowsAreSetAsideAndCountedAndTooManyStopTheRead) {
  std::string log = "start_ms,latency_ms\n";
  const auto row = [&](int i, double ms) { log += fmt::format("{},{}\n", 1'700'000'000'000 + i, ms); };
  for (int i = 0; i < 995; ++i) row(i, 20 + i % 11);
  for (const double ms : {-412, -407, -398}) row(996, ms);
  for (const double ms : {431, 428}) row(997, ms);
  const Advised advised = advise(log, "--accept 1%");
  EXPECT_EQ(advised.root["sources"][0]["set_aside"][0]["count"], 3) << advised.run.err;
  EXPECT_EQ(advised.root["sources"][0]["set_aside"][0]["first_line"], 997);
  EXPECT_EQ(advised.group["endings"]["replied"], 997);
  EXPECT_TRUE(advised.doubts("clock_step"));
  EXPECT_EQ(run_overdue("advise -", "latency_ms\n" + repeated("-5\n", 100)).status, 2);
  EXPECT_EQ(run_overdue("advise -", "latency_ms\n" + repeated("5\n", 90) + repeated("-5\n", 10)).status, 2);
}

}  // namespace
}  // namespace overdue
