#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace overdue {

// Whether two texts of one length are the same. Short ones, as names and times are, cost no call.
inline bool same_text(const char* left, const char* right, std::size_t size) {
  const auto differ = [&](std::size_t at) {
    std::uint64_t a = 0;
    std::uint64_t b = 0;
    std::memcpy(&a, left + at, sizeof a);
    std::memcpy(&b, right + at, sizeof b);
    return a ^ b;
  };
  if (size < 8 || size > 32) return std::memcmp(left, right, size) == 0;
  // Words that overlap where the size is no multiple of eight.
  const std::uint64_t ends = differ(0) | differ(size - 8);
  return size <= 16 ? ends == 0 : (ends | differ(8) | differ(size - 16)) == 0;
}

// NameCache remembers the ids of texts met lately, so that a log's few backends and paths cost a comparison
// each instead of a table's hashing. A text has one place; what comes later takes it over.
//
// Threads: none; ids belong to the tables of one sink.
class NameCache {
 public:
  static constexpr std::size_t kPlaces = 128;
  static constexpr std::size_t kTextMax = 64;

  // The id remembered for `text`, or that of make(), remembered.
  template <typename Make>
  std::uint16_t id_of(std::string_view text, const Make& make) {
    if (text.empty() || text.size() > kTextMax) return make();
    const std::size_t place = place_of(text);
    if (sizes_[place] == text.size() && same_text(texts_[place].data(), text.data(), text.size())) {
      return ids_[place];
    }
    const std::uint16_t id = make();
    sizes_[place] = static_cast<std::uint8_t>(text.size());
    std::memcpy(texts_[place].data(), text.data(), text.size());
    ids_[place] = id;
    return id;
  }

 private:
  static std::size_t place_of(std::string_view text) {
    std::uint64_t first = 0;
    std::uint64_t last = 0;
    if (text.size() >= 8) {
      std::memcpy(&first, text.data() + text.size() / 2 - 4, 8);
      std::memcpy(&last, text.data() + text.size() - 8, 8);
    } else {
      std::memcpy(&last, text.data(), text.size());
    }
    const std::uint64_t mixed = (last ^ (first * 31) ^ text.size()) * 0x9e3779b97f4a7c15U;
    return static_cast<std::size_t>(mixed >> 57);
  }

  std::array<std::uint8_t, kPlaces> sizes_{};
  std::array<std::uint16_t, kPlaces> ids_{};
  std::array<std::array<char, kTextMax>, kPlaces> texts_;
};

}  // namespace overdue
