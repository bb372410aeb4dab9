#pragma once

#include <cstdint>
#include <vector>

#include "overdue/base/check.h"
#include "overdue/base/time.h"
#include "overdue/simulated/event_queue.h"

namespace overdue {

// Engine runs handlers at their times: a clock that jumps to whatever comes next. A slot is a handler with at
// most one time at which it is to run; scheduling it again moves that time, cancelling costs one store.
//
//     engine.schedule(slot, engine.now() + 5ms);
//     engine.run_until(end);
//
// Requires: a handler's context outlives its slot. Threads: none. Replay: the order of events is that of
// EventQueue.
class Engine {
 public:
  using Handler = void (*)(void* context);
  using Slot = std::uint32_t;

  Instant now() const { return now_; }
  std::uint64_t events() const { return events_; }  // Handlers run so far.

  Slot add(Handler handler, void* context) {
    Slot slot = first_free_;
    if (slot == kNoSlot) {
      OVERDUE_CHECK(slots_.size() <= EventQueue::kSlotMax);
      slot = static_cast<Slot>(slots_.size());
      slots_.emplace_back();
    } else {
      first_free_ = slots_[slot].next_free;
    }
    slots_[slot].handler = handler;
    slots_[slot].context = context;
    return slot;
  }
  // What was still to run does not; the slot may be given to another.
  void remove(Slot slot) {
    Entry& entry = slots_[slot];
    entry.pending = 0;
    ++entry.generation;
    entry.next_free = first_free_;
    first_free_ = slot;
  }
  // How often this slot has been removed: tells a handler from the one before it.
  std::uint32_t generation(Slot slot) const { return slots_[slot].generation; }
  void* context(Slot slot) const { return slots_[slot].context; }

  // Requires: at >= now().
  void schedule(Slot slot, Instant at) {
    OVERDUE_CHECK(at >= now_);
    slots_[slot].pending = queue_.push_valid(at, slot);
  }
  void cancel(Slot slot) { slots_[slot].pending = 0; }

  // Runs everything up to and at `end`; now() is `end` afterwards.
  void run_until(Instant end) {
    EventQueue::Event event{};
    while (queue_.pop_until(end, event)) {
      Entry& entry = slots_[event.slot()];
      if (entry.pending != event.ticket) [[unlikely]]
        continue;
      now_ = event.at;
      ++events_;
      entry.handler(entry.context);
    }
    now_ = end;
  }

 private:
  static constexpr Slot kNoSlot = ~Slot{0};
  struct Entry {
    EventQueue::Ticket pending = 0;  // Of its last push; 0: cancelled.
    Handler handler = nullptr;
    void* context = nullptr;
    std::uint32_t generation = 0;
    Slot next_free = kNoSlot;
  };

  EventQueue queue_;
  std::vector<Entry> slots_;
  Slot first_free_ = kNoSlot;
  Instant now_{};
  std::uint64_t events_ = 0;
};

}  // namespace overdue
