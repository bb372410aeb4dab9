#include "overdue/cli/memory.h"

#include <malloc.h>
#include <sys/mman.h>
#include <unistd.h>

#include <climits>
#include <cstdint>
#include <cstdlib>

namespace overdue {

void use_large_pages() {
#if defined(__GLIBC__)
  constexpr int kHeapBytes = 64 << 20;  // Taken as addresses; memory comes when it is written to.
  constexpr std::uintptr_t kLargePage = std::uintptr_t{2} << 20;
  (void)::mallopt(M_MMAP_THRESHOLD, kHeapBytes / 2);  // The most it takes.
  (void)::mallopt(M_TRIM_THRESHOLD, INT_MAX);
  (void)::mallopt(M_TOP_PAD, kHeapBytes);
  (void)::mallopt(M_ARENA_MAX, 1);
  void* volatile grown =
      std::malloc(kLargePage);  // Makes the heap what it will be; else left out by the compiler.
  std::free(grown);
  const auto end = reinterpret_cast<std::uintptr_t>(::sbrk(0));
  const std::uintptr_t begin = (end - kHeapBytes + kLargePage - 1) / kLargePage * kLargePage;
  (void)::madvise(reinterpret_cast<void*>(begin), end - begin, MADV_HUGEPAGE);
#endif
}

}  // namespace overdue
