// Any bytes as CSV: no crash, and every line accounted for.
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "overdue/recorded/read.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  overdue::ReadOptions options;
  options.format = overdue::Format::csv;
  std::uint64_t rows = 0;
  const auto take = [&](std::span<const overdue::Attempt> batch, const overdue::NameTable&,
                        const overdue::NameTable&, const overdue::NameTable&) {
    for (const overdue::Attempt& row : batch) {
      if (row.elapsed < overdue::Duration(0) || (row.has_connect && row.connect < overdue::Duration(0)))
        std::abort();
    }
    rows += batch.size();
  };
  const auto summary =
      overdue::read_attempts({reinterpret_cast<const char*>(data), size}, "fuzz", options, take);
  if (!summary) return 0;
  std::uint64_t aside = 0;
  for (const overdue::SetAside& set : summary->set_aside) {
    aside += set.count;
    if (set.first_line == 0 || set.first_line > summary->lines) std::abort();
  }
  if (rows != summary->attempts || rows + aside > summary->lines) std::abort();
  return 0;
}
