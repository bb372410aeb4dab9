#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "overdue/recorded/name_cache.h"
#include "overdue/recorded/route_text.h"

namespace overdue {

// RouteIds gives the id of a path's route (RouteText), of most without making its name: paths of one length,
// alike in all but the digits of segments that are numbers, have one route, and those met lately are
// remembered.
//
// Threads: none; ids belong to the table of one sink.
class RouteIds {
 public:
  // `target` as in a request line; bytes up to `readable_end` may be looked at. make(name) gives the id of a
  // route's name.
  template <typename Make>
  std::uint16_t id_of(std::string_view target, const char* readable_end, const Make& make) {
    const auto named = [&] {
      const std::string_view route = text_.of(target, readable_end);
      return names_.id_of(route, [&] { return make(route); });
    };
    bool is_new = false;
    Example* const example = find(target, readable_end, is_new);
    if (example == nullptr) return named();
    if (is_new) [[unlikely]]
      example->id = named();
    return example->id;
  }

 private:
  static constexpr std::size_t kShort = 64;
  static constexpr std::size_t kPlaces = 64;

  // A path shorter than kShort, its query left out.
  struct Example {
    std::array<char, kShort> path{};
    std::size_t size = 0;
    std::uint64_t numbers = 0;  // A bit for each digit of a number.
    std::uint16_t id = 0;
  };

  // The place of paths like it, or nullptr: it is not short. `is_new`: there was another, and it has no id
  // yet.
  Example* find(std::string_view target, const char* readable_end, bool& is_new);
  template <unsigned kBytes>
  Example& example_of(const char* path, std::size_t size, bool& is_new);

  RouteText text_;
  NameCache names_;
  std::array<Example, kPlaces> examples_{};
};

}  // namespace overdue
