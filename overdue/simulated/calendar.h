#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <numeric>
#include <utility>

#include "overdue/simulated/event_queue.h"

namespace overdue {

// Calendar holds entries of the near future on pages of equal length, in order: putting one in and taking the
// first out are a few instructions each, however many there are (Brown, "Calendar Queues", 1988). A page has
// few places, and there are pages for a while only: an entry that finds no place is refused, and is for its
// owner to keep. Where many are, better_bits() says which length of a page would suit them; where there is
// none, it is better closed.
//
// Memory: 256 KB. Threads: none. Replay: integers only; what it refuses depends on what it was given alone.
class Calendar {
 public:
  using Entry = EventQueue::Entry;

  Calendar() : pages_(std::make_unique_for_overwrite<Page[]>(kPages)) {}

  // The earliest; EventQueue::kNone where there is none.
  Entry first() const { return first_; }

  // Turns to the page of `now`. Requires: none in it is on an earlier one.
  void turn_to(Instant now) { today_ = page_of(EventQueue::entry_of(now, 0)); }

  // False where there is no place for it.
  bool put(Entry entry) {
    const std::uint64_t page = page_of(entry);
    if (page - today_ >= open_) return refuse(far_);
    const std::size_t index = page % kPages;
    std::size_t place = taken_[index];
    if (place == kPlaces) return refuse(full_);
    ++taken_[index];
    // The first one last, where it is taken from.
    Entry* const places = pages_[index].places.data();
    for (; place > 0 && places[place - 1] < entry; --place) places[place] = places[place - 1];
    places[place] = entry;
    filled_[index / 64] |= std::uint64_t{1} << (index % 64);
    words_ |= std::uint64_t{1} << (index / 64);
    if (entry < first_) first_ = entry;
    return true;
  }

  // Requires: there is one.
  void take_first() {
    const std::size_t index = page_of(first_) % kPages;
    const std::size_t left = --taken_[index];
    first_ = left > 0 ? pages_[index].places[left - 1] : first_after(index);
  }

  // A page lasts 2^bits() ns.
  unsigned bits() const { return bits_; }
  // Requires: it is empty.
  void set_bits(unsigned bits) {
    today_ = bits < bits_ ? today_ << (bits_ - bits) : today_ >> (bits - bits_);
    bits_ = bits;
  }
  // Closed, it refuses everything. Requires of close(): it is empty.
  bool is_open() const { return open_ > 0; }
  void open() { open_ = kPages; }
  void close() { open_ = 0; }

  // With which fewer would find a full page, judged by those refused since it was last asked; or, where
  // hardly any did, more would find a page at all. Longer pages only while most are empty: else the far ones
  // would fill them, and it would go back and forth.
  unsigned better_bits() {
    const std::uint32_t full = std::exchange(full_, 0);
    const std::uint32_t far = std::exchange(far_, 0);
    if (full > far / 8) return std::max(bits_ - 1, kBitsMin);
    const bool sparse = std::accumulate(taken_.begin(), taken_.end(), std::size_t{0}) < kPages / 2;
    return far > 0 && sparse ? std::min(bits_ + 1, kBitsMax) : bits_;
  }

 private:
  // 66 us at first, and pages for a quarter of a second: a page seldom has two then, and where the second
  // goes is not for the processor to guess.
  static constexpr unsigned kBitsMin = 6, kBitsAtFirst = 16, kBitsMax = 40;
  static constexpr std::size_t kPages = 4096;
  static constexpr std::size_t kPlaces = 4;
  struct alignas(64) Page {
    std::array<Entry, kPlaces> places;
  };

  std::uint64_t page_of(Entry entry) const { return static_cast<std::uint64_t>(entry >> 64) >> bits_; }
  static bool refuse(std::uint32_t& why) {
    ++why;
    return false;
  }

  // The page at `index` has become empty.
  Entry first_after(std::size_t index) {
    std::size_t word = index / 64;
    filled_[word] &= ~(std::uint64_t{1} << (index % 64));
    const std::uint64_t later = filled_[word] >> (index % 64);
    if (later != 0) return first_of(index + static_cast<std::size_t>(std::countr_zero(later)));
    if (filled_[word] == 0) words_ &= ~(std::uint64_t{1} << word);
    if (words_ == 0) return EventQueue::kNone;
    // Round to this word again: its earlier pages come last.
    const std::uint64_t turned = std::rotr(words_, static_cast<int>(word + 1));
    word = (word + 1 + static_cast<std::size_t>(std::countr_zero(turned))) % filled_.size();
    return first_of(64 * word + static_cast<std::size_t>(std::countr_zero(filled_[word])));
  }
  Entry first_of(std::size_t index) const { return pages_[index].places[taken_[index] - 1U]; }

  unsigned bits_ = kBitsAtFirst;
  std::uint64_t words_ = 0;  // A bit for each word of filled_.
  std::uint32_t full_ = 0;   // Refused.
  std::uint32_t far_ = 0;
  std::uint64_t today_ = 0;
  std::uint64_t open_ = kPages;  // So many pages from today's on.
  Entry first_ = EventQueue::kNone;
  std::unique_ptr<Page[]> pages_;  // Without initial values: a short run sees few of them.
  std::array<std::uint64_t, kPages / 64> filled_{};
  std::array<std::uint8_t, kPages> taken_{};
};

}  // namespace overdue
