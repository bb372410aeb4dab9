#include "overdue/simulated/world.h"

#include <algorithm>
#include <utility>

namespace overdue::world {

World::World(const Scenario& scenario, const RunOptions& options) : WorldState(scenario, options) {
  end_ = Instant{} + std::min(scenario.until, options.until.value_or(scenario.until));
  second_ends_ = Instant{} + std::chrono::seconds(1);
  row_ = &timeline_.emplace_back();
  set_up_services();
  set_up_links();
  set_up_pauses();
  set_up_faults();  // Before the clients: what begins at the time of a call comes before it.
  set_up_clients();
  set_up_writes();
}

// The seconds between now and the last event get their rows too. Where there would be too many, two become
// one.
void WorldState::turn_second() {
  while (now_ >= second_ends_) {
    if (timeline_.size() == kTimelineMax) {
      for (std::size_t i = 0; i < kTimelineMax / 2; ++i) {
        timeline_[i] = timeline_[2 * i];
        timeline_[i].join(timeline_[2 * i + 1]);
      }
      timeline_.resize(kTimelineMax / 2);
      ++row_bits_;
    }
    timeline_.push_back(
        {.second = static_cast<std::uint32_t>(timeline_.size() << row_bits_), .queue = queued_});
    row_ = &timeline_.back();
    second_ends_ = Instant{} + std::chrono::seconds(timeline_.size() << row_bits_);
  }
}

// Answers of servers that take no time over ways that take none; hearing one may bring about the next.
inline void World::hear_at_once() {
  for (std::size_t i = 0; i < at_once_.size(); ++i) on_reply(at_once_[i]);
  at_once_.clear();
}

[[gnu::always_inline]] inline void World::handle(const EventQueue::Event& event) {
  const std::uint32_t slot = event.slot();
  // Every event, the order and the numbers of what it is about: one multiplication a word (as in FNV-1a, by
  // words; the shift brings the high bits down).
  hash_ = (hash_ ^ static_cast<std::uint64_t>(event.at.time_since_epoch().count())) * 0x9e3779b97f4a7c15U;
  hash_ = (hash_ ^ (hash_ >> 32) ^ slot) * 0xbf58476d1ce4e5b9U;
  const std::uint32_t index = slot & kIndexMax;
  switch (static_cast<Kind>(slot >> kIndexBits)) {
    case Kind::arrival:
      return on_arrival(index);
    case Kind::user:
      return on_user(index);
    case Kind::wakeup:
      return on_wakeup(index, event.ticket);
    case Kind::connected:
      return on_connected(index);
    case Kind::refused:
      return on_refused(index);
    case Kind::request:
      return on_request(index);
    case Kind::step:
      return on_step(index, event.ticket);
    case Kind::reply:
      return on_reply(index);
    case Kind::cancellation:
      return on_cancellation(index);
    case Kind::check:
      return on_check(index);
    case Kind::fault_begins:
      return on_fault(index, true);
    case Kind::fault_ends:
      return on_fault(index, false);
    case Kind::restart:
      return restart(replicas_[index]);
    case Kind::pause:
      return on_pause(index);
    case Kind::probe:
      return on_probe(replicas_[index]);
    case Kind::write:
      return on_later(index);
  }
}

RunResult World::run() {
  constexpr std::uint64_t kLookEvery = 4096;
  std::uint64_t events_before = 0;  // The present moment, as far as that was looked at.
  Instant looked_at = kNever;
  EventQueue::Event event{};
  // Faults, pauses and probes go on for ever; the run is over when nobody is left to notice.
  while ((open_sources_ > 0 || calls_.used() > 0) && queue_.pop_until(end_, event)) {
    now_ = event.at;
    if (now_ >= second_ends_) [[unlikely]]
      turn_second();
    handle(event);
    if (!at_once_.empty()) hear_at_once();
    if (++events_ % kLookEvery == 0) {
      if (writes_ != nullptr) forget_ended_writes();
      interrupted_ = options_.stop != nullptr && options_.stop->load();
      too_many_ = std::max(calls_.made(), attempts_.made()) > options_.in_use_max;
      if (std::exchange(looked_at, now_) != now_) events_before = events_;
      stands_still_ = events_ - events_before > options_.events_at_one_moment_max;
      if (interrupted_ || too_many_ || stands_still_) break;
    }
  }
  return result();
}

}  // namespace overdue::world

namespace overdue {

RunResult run(const Scenario& scenario, const RunOptions& options) {
  return world::World(scenario, options).run();
}

}  // namespace overdue
