#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "overdue/simulated/event_queue.h"

namespace overdue {

// TimerQueue is an EventQueue with a lane beside its heap for what is scheduled in the order in which it will
// happen: limits of one length come due as they were set. There a push and a pop are one store and one load,
// and the heap has only the rest to sort. What comes out, and when, is the same with and without a lane.
//
// Memory: as many places as were in use at once. Threads: none. Replay: as EventQueue.
class TimerQueue {
 public:
  using Event = EventQueue::Event;
  using Ticket = EventQueue::Ticket;

  TimerQueue() : lane_(kLeast) {}

  // Requires of both: as EventQueue::push_valid().
  Ticket push(Instant at, std::uint32_t slot) { return heap_.push_valid(at, slot); }
  // In the lane, where it is not before the last one there.
  Ticket push_limit(Instant at, std::uint32_t slot) {
    if (at < last_in_lane_) return heap_.push_valid(at, slot);
    last_in_lane_ = at;
    const Ticket ticket = heap_.take_ticket(slot);
    if (tail_ - head_ == lane_.size()) [[unlikely]]
      widen();
    lane_[tail_++ & (lane_.size() - 1)] = EventQueue::entry_of(at, ticket);
    return ticket;
  }

  // Takes the first into `event` where it is at `end` or before it.
  bool pop_until(Instant end, Event& event) {
    EventQueue::Entry bound = EventQueue::entry_of(end, ~Ticket{0});
    const bool in_lane = head_ < tail_ && lane_[head_ & (lane_.size() - 1)] < bound;
    if (in_lane) bound = lane_[head_ & (lane_.size() - 1)];
    if (heap_.pop_before(bound, event)) return true;
    if (!in_lane) return false;
    ++head_;
    event = EventQueue::event_of(bound);
    return true;
  }

 private:
  static constexpr std::size_t kLeast = 64;

  [[gnu::noinline, gnu::cold]] void widen() {
    std::vector<EventQueue::Entry> wider(2 * lane_.size());
    for (std::size_t i = head_; i < tail_; ++i) wider[i & (wider.size() - 1)] = lane_[i & (lane_.size() - 1)];
    lane_.swap(wider);
  }

  EventQueue heap_;
  std::vector<EventQueue::Entry> lane_;  // A ring; its size is a power of two.
  std::size_t head_ = 0;
  std::size_t tail_ = 0;
  Instant last_in_lane_{};
};

}  // namespace overdue
