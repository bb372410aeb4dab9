#pragma once

#include <array>
#include <cstdint>
#include <vector>

namespace overdue {

// Sorts by what key_of gives, an unsigned number, by its least significant digits first: equal entries stay
// in their order, and the time is that of a few copies.
template <typename Entry, typename KeyOf>
void sort_by_digits(std::vector<Entry>& entries, const KeyOf& key_of) {
  constexpr unsigned kDigitBits = 11;
  constexpr std::uint64_t kDigits = 1U << kDigitBits;
  std::uint64_t all = 0;
  for (const Entry& entry : entries) all |= key_of(entry);
  std::vector<Entry> sorted(entries.size());
  for (unsigned shift = 0; shift < 64 && all >> shift != 0; shift += kDigitBits) {
    std::array<std::size_t, kDigits + 1> next{};
    for (const Entry& entry : entries) ++next[((key_of(entry) >> shift) & (kDigits - 1)) + 1];
    for (std::size_t digit = 1; digit <= kDigits; ++digit) next[digit] += next[digit - 1];
    for (const Entry& entry : entries) sorted[next[(key_of(entry) >> shift) & (kDigits - 1)]++] = entry;
    entries.swap(sorted);
  }
}

}  // namespace overdue
