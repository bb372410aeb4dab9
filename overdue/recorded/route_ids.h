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
    const Shape shape = shape_of(target, readable_end);
    if (shape.size == 0) return named();
    Example& example = examples_[shape.place];
    if (!is_like(example, shape, target.data())) {
      example.id = named();
      remember(example, shape, target.data());
    }
    return example.id;
  }

 private:
  static constexpr std::size_t kShort = 64;
  static constexpr std::size_t kPlaces = 64;

  // Of a path shorter than kShort, its query left out. A size of 0: of no such path.
  struct Shape {
    std::size_t size = 0;
    std::uint64_t numbers = 0;  // A bit for each digit of a number.
    std::size_t place = 0;      // Where one like it is remembered.
  };
  struct Example {
    std::array<char, kShort> path{};
    std::size_t size = 0;
    std::uint64_t numbers = 0;
    std::uint16_t id = 0;
  };

  static Shape shape_of(std::string_view target, const char* readable_end);
  static bool is_like(const Example& example, const Shape& shape, const char* path);
  static void remember(Example& example, const Shape& shape, const char* path);

  RouteText text_;
  NameCache names_;
  std::array<Example, kPlaces> examples_{};
};

}  // namespace overdue
