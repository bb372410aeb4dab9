#pragma once

#include <array>
#include <cstddef>
#include <new>

namespace overdue {

// FramePool keeps the memory of ended coroutines for the next ones: a list for each multiple of 64 bytes up
// to 2 KB; what is larger goes to the heap. Nothing but memory is shared by what takes from it.
//
// Threads: one pool each. Owns: what was given back, until the thread ends.
class FramePool {
 public:
  static FramePool& of_this_thread() {
    thread_local FramePool pool;
    return pool;
  }
  FramePool() = default;
  FramePool(const FramePool&) = delete;
  FramePool& operator=(const FramePool&) = delete;
  ~FramePool() {
    for (Free* list : lists_) {
      while (list != nullptr) {
        Free* const next = list->next;
        ::operator delete(list);
        list = next;
      }
    }
  }

  void* take(std::size_t size) {
    const std::size_t index = index_of(size);
    if (index >= kLists) return ::operator new(size);
    Free* const free = lists_[index];
    if (free == nullptr) return ::operator new((index + 1) * kStep);
    lists_[index] = free->next;
    return free;
  }
  void give_back(void* frame, std::size_t size) {
    const std::size_t index = index_of(size);
    if (index >= kLists) return ::operator delete(frame);
    lists_[index] = new (frame) Free{lists_[index]};
  }

 private:
  struct Free {
    Free* next;
  };
  static constexpr std::size_t kStep = 64;
  static constexpr std::size_t kLists = 32;
  static std::size_t index_of(std::size_t size) { return (size - 1) / kStep; }

  std::array<Free*, kLists> lists_{};
};

}  // namespace overdue
