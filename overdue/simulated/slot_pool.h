#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <vector>

namespace overdue {

// SlotPool hands out numbered places that stay where they are. The place given back last is taken first: it
// is still in the cache. What a place holds is left as it was; its next owner sets it.
//
// Memory: as many places as were ever in use at once; each is made when it is first taken, so that a chunk
// of which little is used costs little. Threads: none.
template <typename T>
class SlotPool {
 public:
  SlotPool() = default;
  SlotPool(const SlotPool&) = delete;
  SlotPool& operator=(const SlotPool&) = delete;
  ~SlotPool() {
    for (std::uint32_t slot = 0; slot < made_; ++slot) std::destroy_at(&(*this)[slot]);
    for (T* const chunk : chunks_) std::allocator<T>().deallocate(chunk, kChunk);
  }

  T& operator[](std::uint32_t slot) { return chunks_[slot / kChunk][slot % kChunk]; }
  const T& operator[](std::uint32_t slot) const { return chunks_[slot / kChunk][slot % kChunk]; }

  std::uint32_t take() {
    if (free_count_ == 0) return make();
    const std::uint32_t slot = free_[--free_count_];
    if (free_count_ > 0) prefetch(free_[free_count_ - 1]);
    return slot;
  }
  void give_back(std::uint32_t slot) { free_[free_count_++] = slot; }

  // Always inline: a function that does nothing but this is taken for one that does nothing.
  [[gnu::always_inline]] void prefetch(std::uint32_t slot) const {
    const char* const place = reinterpret_cast<const char*>(&(*this)[slot]);
    __builtin_prefetch(place, 1);
    __builtin_prefetch(place + 64, 1);
    if constexpr (sizeof(T) > 128) __builtin_prefetch(place + 128, 1);
  }

  std::uint32_t used() const { return made_ - free_count_; }
  std::uint32_t made() const { return made_; }                          // Every slot is below it.
  std::uint32_t used_below() const { return used() == 0 ? 0 : made_; }  // Every one in use is below it.

 private:
  [[gnu::noinline]] std::uint32_t make() {
    if (made_ % kChunk == 0) {
      chunks_.push_back(std::allocator<T>().allocate(kChunk));
      free_.resize(free_.size() + kChunk);
    }
    // And not T(): a T may leave some of itself as it is.
    ::new (static_cast<void*>(&chunks_.back()[made_ % kChunk])) T;
    return made_++;
  }

  // Small enough to come from memory that earlier runs gave back, not fresh from the system: of a run with
  // 30,000 places in use at once, 500 pages more were fresh with chunks of 128.
  static constexpr std::uint32_t kChunk = 16;
  std::vector<T*> chunks_;
  std::vector<std::uint32_t> free_;  // Has room for every place there is, so that giving back is one store.
  std::uint32_t free_count_ = 0;
  std::uint32_t made_ = 0;
};

}  // namespace overdue
