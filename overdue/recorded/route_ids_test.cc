#include "overdue/recorded/route_ids.h"

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "overdue/base/random.h"

namespace overdue {
namespace {

// The ids of names, in the order in which they are first asked for.
class Names {
 public:
  std::uint16_t id_of(std::string_view name) {
    return ids_.try_emplace(std::string(name), static_cast<std::uint16_t>(ids_.size())).first->second;
  }

 private:
  std::map<std::string, std::uint16_t> ids_;
};

TEST(RouteIds, AreThoseOfTheRoutesNames) {
  // Pieces of which paths are put together: whole numbers, ids that are none, digits inside words, queries.
  const std::vector<std::string> pieces = {"/orders", "/1",         "/22",     "/98765",
                                           "/v2",     "/deadbeef1", "/decade", "/logo-2x",
                                           "?a=1",    "/a/b/c/d",   "/",       "/abcDEF123_-4567xyz"};
  Random random(31);
  RouteIds routes;
  Names by_route_ids;
  for (int call = 0; call < 20'000; ++call) {
    std::string target;
    for (std::uint64_t count = 1 + random.below(6); count > 0; --count)
      target += pieces[random.below(pieces.size())];
    for (char& c : target) {
      if (c >= '0' && c <= '9' && random.below(2) == 0) c = static_cast<char>('0' + random.below(10));
    }
    const std::string readable = target + std::string(64, random.below(2) == 0 ? '7' : '/');
    const std::string_view view(readable.data(), target.size());
    const std::size_t after = random.below(4) == 0 ? 0 : 64;  // Sometimes nothing after it may be read.
    const std::uint16_t found = routes.id_of(view, readable.data() + target.size() + after,
                                             [&](std::string_view name) { return by_route_ids.id_of(name); });
    RouteText text;
    EXPECT_EQ(found, by_route_ids.id_of(text.of(target))) << target;
  }
}

TEST(RouteIds, TellPathsApartThatDifferInOneCharacterThatIsNoDigit) {
  RouteIds routes;
  Names names;
  const auto id_of = [&](const std::string& target) {
    const std::string readable = target + std::string(64, 'x');
    return routes.id_of({readable.data(), target.size()}, readable.data() + readable.size(),
                        [&](std::string_view name) { return names.id_of(name); });
  };
  const std::string path = "/api/orders/12345/items/99/of/the/shop/in/the/street";
  const std::uint16_t id = id_of(path);
  EXPECT_EQ(id_of("/api/orders/54321/items/00/of/the/shop/in/the/street"), id);
  EXPECT_EQ(id_of(path + "?from=1"), id);
  for (std::size_t at = 1; at < path.size(); ++at) {
    if (path[at] >= '0' && path[at] <= '9') continue;
    std::string other = path;
    other[at] = 'Z';
    EXPECT_NE(id_of(other), id) << at;
    EXPECT_EQ(id_of(path), id);
  }
}

}  // namespace
}  // namespace overdue
