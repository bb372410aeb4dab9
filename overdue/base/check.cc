#include "overdue/base/check.h"

#include <cstdio>
#include <cstdlib>

namespace overdue {

void check_failed(const char* condition, std::source_location where) {
  std::fprintf(stderr, "overdue: internal error at %s:%u: %s does not hold\n", where.file_name(),
               static_cast<unsigned>(where.line()), condition);
  std::abort();
}

}  // namespace overdue
