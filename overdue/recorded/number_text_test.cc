#include "overdue/recorded/number_text.h"

#include <gtest/gtest.h>

#include <string>

#include "overdue/base/random.h"

namespace overdue {
namespace {

TEST(NumberText, IsExactToTheNanosecond) {
  struct Case {
    std::string_view text;
    unsigned power;
    std::optional<std::int64_t> value;
  };
  const Case cases[] = {
      {"0.057", 9, 57'000'000},
      {"0.1", 9, 100'000'000},
      {"12.345", 6, 12'345'000},
      {"12", 6, 12'000'000},
      {"5.", 3, 5'000},
      {".5", 3, 500},
      {"0", 9, 0},
      {"-3.5", 3, -3'500},
      {"+3.5", 3, 3'500},
      {"2.010e-06", 9, 2'010},
      {"1e3", 0, 1'000},
      {"48.388333333333328", 6, 48'388'333},
      {"0.24062500000000003", 9, 240'625'000},
      {"3.3450000000000000", 6, 3'345'000},
      {"0.0000000005", 9, 1},
      {"0.0000000004999", 9, 0},
      {"1438867590.285", 9, 1'438'867'590'285'000'000},
      {"9223372036854775807", 0, INT64_MAX},
      {"9223372036854775808", 0, std::nullopt},
      {"9223372037", 9, std::nullopt},
      {"99999999999999999999999999999999999999999999", 0, std::nullopt},
      {"0.00000000000000000000000000000000000000000000001", 9, 0},
      {"1e9999", 0, std::nullopt},
      {"0e9999", 0, 0},
      {"", 0, std::nullopt},
      {"-", 0, std::nullopt},
      {".", 0, std::nullopt},
      {"1,5", 0, std::nullopt},
      {"1.2.3", 0, std::nullopt},
      {"1e", 0, std::nullopt},
      {"1e+", 0, std::nullopt},
      {"nan", 0, std::nullopt},
      {"0x10", 0, std::nullopt},
      {" 1", 0, std::nullopt},
      {"1 ", 0, std::nullopt},
  };
  for (const Case& c : cases) EXPECT_EQ(decimal_scaled(c.text, c.power), c.value) << c.text;
}

TEST(NumberText, FastAndSlowWaysAgree) {
  Random random(7);
  for (int round = 0; round < 20'000; ++round) {
    std::string text;
    const auto whole = 1 + random.below(12);
    const auto fraction = random.below(12);
    for (std::uint64_t i = 0; i < whole; ++i) text += static_cast<char>('0' + random.below(10));
    if (fraction > 0) text += '.';
    for (std::uint64_t i = 0; i < fraction; ++i) text += static_cast<char>('0' + random.below(10));
    const auto power = static_cast<unsigned>(random.below(4)) * 3;
    ASSERT_EQ(decimal_scaled(text, power), decimal_scaled_slow(text, power)) << text << " e" << power;
  }
}

TEST(NumberText, NamesItsUnits) {
  EXPECT_EQ(length_of(TimeUnit::seconds), std::chrono::seconds(1));
  EXPECT_EQ(length_of(TimeUnit::microseconds), std::chrono::microseconds(1));
  EXPECT_EQ(name_of(TimeUnit::milliseconds), "ms");
}

}  // namespace
}  // namespace overdue
