#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string_view>

#include "overdue/base/attempt_columns.h"
#include "overdue/recorded/chunk_reader.h"
#include "overdue/recorded/fast_digits.h"
#include "overdue/recorded/four_numbers.h"
#include "overdue/recorded/name_cache.h"
#include "overdue/recorded/number_text.h"
#include "overdue/recorded/route_text.h"
#include "overdue/recorded/time_text.h"

namespace overdue {

// ShortNames remembers the ids of names of up to 16 bytes met lately: two words say whether a name is the
// same, so that a log's few backends cost no call. Requires: 16 readable bytes at a name. Threads: none.
class ShortNames {
 public:
  template <typename Make>
  std::uint16_t id_of(std::string_view name, const Make& make) {
    const std::size_t size = name.size();
    if (size - 1 > 15) [[unlikely]]
      return make();
    const char* const at = name.data();
    std::uint64_t first = load_eight(at);
    std::uint64_t last = 0;
    if (size >= 8) [[likely]] {
      last = load_eight(at + size - 8);
    } else {
      first = right_aligned(first, static_cast<unsigned>(size));
    }
    Entry& entry = entries_[((first ^ last * 31 ^ size) * 0x9e3779b97f4a7c15U) >> 56];
    if (entry.first == first && entry.last == last && entry.size == size) [[likely]]
      return entry.id;
    entry = {first, last, static_cast<std::uint32_t>(size), make()};
    return entry.id;
  }

 private:
  struct alignas(32) Entry {
    std::uint64_t first = 0;
    std::uint64_t last = 0;
    std::uint32_t size = 0;
    std::uint16_t id = 0;
  };
  std::array<Entry, 256> entries_{};
};

// EpochText reads times that are whole numbers of 9 to 16 digits. The first eight characters of one row's are
// mostly those of the row before: what they are worth is remembered. Threads: none.
class EpochText {
 public:
  // False where the text is no such number, or its time is too far away: then another way decides.
  // Requires: 9 <= text.size() <= 16; `power` the same whenever the size is.
  bool read(std::string_view text, unsigned power, std::int64_t& ns) {
    const char* const at = text.data();
    const std::uint64_t first = load_eight(at);
    if (first != known_.first_eight || text.size() != known_.size) [[unlikely]] {
      if (!remember(first, text, power)) return false;
    }
    const std::uint64_t last = load_eight(at + text.size() - 8);
    ns = known_.base + static_cast<std::int64_t>(eight_digits(last)) * known_.unit;
    return are_eight_digits(last);
  }
  // Of the number last read, in nanoseconds.
  const CommonBeginning& beginning() const { return known_; }

 private:
  bool remember(std::uint64_t first, std::string_view text, unsigned power) {
    known_.size = 0;
    if (!are_eight_digits(first)) return false;
    std::uint64_t above = 0;  // The digits before the last eight.
    if (!whole_number(text.data(), text.size() - 8, above)) return false;
    known_.unit = kPowersOfTen[power];
    std::int64_t with_last = 0;
    if (__builtin_mul_overflow(static_cast<std::int64_t>(above + 1) * 100'000'000, known_.unit, &with_last))
      return false;
    known_.base = with_last - 100'000'000 * known_.unit;
    known_.first_eight = first;
    known_.size = static_cast<std::uint32_t>(text.size());
    return true;
  }

  CommonBeginning known_;
};

// What is remembered from row to row, and from chunk to chunk: of 100 KB, which asked for and given back at
// every chunk would leave holes in the heap between what stays.
struct RowPass : RowSink::Scratch {
  explicit RowPass(RowSink& to) : sink(to) {}
  RowSink& sink;
  std::uint64_t line = 0;        // Of the chunk, 0-based: the one being read.
  bool was_set_aside = false;    // A row was, since a reader last asked.
  unsigned fraction_digits = 0;  // Of the latency last read: a guess at the next.
  TimeText times;
  EpochText epochs;
  ShortNames backends;
  ShortNames short_routes;
  NameCache long_routes;
  RouteText routes;
  AttemptColumns columns;
};

// The sink's, at the beginning of a chunk. Requires: all readers of the sink ask for the same kind.
template <typename Pass>
Pass& pass_of(RowSink& sink) {
  if (sink.scratch == nullptr) sink.scratch = std::make_unique<Pass>(sink);
  Pass& pass = static_cast<Pass&>(*sink.scratch);
  pass.line = 0;
  return pass;
}

}  // namespace overdue
