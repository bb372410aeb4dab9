#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "overdue/base/check.h"
#include "overdue/simulated/run.h"
#include "overdue/simulated/slot_pool.h"
#include "overdue/simulated/timer_queue.h"
#include "overdue/simulated/world_parts.h"
#include "overdue/simulated/world_slots.h"
#include "overdue/simulated/world_write_parts.h"

namespace overdue::world {

// What a call is begun with.
struct NewCall {
  Channel* channel;
  CallKind kind;
  std::uint32_t root = kNone;  // None: itself.
  std::uint32_t parent = kNone;
  std::uint32_t client = kNone;
  std::uint32_t user = kNone;
  std::optional<Instant> deadline = std::nullopt;
};

// WorldState is all that a world is made of, and how its parts are found. What happens to them is World's.
// Threads: none.
class WorldState {
 protected:
  WorldState(const Scenario& scenario, const RunOptions& options)
      : scenario_(scenario), options_(options), traced_(static_cast<bool>(options.trace)) {}
  WorldState(const WorldState&) = delete;
  WorldState& operator=(const WorldState&) = delete;
  ~WorldState() = default;

  EventQueue::Ticket push(Instant at, Kind kind, std::uint32_t index) {
    OVERDUE_CHECK(at >= now_);
    return queue_.push(at, (static_cast<std::uint32_t>(kind) << kIndexBits) | index);
  }

  // Wakes a call then, and at no other time; `is_limit`: of an attempt that begins now. Limits of one length
  // come due in the order in which they are set.
  void wake_at(Instant wanted, std::uint32_t index, Call& call, bool is_limit) {
    call.wakeup_at = wanted;
    if (call.timer_at <= wanted) return;
    call.timer_at = wanted;
    const Instant at = std::max(wanted, now_);
    const std::uint32_t slot = (static_cast<std::uint32_t>(Kind::wakeup) << kIndexBits) | index;
    call.timer = is_limit ? queue_.push_limit(at, slot) : queue_.push(at, slot);
  }
  std::uint32_t pick_replica(Channel& channel) {
    return channel.in_flight.size() == 1 ? 0 : pick_replica_of_several(channel);
  }
  bool has_journal(std::uint32_t client) const {
    return writes_ != nullptr && client != kNone && writes_->journals[client].said != nullptr;
  }
  bool is_down(std::uint32_t client) const { return has_journal(client) && writes_->journals[client].down; }

  // Each in the file of what asks it most.
  StoreState* store_of(const AttemptSlot& attempt);
  KeyScope scope_in(const StoreState& store, const WriteMessage& message) const;
  std::uint32_t number_of(const StoreState& store) const;
  void note(HistoryEntry entry);
  void mark(LedgerMark what, const KeyScope& scope, const std::string& reply = {});
  std::optional<Instant> write_wakeup(const Call& call) const;
  bool write_is_over(const Call& call) const;
  void tally_writes(const std::map<OperationId, WriteOperation>& operations, const History& history,
                    const Ledger& ledger, bool drained);
  bool stored(const AttemptSlot& attempt) const;
  const Fault* crash_at(const AttemptSlot& attempt, CrashPoint point) const;
  void expire(StoreState& store, const KeyScope& scope);
  std::uint32_t pick_replica_of_several(Channel& channel);
  bool lost(WayState& way, Random& random);
  bool is_open(Channel& channel, Instant since);
  bool meets_closed(Channel& channel, Instant since);
  void turn_second();
  void fold(const Call& call);
  double utilisation(const ServiceState& service, double busy_ns, double replicas) const;

  // world_setup.cc. Requires, but for those that say "or none": there is one of that name.
  std::uint32_t link_named(std::string_view name) const;
  std::uint32_t service_named(std::string_view name) const;
  std::uint32_t client_named(std::string_view name) const;
  std::uint32_t link_named_or_none(std::string_view name) const;

  // The attempt that this is, or is a copy of.
  AttemptSlot& original_of(AttemptSlot& attempt) {
    return attempt.is_copy ? attempts_[attempt.original] : attempt;
  }
  static ServiceState& service_of(const AttemptSlot& attempt) { return *attempt.replica->service; }
  TimelineRow& row() { return *row_; }
  TimelineRow& row_of(Instant past) {
    return timeline_[static_cast<std::size_t>(past.time_since_epoch() / std::chrono::seconds(1)) >>
                     row_bits_];
  }
  void append(Line& line, std::uint32_t index);
  void prepend(Line& line, std::uint32_t index);
  std::uint32_t take_first(Line& line);
  void take_out(Line& line, std::uint32_t index);

  // world_writes_forget.cc
  void forget_from_now_on();
  void forget_ended_writes();
  std::size_t kept_of_writes() const;
  std::unordered_set<std::uint64_t> intents_under_way() const;

  // world_trace.cc: only where somebody listens.
  void trace_call(const Call& call, std::string_view what);
  void trace_attempt(const AttemptSlot& attempt, std::string_view what);
  void trace_part(std::string_view part, std::string_view what);

  const Scenario& scenario_;
  const RunOptions& options_;
  const bool traced_;
  Instant now_{};
  Instant second_ends_{};
  Instant end_{};
  TimerQueue queue_;
  std::vector<std::uint32_t> at_once_;  // Attempts whose answer is there as soon as this event is over.
  SlotPool<Call> calls_;
  SlotPool<AttemptSlot> attempts_;
  std::vector<LinkState> links_;
  std::deque<Bursts> bursts_;
  std::vector<std::unique_ptr<Channel>> channels_;
  std::vector<ServiceState> services_;
  std::vector<ReplicaState> replicas_;
  std::vector<PauseSource> pauses_;
  std::vector<ClientState> clients_;
  std::vector<Source> sources_;
  std::vector<std::uint32_t> client_channels_;
  std::vector<std::uint32_t> users_;  // The source of each user of a closed loop.
  std::vector<TimelineRow> timeline_;
  unsigned row_bits_ = 0;           // A row is 2^row_bits_ seconds.
  TimelineRow* row_ = nullptr;      // Of the present second.
  std::uint32_t open_sources_ = 0;  // That may still begin calls; users, of closed loops.
  std::uint64_t queued_ = 0;        // In all queues.
  std::uint64_t calls_made_ = 0;
  std::uint64_t events_ = 0;
  std::uint64_t hash_ = 0;
  bool crashes_drawn_ = false;          // Some fault crashes per request.
  std::unique_ptr<WriteWorld> writes_;  // None: no client has a journal, no service a store.
  std::optional<Duration> faults_end_;
  bool fault_came_ = false;
  std::vector<bool> fault_on_;
  bool interrupted_ = false;
  bool too_many_ = false;
  bool stands_still_ = false;
};

}  // namespace overdue::world
