#include "overdue/recorded/time_text.h"

#include <gtest/gtest.h>

namespace overdue {
namespace {

std::optional<std::int64_t> ns(std::string_view text) {
  TimeText times;
  const auto at = times.parse(text);
  if (!at) return std::nullopt;
  return at->time_since_epoch().count();
}

TEST(TimeText, ReadsTheTimesThatLogsWrite) {
  struct Case {
    std::string_view text;
    std::optional<std::int64_t> ns;
  };
  const Case cases[] = {
      {"1438867590", 1'438'867'590'000'000'000},
      {"1438867590.285", 1'438'867'590'285'000'000},
      {"1532376558110", 1'532'376'558'110'000'000},
      {"1532376558110123", 1'532'376'558'110'123'000},
      {"1532376558110123456", 1'532'376'558'110'123'456},
      {"1693840791.7564995", 1'693'840'791'756'499'500},
      {"2015-09-06T05:58:05Z", 1'441'519'085'000'000'000},
      {"2015-09-06T05:58:05+09:00", 1'441'486'685'000'000'000},
      {"2015-09-06 05:58:05,250 +0900", 1'441'486'685'250'000'000},
      {"2015-09-06T05:58:05.123456789-0130", 1'441'524'485'123'456'789},
      {"2015-09-06 05:58:05", 1'441'519'085'000'000'000},
      {"2015-09-06 05:58:05 UTC", 1'441'519'085'000'000'000},
      {"2015-09-06T05:58:05+09", 1'441'486'685'000'000'000},
      {"2022-08-22 03:51:19.573905004 +0000 UTC m=+0.079858984", 1'661'140'279'573'905'004},
      {"2015/09/06 05:58:05", 1'441'519'085'000'000'000},
      {"2015/09-06 05:58:05", std::nullopt},
      {"Sun, 06 Sep 2015 05:58:05 GMT", 1'441'519'085'000'000'000},
      {"Sun, 06 Sep 2015 05:58:05 +0900", 1'441'486'685'000'000'000},
      {"Sun, 31 Sep 2015 05:58:05 GMT", std::nullopt},
      {"Sun, 06 Sep 2015 05:58", std::nullopt},
      {"06/Sep/2015:05:58:05 +0900", 1'441'486'685'000'000'000},
      {"30/Jul/2018:09:03:52.726", 1'532'941'432'726'000'000},
      {"2016-02-29T00:00:00Z", 1'456'704'000'000'000'000},
      {"2015-02-29T00:00:00Z", std::nullopt},
      {"2015-13-06T05:58:05Z", std::nullopt},
      {"2015-09-06T24:58:05Z", std::nullopt},
      {"2015-09-06T05:58", std::nullopt},
      {"2015-09-06T05:58:05 tomorrow", std::nullopt},
      {"1969-09-06T05:58:05Z", std::nullopt},
      {"06/Xxx/2015:05:58:05 +0900", std::nullopt},
      {"06/anF/2015:05:58:05 +0900", std::nullopt},
      {"12345", std::nullopt},
      {"-1438867590", std::nullopt},
      {"14388675901438867590", std::nullopt},
      {"", std::nullopt},
      {"yesterday at noon", std::nullopt},
  };
  for (const Case& c : cases) EXPECT_EQ(ns(c.text), c.ns) << c.text;
}

TEST(TimeText, RemembersADateAndNoticesTheNext) {
  TimeText times;
  const auto first = times.parse("06/Sep/2015:23:59:59 +0000");
  const auto same = times.parse("06/Sep/2015:23:59:58 +0000");
  const auto next = times.parse("07/Sep/2015:00:00:00 +0000");
  ASSERT_TRUE(first && same && next);
  EXPECT_EQ(*first - *same, std::chrono::seconds(1));
  EXPECT_EQ(*next - *first, std::chrono::seconds(1));
  const auto iso = times.parse("2015-09-06T23:59:59Z");
  const auto iso_next = times.parse("2015-09-07T00:00:00Z");
  EXPECT_EQ(iso, first);
  EXPECT_EQ(iso_next, next);
}

TEST(TimeText, SaysThatAZoneWasMissing) {
  TimeText times;
  times.parse("2015-09-06T23:59:59Z");
  EXPECT_FALSE(times.zone_was_missing());
  times.parse("2015-09-06 23:59:59");
  EXPECT_TRUE(times.zone_was_missing());
}

}  // namespace
}  // namespace overdue
