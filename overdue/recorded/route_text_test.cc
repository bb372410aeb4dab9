#include "overdue/recorded/route_text.h"

#include <gtest/gtest.h>

#include <string>

namespace overdue {
namespace {

TEST(RouteText, CutsQueriesAndNamesIds) {
  struct Case {
    const char* target;
    const char* route;
  };
  for (const Case& each :
       {Case{"/", "/"}, Case{"/orders?x=1/2", "/orders"}, Case{"/orders/1234", "/orders/:id"},
        Case{"/orders/1/items/22/", "/orders/:id/items/:id/"}, Case{"/v2/users", "/v2/users"},
        Case{"/u/3f2504e0-4f89-11d3-9a0c-0305e82c3301/x", "/u/:id/x"}, Case{"/c/deadbeef1", "/c/:id"},
        Case{"/c/decade", "/c/decade"}, Case{"/t/abcDEF123_-4567xyz", "/t/:id"},
        Case{"/t/a-page-named-2024-x", "/t/:id"}, Case{"/static/logo-2x.png", "/static/logo-2x.png"},
        Case{"http://host:80/a/7?b", "/a/:id"}, Case{"http://host", "/"}, Case{"*", "*"}, Case{"1", ":id"}}) {
    RouteText text;
    EXPECT_EQ(text.of(each.target), each.route) << each.target;
  }
}

TEST(RouteText, BoundsWhatItKeeps) {
  RouteText text;
  std::string target;
  for (int i = 0; i < 1000; ++i) target += "/1";
  EXPECT_EQ(text.of(target).size(), RouteText::kLengthMax / 2 * 4);
  EXPECT_EQ(text.of("/" + std::string(5000, 'a')).size(), RouteText::kLengthMax);
}

TEST(SplitRequest, TakesMethodAndTarget) {
  EXPECT_EQ(split_request("GET /a b HTTP/1.1").target, "/a b");
  EXPECT_EQ(split_request("GET /a b HTTP/1.1").method, "GET");
  EXPECT_EQ(split_request("GET /old").target, "/old");
  for (const char* each : {"-", "", "\\x16\\x03 \\x01", " /a", "get it"}) {
    EXPECT_TRUE(split_request(each).method.empty()) << each;
    EXPECT_TRUE(split_request(each).target.empty()) << each;
  }
}

}  // namespace
}  // namespace overdue
