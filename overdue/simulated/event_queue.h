#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "overdue/base/check.h"
#include "overdue/base/time.h"

namespace overdue {

// EventQueue holds what is to happen and gives it back in the order of time; equal times in the order in
// which they were scheduled. An entry is 16 bytes, time over sequence over slot, compared as one 128-bit
// number: no two are equal, so the order never depends on how the heap happens to lie.
//
// Every push returns a ticket. A timer is cancelled by forgetting its ticket: its entry still comes out at
// its time, and whoever takes it sees that the slot waits for another ticket. A slot may be used again at
// once.
//
// The heap is 4-ary, the children of a node side by side in one cache line (LaMarca and Ladner, "The
// Influence of Caches on the Performance of Heaps", 1996); unused places hold the greatest number, so that
// the least of four needs no look at the end. pop() leaves its place open until the next call: most events
// schedule one more, which then goes down from the top once instead of a removal and an insertion.
//
// Limits: 2^28 slots, 2^36 pushes. Threads: none. Replay: integers only.
class EventQueue {
 public:
  using Ticket = std::uint64_t;                   // Sequence over slot; never 0.
  __extension__ using Entry = unsigned __int128;  // Time over ticket.
  static constexpr Entry kNone = ~Entry{0};       // After every entry there is.
  static constexpr unsigned kSlotBits = 28;
  static constexpr std::uint32_t kSlotMax = (std::uint32_t{1} << kSlotBits) - 1;

  struct Event {
    Instant at;
    Ticket ticket;
    std::uint32_t slot() const { return static_cast<std::uint32_t>(ticket) & kSlotMax; }
  };

  EventQueue() { grow(); }
  EventQueue(const EventQueue&) = delete;
  EventQueue& operator=(const EventQueue&) = delete;

  bool empty() const { return end_ == kRoot + (open_ ? 1U : 0U); }
  std::size_t size() const { return end_ - kRoot - (open_ ? 1U : 0U); }

  // Requires: at is not before the timeline's zero, slot <= kSlotMax.
  Ticket push(Instant at, std::uint32_t slot) {
    OVERDUE_CHECK(at >= Instant{} && slot <= kSlotMax);
    return push_valid(at, slot);
  }
  // For an engine that has looked already.
  Ticket push_valid(Instant at, std::uint32_t slot) {
    const Ticket ticket = take_ticket(slot);
    put(entry_of(at, ticket));
    return ticket;
  }

  // For who keeps some entries elsewhere: a place in the order, the entry that belongs to it, and back; and
  // an entry that is to be kept here after all.
  void put(Entry entry) {
    if (open_) {
      open_ = false;
      sift_down(kRoot, entry);
    } else {
      if (end_ == capacity_) grow();
      sift_up(end_++, entry);
    }
  }
  Ticket take_ticket(std::uint32_t slot) {
    OVERDUE_CHECK(sequence_ < kSequenceMax);
    return (++sequence_ << kSlotBits) | slot;
  }
  static Entry entry_of(Instant at, Ticket ticket) {
    return (static_cast<Entry>(static_cast<std::uint64_t>(at.time_since_epoch().count())) << 64) | ticket;
  }
  // As unsigned numbers, so that kNone is after every end.
  static bool is_after(Entry entry, Instant end) {
    return static_cast<std::uint64_t>(entry >> 64) >
           static_cast<std::uint64_t>(end.time_since_epoch().count());
  }
  static Event event_of(Entry entry) { return {time_of(entry), static_cast<Ticket>(entry)}; }

  // Requires: !empty().
  Instant next_at() { return time_of(first()); }
  // kNone where there is nothing.
  Entry first() {
    close();
    return entries_[kRoot];
  }

  // Takes the first into `event` where it is at `end` or before it.
  bool pop_until(Instant end, Event& event) {
    const Entry least = first();
    if (is_after(least, end)) return false;
    open_ = true;
    event = event_of(least);
    return true;
  }

  // Requires: !empty().
  Event pop() {
    close();
    OVERDUE_CHECK(end_ > kRoot);
    open_ = true;
    const Entry least = entries_[kRoot];
    return event_of(least);
  }

 private:
  struct alignas(64) Line {
    std::array<Entry, 4> entries;
  };
  // Places are counted so that the four children of place p, 4p - 8 to 4p - 5, begin a line.
  static constexpr std::size_t kRoot = 3;
  static constexpr std::uint64_t kSequenceMax = (std::uint64_t{1} << (64 - kSlotBits)) - 1;

  static Instant time_of(Entry entry) {
    return Instant(Duration(static_cast<std::int64_t>(static_cast<std::uint64_t>(entry >> 64))));
  }

  // Fills the place that pop() left with the last entry.
  void close() {
    if (!open_) return;
    open_ = false;
    const Entry last = entries_[--end_];
    entries_[end_] = kNone;
    if (end_ > kRoot) sift_down(kRoot, last);
  }

  void sift_down(std::size_t place, Entry entry) {
    Entry* const entries = entries_;
    for (;;) {
      const std::size_t first = 4 * place - 8;
      if (first >= end_) break;
      const std::size_t low = first + (entries[first + 1] < entries[first] ? 1U : 0U);
      const std::size_t high = first + 2 + (entries[first + 3] < entries[first + 2] ? 1U : 0U);
      const std::size_t least = entries[high] < entries[low] ? high : low;
      if (entry < entries[least]) break;
      entries[place] = entries[least];
      place = least;
    }
    entries[place] = entry;
  }

  void sift_up(std::size_t place, Entry entry) {
    while (place > kRoot) {
      const std::size_t parent = place / 4 + 2;
      if (entries_[parent] < entry) break;
      entries_[place] = entries_[parent];
      place = parent;
    }
    entries_[place] = entry;
  }

  // Kept out of push(): a Line of its own would have every push align its stack.
  [[gnu::noinline, gnu::cold]] void grow() {
    Line unused{};
    unused.entries.fill(kNone);
    lines_.resize(lines_.empty() ? 16 : 2 * lines_.size(), unused);
    entries_ = lines_.front().entries.data();
    capacity_ = 4 * lines_.size();
  }

  std::vector<Line> lines_;
  Entry* entries_ = nullptr;  // The lines as one array.
  std::size_t capacity_ = 0;
  std::size_t end_ = kRoot;
  bool open_ = false;  // The root has been taken and its place not filled.
  std::uint64_t sequence_ = 0;
};

}  // namespace overdue
