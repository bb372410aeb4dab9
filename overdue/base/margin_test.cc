#include "overdue/base/margin.h"

#include <gtest/gtest.h>

namespace overdue {
namespace {

TEST(ParseMargin, IsNoShareAndMayBeTenTimesTheValue) {
  EXPECT_DOUBLE_EQ(parse_margin("20%").value(), 0.2);
  EXPECT_DOUBLE_EQ(parse_margin("0.2").value(), 0.2);
  EXPECT_DOUBLE_EQ(parse_margin("100%").value(), 1);
  EXPECT_DOUBLE_EQ(parse_margin("200%").value(), 2);
  EXPECT_DOUBLE_EQ(parse_margin("1000 %").value(), 10);
  EXPECT_NE(parse_margin("1001%").error().message.find("at most 1000%"), std::string::npos);
  for (const char* text : {"20", "200", "-5%", "x%", "", "1e999%", "inf%"})
    EXPECT_FALSE(parse_margin(text).has_value()) << text;
}

}  // namespace
}  // namespace overdue
