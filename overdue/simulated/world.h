#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "overdue/call/event.h"
#include "overdue/simulated/run.h"
#include "overdue/simulated/world_state.h"

namespace overdue::world {

// World is one run of a scenario: clients, whose calls are Operations over Dependencies under the scenario's
// policy; networks between them and the services; and the services' replicas, which know nothing of their
// callers' patience.
//
//     client --start_call--> Operation --StartAttempt--> connect --> request --> queue --> work --> effect
//        ^------FinishCall-------/ ^-------------------------- reply <----------------------------/
//
// Everything that takes time is one event of one queue; what takes none is done at once, except that an
// answer never comes while its request is still being sent.
//
// Memory:  that of what is under way at once, and a row a second; of clients with a journal also what they
//          and their servers did, for the checker.
// Threads: none. Replay: equal scenario and seed give an equal run.
class World : private WorldState {
 public:
  World(const Scenario& scenario, const RunOptions& options);
  World(const World&) = delete;
  World& operator=(const World&) = delete;

  RunResult run();

 private:
  void handle(const EventQueue::Event& event);
  void hear_at_once();

  // world_setup.cc
  void set_up_links();
  void set_up_services();
  void set_up_pauses();
  void set_up_clients();
  void set_up_faults();
  void set_up_writes();
  std::uint32_t add_channel(std::uint32_t link, std::string_view owner);
  // world_clients.cc
  void schedule_arrival(Source& source, std::uint32_t index);
  void on_arrival(std::uint32_t source);
  void on_user(std::uint32_t user);
  void begin_clients_call(Source& source, std::uint32_t user);
  void on_verdict(Call& call, const FinishCall& finish);

  // world_calls.cc: the caller's side of calls and attempts.
  std::uint32_t take_call(const NewCall& made);
  void start_call(const NewCall& made);
  template <typename OneEvent>
  void tell(std::uint32_t index, Call& call, const OneEvent& event);
  void perform(std::uint32_t index, Call& call, const ActionList& actions, bool caller_left);
  void settle(std::uint32_t index, Call& call);
  void on_wakeup(std::uint32_t index, EventQueue::Ticket ticket);
  AttemptSlot* begin_attempt(std::uint32_t index, Call& call, const StartAttempt& start,
                             const Question* asks = nullptr);
  void give_up(Call& call, const AbandonAttempt& action, bool caller_left);
  void end_attempt(Channel& channel, AttemptSlot& attempt, Ending ending, bool keeps_connection);
  void on_reply(std::uint32_t index) { on_reply(index, attempts_[index]); }
  void on_reply(std::uint32_t index, AttemptSlot& copy);
  void release_call(std::uint32_t index) { release_call(index, calls_[index]); }
  void release_call(std::uint32_t index, Call& call) {
    if (--call.references == 0) end_call(index, call);
  }
  void end_call(std::uint32_t index, Call& call);
  void drop_call(std::uint32_t index, Call& call);
  void release_attempt(std::uint32_t index) { release_attempt(index, attempts_[index]); }
  void release_attempt(std::uint32_t index, AttemptSlot& attempt) {
    if (--attempt.references == 0) forget_attempt(index, attempt);
  }
  void forget_attempt(std::uint32_t index, AttemptSlot& attempt);

  // world_connections.cc
  bool acquire_connection(std::uint32_t index, AttemptSlot& attempt);
  bool connect(std::uint32_t index, AttemptSlot& attempt);
  void on_connected(std::uint32_t index);
  void on_refused(std::uint32_t index);
  void release_connection(Channel& channel, AttemptSlot& attempt, bool kept);
  void serve_next_waiting(Channel& channel, std::uint32_t replica);
  void forget_connections(const ReplicaState& replica);

  // world_network.cc
  void send_request(std::uint32_t index, AttemptSlot& attempt) {
    const LinkState& link = *attempt.channel->link_state;
    const bool has_terms = attempt.deadline != kNever || attempt.message != kNone || link.repeats;
    if (has_terms || !link.request.instant || traced_) return send_with_terms(index, attempt);
    ++attempt.references;
    arrive(index, attempt);
  }
  void send_with_terms(std::uint32_t index, AttemptSlot& attempt);
  void send_over_network(std::uint32_t index, AttemptSlot& attempt, std::optional<Duration> allowance);
  void send_copy(std::uint32_t index, Instant arrives);
  void on_request(std::uint32_t index);
  void answer(std::uint32_t index, AttemptSlot& copy, Ending ending, std::uint16_t status, bool at_once);
  void answer_over_network(std::uint32_t index, AttemptSlot& copy);
  void send_cancellation(std::uint32_t index);

  // world_server.cc
  void arrive(std::uint32_t index, AttemptSlot& attempt);
  void take_next(ReplicaState& replica);
  bool begin_work(std::uint32_t index, AttemptSlot& attempt);
  void step_after(std::uint32_t index, AttemptSlot& attempt, Duration length, Phase phase);
  void on_step(std::uint32_t index, EventQueue::Ticket ticket);
  void service_time_over(std::uint32_t index, AttemptSlot& attempt);
  void take_lock(std::uint32_t index, AttemptSlot& attempt);
  void leave_lock(ServiceState& service);
  void begin_calls(std::uint32_t index, AttemptSlot& attempt);
  void on_callee_verdict(std::uint32_t index, bool answered);
  void after_calls(std::uint32_t index, AttemptSlot& attempt);
  void abandon_calls(std::uint32_t index);
  void commit(std::uint32_t index, AttemptSlot& attempt);
  void end_work(std::uint32_t index, AttemptSlot& attempt);
  void end_work_with(std::uint32_t index, AttemptSlot& attempt, Ending ending, std::uint16_t status);
  void stop_work(std::uint32_t index, AttemptSlot& attempt);
  void on_cancellation(std::uint32_t index);
  void on_check(std::uint32_t index);

  // world_writes.cc: clients whose writes end confirmed.
  void begin_operation(const NewCall& made);
  void freeze(WriteOperation& operation, OperationId id);
  void order_again(OperationId id);
  void start_lifecycle(const NewCall& made, OperationId id, std::uint32_t process,
                       const std::optional<EntryRecovered>& recovered);
  void tell_write(std::uint32_t index, const Event& event);
  void tell_write(std::uint32_t index, const WriteEvent& event);
  std::uint32_t perform(std::uint32_t index, const WriteActions& asked);
  bool begin_step(std::uint32_t index, WriteSlot& slot, AttemptNumber number, Instant answer_by,
                  const std::optional<Question>& question);
  void end_step(WriteSlot& slot);
  void end_awaited(std::uint32_t index, WriteSlot& slot);
  void hear(std::uint32_t index, std::uint32_t original, std::uint32_t copy, AttemptEnded ended);
  void on_told(std::uint32_t index, WriteSlot& slot, const Tell& told);
  void on_resolved(const Call& call, OperationId id, const overdue::Outcome& outcome);
  void on_person_asked(const Call& call, const WriteSlot& slot);
  void release_write(std::uint32_t index);
  void release_root(OperationId id);

  // world_journal.cc
  void persist(std::uint32_t index, WriteSlot& slot, const Persist& what);
  void ask_entry(std::uint32_t index, WriteSlot& slot);
  void schedule(std::uint32_t index, WriteSlot& slot, JournalEvent event, Instant at);
  void push_later(Later later, Instant at);
  void on_later(std::uint32_t number);
  void on_journal(const JournalEvent& event);
  void land(JournalState& journal, const JournalEvent& event);
  void crash_client(std::uint32_t client, Duration restart_after);
  void forget_attempts(std::uint32_t call);
  void recover_client(std::uint32_t client);
  void take_over(std::uint32_t client);

  // world_store.cc: services that keep a record of each key.
  void attach_message(AttemptSlot& attempt, const Question* asks);
  void note_sent(const AttemptSlot& attempt);
  bool turned_away(std::uint32_t index, AttemptSlot& attempt);
  bool claim_key(std::uint32_t index, AttemptSlot& attempt);
  void answer_claim(std::uint32_t index, AttemptSlot& attempt, const ClaimReply& claim, bool limit_passed);
  void answer_too_late(std::uint32_t index, AttemptSlot& attempt, WriteMessage& message, bool limit_passed);
  void do_effect(AttemptSlot& attempt, const std::string& reply);
  bool commit_key(std::uint32_t index, AttemptSlot& attempt);
  bool commit_record(std::uint32_t index, AttemptSlot& attempt, StoreState& store, bool rejects);
  CommitAnswer write_record(AttemptSlot& attempt, StoreState& store, bool rejects);
  void tell_replica(StoreState& store, const KeyScope& scope);
  void on_durable(const StoreEvent& event);
  void fail_over(std::uint32_t service);
  void give_up_key(AttemptSlot& attempt, bool failed);
  void reply_later(std::uint32_t index, AttemptSlot& attempt, Duration length);
  void reply_with_key(std::uint32_t index, AttemptSlot& attempt);
  void answer_question(std::uint32_t index, AttemptSlot& attempt);
  std::optional<RecordTold> ask_store(StoreState& store, const WriteMessage& message, const KeyScope& scope);
  RecordTold fence_key(StoreState& store, const WriteMessage& message, const KeyScope& scope);

  // world_faults.cc
  void on_fault(std::uint32_t index, bool begins);
  void apply(const Fault& fault, ReplicaState& replica, bool begins);
  void apply(const Fault& fault, LinkState& link, bool begins);
  void stand_still(ReplicaState& replica, bool begins);
  void crash(ReplicaState& replica, bool silently);
  void restart(ReplicaState& replica);
  void crash_and_restart(ReplicaState& replica, Duration restart_after);
  bool crash_strikes(const AttemptSlot& attempt, CrashPoint point);
  void on_pause(std::uint32_t index);
  void on_probe(ReplicaState& replica);

  // world_result.cc
  RunResult result();
  void count_under_way();
  void add_clients(RunResult& result);
  void add_links(RunResult& result);
  void add_services(RunResult& result);
  void add_replicas(RunResult& result);
  void add_writes(RunResult& result);
};

}  // namespace overdue::world
