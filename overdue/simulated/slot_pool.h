#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace overdue {

// SlotPool hands out numbered places that stay where they are. The place given back last is taken first: it
// is still in the cache. What a place holds is left as it was; its next owner sets it.
//
// Memory: as many places as were ever in use at once. Threads: none.
template <typename T>
class SlotPool {
 public:
  T& operator[](std::uint32_t slot) { return (*chunks_[slot / kChunk])[slot % kChunk]; }
  const T& operator[](std::uint32_t slot) const { return (*chunks_[slot / kChunk])[slot % kChunk]; }

  std::uint32_t take() {
    ++used_;
    if (!free_.empty()) {
      const std::uint32_t slot = free_.back();
      free_.pop_back();
      return slot;
    }
    if (made_ % kChunk == 0) chunks_.push_back(std::make_unique<std::array<T, kChunk>>());
    return made_++;
  }
  void give_back(std::uint32_t slot) {
    --used_;
    free_.push_back(slot);
  }

  std::uint32_t used() const { return used_; }
  std::uint32_t made() const { return made_; }  // Every slot is below it.

 private:
  // Small enough to come from memory that earlier runs gave back, not fresh from the system.
  static constexpr std::uint32_t kChunk = 128;
  std::vector<std::unique_ptr<std::array<T, kChunk>>> chunks_;
  std::vector<std::uint32_t> free_;
  std::uint32_t made_ = 0;
  std::uint32_t used_ = 0;
};

}  // namespace overdue
