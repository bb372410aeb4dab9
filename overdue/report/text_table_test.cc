#include "overdue/report/text_table.h"

#include <gtest/gtest.h>

namespace overdue {
namespace {

TEST(TextTable, PadsToTheWidestCellAndLeavesNoSpacesAtTheEnd) {
  TextTable table({2});
  table.add({"a", "1", "left", ""});
  table.add({"bbb", "22", "x", "9"});
  EXPECT_EQ(table.text(2), "  a     1  left\n  bbb  22  x     9\n");
}

TEST(TextTable, CountsCharactersAndNotBytes) { EXPECT_EQ(shown_width("µs"), 2u); }

TEST(TextTable, LeavesOutTheMiddleOfALongNameAndCutsNoCharacter) {
  EXPECT_EQ(without_middle("payments_eu_west_1", 18), "payments_eu_west_1");
  EXPECT_EQ(without_middle("payments_eu_west_1", 17), "payments.._west_1");
  EXPECT_EQ(without_middle("äöüßéàèùâê", 8), "äöü..ùâê");
}

TEST(Wrapped, BreaksAtSpacesAndIndentsTheRest) {
  EXPECT_EQ(wrapped("one two three", 9, "! ", "  "), "! one two\n  three\n");
  EXPECT_EQ(wrapped("averyveryverylongword x", 5, "", ""), "averyveryverylongword\nx\n");
}

TEST(Wrapped, KeepsANumberWithItsUnit) {
  EXPECT_EQ(wrapped("wait for 385 ms.", 12, "", ""), "wait for 385 ms.\n");
}

TEST(Printable, ShowsControlCharactersInsteadOfSendingThem) {
  EXPECT_EQ(printable("a\x1b[31mb\n"), "a\\x1b[31mb\\x0a");
  EXPECT_EQ(printable("a\xc2\x9b"
                      "b"),
            "a\\x9bb");
  EXPECT_EQ(printable("größe"), "größe");
}

}  // namespace
}  // namespace overdue
