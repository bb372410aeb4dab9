#include "overdue/base/name_table.h"

#include <gtest/gtest.h>

namespace overdue {
namespace {

TEST(NameTable, NumbersNamesInTheOrderTheyAppearAndTheEmptyOneIsZero) {
  NameTable names;
  EXPECT_EQ(names.id_of(""), 0);
  EXPECT_EQ(names.id_of("b"), 1);
  EXPECT_EQ(names.id_of("a"), 2);
  EXPECT_EQ(names.id_of("b"), 1);
  EXPECT_EQ(names.name_of(2), "a");
  EXPECT_EQ(names.size(), 3u);
}

TEST(NameTable, RemembersTheLastNameWithoutMixingItUp) {
  NameTable names;
  std::string name = "first";
  const std::uint16_t first = names.id_of(name);
  name = "other";  // The caller's bytes change under the view that was asked for.
  EXPECT_NE(names.id_of(name), first);
  EXPECT_EQ(names.id_of("first"), first);
}

TEST(NameTable, GivesEveryFurtherNameTheOverflowsIdOnceItIsFull) {
  NameTable names;
  for (int i = 1; names.size() < NameTable::kNamesMax; ++i) names.id_of(std::to_string(i));
  EXPECT_FALSE(names.overflowed());
  const std::uint16_t over = names.id_of("one too many");
  EXPECT_TRUE(names.overflowed());
  EXPECT_EQ(names.id_of("two too many"), over);
  EXPECT_EQ(names.id_of("one too many"), over);
  EXPECT_EQ(names.name_of(over), NameTable::kOverflowName);
  EXPECT_EQ(names.id_of("1"), 1);
}

}  // namespace
}  // namespace overdue
