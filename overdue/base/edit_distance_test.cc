#include "overdue/base/edit_distance.h"

#include <gtest/gtest.h>

namespace overdue {
namespace {

TEST(EditDistance, CountsLettersPutInLeftOutReplacedAndChangedWithTheirNeighbour) {
  EXPECT_EQ(edit_distance("", ""), 0U);
  EXPECT_EQ(edit_distance("orders", "orders"), 0U);
  EXPECT_EQ(edit_distance("orders", "order"), 1U);
  EXPECT_EQ(edit_distance("rest", "reset"), 1U);
  EXPECT_EQ(edit_distance("lose", "lease"), 2U);
  EXPECT_EQ(edit_distance("ordres", "orders"), 1U);
  EXPECT_EQ(edit_distance("ca", "abc"), 3U);  // What was changed with its neighbour is not changed again.
  EXPECT_EQ(edit_distance("", "abc"), 3U);
  EXPECT_EQ(edit_distance("abc", ""), 3U);
}

}  // namespace
}  // namespace overdue
