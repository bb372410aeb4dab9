#include "overdue/cli/memory.h"

#include <malloc.h>
#include <sys/mman.h>
#include <unistd.h>

#include <climits>
#include <cstdint>
#include <cstdlib>
#include <system_error>
#include <thread>

namespace overdue {

#if defined(__GLIBC__)
namespace {

constexpr int kHeapBytes = 64 << 20;  // Taken as addresses; memory comes when it is written to.
constexpr std::uintptr_t kLargePage = std::uintptr_t{2} << 20;

std::uintptr_t rounded_up(std::uintptr_t address) {
  return (address + kLargePage - 1) / kLargePage * kLargePage;
}

void advise_large_pages(std::uintptr_t begin, std::uintptr_t end) {
  if (begin >= end) return;
  // NOLINTNEXTLINE(performance-no-int-to-ptr): places are rounded as numbers.
  (void)::madvise(reinterpret_cast<void*>(begin), end - begin, MADV_HUGEPAGE);
}

}  // namespace
#endif

void use_large_pages() {
#if defined(__GLIBC__)
  (void)::mallopt(M_MMAP_THRESHOLD, kHeapBytes / 2);  // The most it takes.
  (void)::mallopt(M_TRIM_THRESHOLD, INT_MAX);
  (void)::mallopt(M_TOP_PAD, kHeapBytes);
  (void)::mallopt(M_ARENA_MAX, 2);
  // Small pieces join what is free beside them at once: kept apart they left holes of half the heap in some
  // runs.
  (void)::mallopt(M_MXFAST, 0);
  void* volatile grown =
      std::malloc(kLargePage);  // Makes the heap what it will be; else left out by the compiler.
  std::free(grown);
  const auto end = reinterpret_cast<std::uintptr_t>(::sbrk(0));
  advise_large_pages(rounded_up(end - kHeapBytes), end);
  // The first second thread makes the second heap, which begins at a multiple of its size and stays for
  // others.
  try {
    std::jthread([] {
      void* volatile first = std::malloc(1);
      const auto begin = reinterpret_cast<std::uintptr_t>(first) / kHeapBytes * kHeapBytes;
      std::free(first);
      advise_large_pages(begin, begin + kHeapBytes);
    });
  } catch (const std::system_error&) {
    return;  // No thread to be had.
  }
#endif
}

void give_back_free_memory() {
#if defined(__GLIBC__)
  (void)::malloc_trim(0);
#endif
}

}  // namespace overdue
