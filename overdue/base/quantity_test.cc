#include "overdue/base/quantity.h"

#include <gtest/gtest.h>

namespace overdue {
namespace {

using namespace std::chrono_literals;

TEST(ParseDuration, ReadsEveryUnitExactly) {
  const struct {
    const char* text;
    Duration value;
  } cases[] = {{"385ms", 385ms}, {"1.5s", 1500ms}, {"250us", 250us}, {"0.45ms", 450us},
               {"5m", 5min},     {"24h", 24h},     {"1d", 24h},      {"2 s", 2s}};
  for (const auto& row : cases) {
    ASSERT_TRUE(parse_duration(row.text).has_value()) << row.text;
    EXPECT_EQ(*parse_duration(row.text), row.value) << row.text;
  }
}

TEST(ParseDuration, RefusesWhatHasNoUnitOrNoMeaning) {
  for (const char* text : {"385", "", "ms", "-5ms", "1.2.3s", "5 parsecs", "0.1ns", "99999999999999d"}) {
    EXPECT_FALSE(parse_duration(text).has_value()) << text;
  }
}

TEST(ParseDuration, SaysWhatIsTooLongAndWhatIsNegative) {
  EXPECT_NE(parse_duration("-5s").error().message.find("'-5s' is negative"), std::string::npos);
  for (const char* text : {"1e18s", "99999999999999d", "1e999s"})
    EXPECT_NE(parse_duration(text).error().message.find("is too long"), std::string::npos) << text;
  for (const char* text : {"-", "5 parsecs", "1.2.3s", "ms", "0.1ns"})
    EXPECT_NE(parse_duration(text).error().message.find("is not a duration"), std::string::npos) << text;
}

TEST(ParseRate, ReadsPercentAndFractionAsTheSameNumber) {
  EXPECT_EQ(parse_rate("0.1%")->parts(), Probability::kScale / 1000);
  EXPECT_EQ(parse_rate("0.001")->parts(), Probability::kScale / 1000);
  EXPECT_EQ(parse_rate("1 %")->parts(), Probability::kScale / 100);
}

// C12: whether a bare 1 is one percent or everything is never guessed.
TEST(ParseRate, RefusesABareOneOrMoreWithAHint) {
  for (const char* text : {"1", "99.9", "1.0", "-0.1", "120%", "x", ""}) {
    EXPECT_FALSE(parse_rate(text).has_value()) << text;
  }
  EXPECT_NE(parse_rate("99.9").error().message.find("99.9%"), std::string::npos);
}

TEST(RankOf, IsExactWhereFloatsSlip) {
  // C11: percentiles of 1..100 are the numbers themselves, for 7, 14, 28, 55 and 56 too.
  for (int percent = 1; percent <= 100; ++percent) {
    EXPECT_EQ(rank_of(Quantile{percent / 100.0}, 100), static_cast<std::uint64_t>(percent));
  }
  EXPECT_EQ(rank_of(Quantile{0.999}, 10'000), 9'990u);
  EXPECT_EQ(rank_of(Quantile{0.0}, 10), 1u);
}

TEST(FormatDuration, ShowsThreeDigitsInTheUnitThatFits) {
  EXPECT_EQ(format_duration(383'400us), "383 ms");
  EXPECT_EQ(format_duration(2700ms), "2.7 s");
  EXPECT_EQ(format_duration(9700us), "9.7 ms");
  EXPECT_EQ(format_duration(10ms), "10 ms");
  EXPECT_EQ(format_duration(40us), "40 us");
  EXPECT_EQ(format_duration(10s), "10 s");
  EXPECT_EQ(format_duration(0ns), "0 ns");
}

TEST(FormatDuration, ExactFormReadsBackAsItself) {
  for (const Duration value :
       {Duration(385ms), Duration(1500us), Duration(1h), Duration(90s), Duration(1ns)}) {
    EXPECT_EQ(*parse_duration(format_duration_exact(value)), value);
  }
}

TEST(FormatRate, NeverShowsNearlyAllAsAll) {
  EXPECT_EQ(format_rate(1.0), "100 %");
  EXPECT_EQ(format_rate(0.9998), "99.98 %");
  EXPECT_EQ(format_rate(0.99951), "99.95 %");
  EXPECT_EQ(format_rate(0.9994), "99.9 %");
  EXPECT_EQ(format_rate(0.99997), "99.997 %");
  EXPECT_EQ(format_rate(0.999'999'99), "99.999999 %");
  EXPECT_EQ(format_rate(1 - 1e-15), "100 %");  // A sum's rounding.
  EXPECT_EQ(format_rate(0.123), "12.3 %");
  EXPECT_EQ(format_rate(0.001), "0.10 %");
  EXPECT_EQ(format_rate(0), "0 %");
}

TEST(FormatCount, SeparatesThousands) {
  EXPECT_EQ(format_count(0), "0");
  EXPECT_EQ(format_count(999), "999");
  EXPECT_EQ(format_count(1'204'118), "1,204,118");
}

}  // namespace
}  // namespace overdue
