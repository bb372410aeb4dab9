#pragma once

#include <coroutine>
#include <cstddef>
#include <cstdint>
#include <exception>

#include "overdue/base/check.h"
#include "overdue/base/time.h"
#include "overdue/simulated/engine.h"
#include "overdue/simulated/frame_pool.h"

namespace overdue {

// Process is a coroutine that lives in an Engine's time:
//
//     Process customer(Engine& engine, Signal& open) {
//       co_await hold(5ms);                            // Let time pass.
//       if (!co_await open.wait(1s)) co_return;          // Wait for a signal, at most so long.
//     }
//     ProcessId id = start(engine, customer(engine, open));
//     cancel(engine, id);                              // Ends it where it waits; its locals are destroyed.
//
// A process that waits is one slot of the engine and its frame, which comes from a pool.
//
// Requires: every process has ended, or been cancelled, before its engine is destroyed.
// Threads:  none; one thread drives an engine and its processes.
struct ProcessId {
  Engine::Slot slot;
  std::uint32_t generation;
};

class Process {
 public:
  struct promise_type {
    Engine* engine = nullptr;
    Engine::Slot slot = 0;

    ~promise_type() {
      if (engine != nullptr) engine->remove(slot);
    }
    Process get_return_object() { return Process(Handle::from_promise(*this)); }
    std::suspend_always initial_suspend() const noexcept { return {}; }
    std::suspend_never final_suspend() const noexcept { return {}; }
    void return_void() const {}
    void unhandled_exception() const { std::terminate(); }

    static void* operator new(std::size_t size) { return FramePool::of_this_thread().take(size); }
    static void operator delete(void* frame, std::size_t size) {
      FramePool::of_this_thread().give_back(frame, size);
    }
  };
  using Handle = std::coroutine_handle<promise_type>;

  Process(Process&& other) noexcept : handle_(other.handle_) { other.handle_ = nullptr; }
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;
  Process& operator=(Process&&) = delete;
  ~Process() {
    if (handle_) handle_.destroy();  // Never started.
  }

 private:
  explicit Process(Handle handle) : handle_(handle) {}
  friend ProcessId start(Engine& engine, Process process);
  Handle handle_;
};

// Begins at the present, after what is scheduled for it already.
inline ProcessId start(Engine& engine, Process process) {
  const Process::Handle handle = process.handle_;
  process.handle_ = nullptr;
  auto& promise = handle.promise();
  promise.engine = &engine;
  promise.slot = engine.add([](void* frame) { std::coroutine_handle<>::from_address(frame).resume(); },
                            handle.address());
  engine.schedule(promise.slot, engine.now());
  return {promise.slot, engine.generation(promise.slot)};
}

inline bool alive(const Engine& engine, ProcessId id) { return engine.generation(id.slot) == id.generation; }

// Does nothing to a process that has ended. Requires: it is not the one that is running.
inline void cancel(Engine& engine, ProcessId id) {
  if (alive(engine, id)) std::coroutine_handle<>::from_address(engine.context(id.slot)).destroy();
}

// Lets `length` pass. Requires: length >= 0.
struct hold {
  explicit hold(Duration how_long) : length(how_long) {}
  bool await_ready() const noexcept { return false; }
  void await_suspend(Process::Handle handle) const {
    Engine& engine = *handle.promise().engine;
    engine.schedule(handle.promise().slot, engine.now() + length);
  }
  void await_resume() const noexcept {}
  Duration length;
};

// Signal is what processes wait for; the longest waiting one is woken first. Waking goes through the queue,
// at the present time, so that a process never runs inside another.
//
// Requires: it outlives those who wait for it.
class Signal {
 public:
  class Wait {
   public:
    Wait(Signal& signal, Duration limit, bool limited) : signal_(&signal), limit_(limit), limited_(limited) {}
    Wait(const Wait&) = delete;
    Wait& operator=(const Wait&) = delete;
    ~Wait() { leave(); }

    bool await_ready() const noexcept { return false; }
    void await_suspend(Process::Handle handle) {
      engine_ = handle.promise().engine;
      slot_ = handle.promise().slot;
      if (limited_) engine_->schedule(slot_, engine_->now() + limit_);
      before_ = signal_->last_;
      (before_ == nullptr ? signal_->first_ : before_->after_) = this;
      signal_->last_ = this;
      waits_ = true;
    }
    // True if signalled, false if the limit came first.
    bool await_resume() noexcept {
      leave();
      return signalled_;
    }

   private:
    friend class Signal;
    void leave() {
      if (!waits_) return;
      (before_ == nullptr ? signal_->first_ : before_->after_) = after_;
      (after_ == nullptr ? signal_->last_ : after_->before_) = before_;
      waits_ = false;
    }

    Signal* signal_;
    Duration limit_;
    bool limited_;
    bool waits_ = false;
    bool signalled_ = false;
    Engine* engine_ = nullptr;
    Engine::Slot slot_ = 0;
    Wait* before_ = nullptr;
    Wait* after_ = nullptr;
  };

  Signal() = default;
  Signal(const Signal&) = delete;
  Signal& operator=(const Signal&) = delete;
  ~Signal() { OVERDUE_CHECK(first_ == nullptr); }

  Wait wait() { return {*this, Duration::zero(), false}; }
  Wait wait(Duration limit) { return {*this, limit, true}; }
  bool awaited() const { return first_ != nullptr; }

  // Wakes one; false if nobody waits.
  bool wake_one() {
    Wait* const woken = first_;
    if (woken == nullptr) return false;
    woken->leave();
    woken->signalled_ = true;
    woken->engine_->schedule(woken->slot_, woken->engine_->now());
    return true;
  }
  void wake_all() {
    while (wake_one()) {
    }
  }

 private:
  Wait* first_ = nullptr;
  Wait* last_ = nullptr;
};

}  // namespace overdue
