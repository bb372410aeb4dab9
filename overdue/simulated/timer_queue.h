#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "overdue/simulated/calendar.h"
#include "overdue/simulated/event_queue.h"

namespace overdue {

// TimerQueue is an EventQueue with two helpers beside its heap: a calendar for what comes soon, and a lane
// for what is scheduled in the order in which it will happen: limits of one length come due as they were set.
// There a push and a pop are a few instructions, and the heap has only the rest to sort. What comes out, and
// when, is the same with and without them.
//
// Memory: as many places as were in use at once, and the calendar's. Threads: none. Replay: as EventQueue.
class TimerQueue {
 public:
  using Event = EventQueue::Event;
  using Ticket = EventQueue::Ticket;

  TimerQueue() : lane_(kLeast) {}

  // Requires of both: as EventQueue::push_valid().
  Ticket push(Instant at, std::uint32_t slot) {
    const Ticket ticket = heap_.take_ticket(slot);
    const EventQueue::Entry entry = EventQueue::entry_of(at, ticket);
    if (!calendar_.put(entry)) [[unlikely]]
      put_in_heap(entry);
    return ticket;
  }
  // In the lane, where it is not before the last one there.
  Ticket push_limit(Instant at, std::uint32_t slot) {
    if (at < last_in_lane_) return push(at, slot);
    last_in_lane_ = at;
    const Ticket ticket = heap_.take_ticket(slot);
    const EventQueue::Entry entry = EventQueue::entry_of(at, ticket);
    if (head_ == tail_) first_in_lane_ = entry;
    if (tail_ - head_ > mask_) [[unlikely]]
      widen();
    lane_[tail_++ & mask_] = entry;
    return ticket;
  }

  // The slot of the limit that comes due next; kSlotMax where there is none.
  std::uint32_t next_limit() const {
    return static_cast<std::uint32_t>(first_in_lane_) & EventQueue::kSlotMax;
  }

  // Takes the first into `event` where it is at `end` or before it.
  bool pop_until(Instant end, Event& event) {
    const bool in_lane = first_in_lane_ < calendar_.first();
    const EventQueue::Entry soon = in_lane ? first_in_lane_ : calendar_.first();
    if (heap_.first() < soon) {
      if (!heap_.pop_until(end, event)) return false;
    } else {
      if (EventQueue::is_after(soon, end)) return false;
      event = EventQueue::event_of(soon);
      if (in_lane) {
        ++head_;
        first_in_lane_ = head_ == tail_ ? EventQueue::kNone : lane_[head_ & mask_];
      } else {
        calendar_.take_first();
      }
    }
    calendar_.turn_to(event.at);
    return true;
  }

 private:
  static constexpr std::size_t kLeast = 64;
  static constexpr std::uint64_t kRefusedMax = 1024, kReopenedAfter = 64 * kRefusedMax;

  [[gnu::noinline, gnu::cold]] void widen() {
    std::vector<EventQueue::Entry> wider(2 * lane_.size());
    for (std::size_t i = head_; i < tail_; ++i) wider[i & (wider.size() - 1)] = lane_[i & mask_];
    lane_.swap(wider);
    mask_ = lane_.size() - 1;
  }

  // What the calendar refused. Where that is a quarter of all, it gets pages of another length; where it is
  // half and no other would do, for so many events lie ahead at once, it is closed for a while: looked into
  // in vain it costs more than the heap alone.
  [[gnu::noinline]] void put_in_heap(EventQueue::Entry entry) {
    heap_.put(entry);
    if (++refused_ % kRefusedMax != 0) return;
    const std::uint64_t pushes = static_cast<Ticket>(entry) >> EventQueue::kSlotBits;
    const std::uint64_t share = (pushes - looked_at_) / kRefusedMax;  // One in so many was refused.
    looked_at_ = pushes;
    if (!calendar_.is_open()) {
      if (refused_ % kReopenedAfter == 0) calendar_.open();
      return;
    }
    const unsigned bits = calendar_.better_bits();
    const bool closes = bits == calendar_.bits() && share < 2;
    if (share >= 4 || (bits == calendar_.bits() && !closes)) return;
    for (; calendar_.first() != EventQueue::kNone; calendar_.take_first()) heap_.put(calendar_.first());
    if (closes)
      calendar_.close();
    else
      calendar_.set_bits(bits);
  }

  EventQueue heap_;
  Calendar calendar_;
  EventQueue::Entry first_in_lane_ = EventQueue::kNone;
  std::vector<EventQueue::Entry> lane_;  // A ring; its size is a power of two.
  std::size_t mask_ = kLeast - 1;
  std::size_t head_ = 0;
  std::size_t tail_ = 0;
  Instant last_in_lane_{};
  std::uint64_t refused_ = 0;    // By the calendar, of all pushes,
  std::uint64_t looked_at_ = 0;  // and the pushes when that was last looked at.
};

}  // namespace overdue
