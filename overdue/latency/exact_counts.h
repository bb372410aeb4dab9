#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "overdue/base/attempt.h"
#include "overdue/base/run_both.h"
#include "overdue/base/time.h"
#include "overdue/latency/counter_row.h"
#include "overdue/latency/ending_row.h"

namespace overdue {

// ExactCounts keeps how often each exact latency ended how, at which backend, while it can in bounded memory.
// A series is a backend and an ending, numbered backend * kEndingCount + ending.
//
// Past kDistinctMax distinct latencies everything is given up for good (dropped()). With fewer latencies but
// many backends, or many different latencies of other endings than replies, only the split by backend is
// given up (pooled()). Both depend on the set of what was added alone: neither order nor merging changes
// them.
//
// Built for one pass over long logs: a table from latency to a small number, given in order of appearance so
// that the common latencies lie together; then, for replies, a row of 16-bit counters a backend, whose
// carries are kept beside. Other endings are few and stand in a table of pairs. Whole microseconds below 262
// ms, what most logs are made of, have their number at their own place, where neighbours share a cache line;
// a hash, which holds the others, would scatter them. Threads: none. Errors: counts stop at their maximum,
// never wrap.
class ExactCounts {
 public:
  static constexpr std::size_t kDistinctMax = 200'000;
  static constexpr std::size_t kReplyCellsMax = std::size_t{1}
                                                << 22;            // Latencies times backends that replied.
  static constexpr std::size_t kPairsMax = std::size_t{1} << 17;  // Pairs of latency and series, not replies.
  static constexpr std::size_t kBatchMax = 2048;

  // One count for each latency and its series. Requires: equal sizes, at most kBatchMax; latencies >= 0.
  void add(std::span<const Duration> latencies, std::span<const std::uint16_t> series);
  void add(Duration latency, std::uint16_t series, std::uint64_t count);
  // Adds the other's series `from` to our `to_series[from]`.
  void merge(const ExactCounts& other, const std::vector<std::uint16_t>& to_series);
  class Merge;  // The same in steps: exact_counts_merge.h.
  void drop();

  bool dropped() const { return dropped_; }
  bool pooled() const { return pooled_; }  // Every series is of backend 0 now.
  // What tables need is sorted out once after the last add, at the first question or here; after this any
  // number of threads may ask. Requires: !dropped().
  void prepare(const RunBoth& run_both = run_in_turn) const { (void)index(run_both); }
  // Latencies are numbered from 0 in no particular order. Requires: !dropped().
  std::size_t distinct() const { return latencies_.size(); }
  Duration latency(std::size_t number) const { return latencies_[number]; }
  std::uint64_t count_at(std::size_t number, std::uint32_t series) const;
  // Hands over the endings by latency over the backends for which `included[id]` is set; pooled, over all.
  // Requires: !dropped(), an entry for every backend.
  void visit_rows(const std::vector<bool>& included, const VisitRow& visit) const;
  // The latencies at which a backend's replies, cumulated, reach these ranks; ascending, of 1 and above;
  // nothing beyond its last reply. Requires: !dropped(), !pooled().
  std::vector<std::optional<Duration>> replies_at(std::uint16_t backend,
                                                  std::span<const std::uint64_t> ranks) const;
  // Where a backend's attempts ended so, ascending, and how many. Requires: no reply; !dropped(), !pooled().
  std::vector<std::pair<Duration, std::uint64_t>> ends_of(std::uint16_t backend, Ending ending) const;
  // A backend's rows, joined between one with an ending but a reply and the next, and not across `split`; a
  // joined row has the latency of its last. Requires: !dropped(), !pooled().
  void visit_joined_rows(std::uint16_t backend, Duration split, const VisitRow& visit) const;
  // Calls visit(number, series, count) for every count above 0, in no particular order.
  template <typename Visit>
  void for_each(Visit visit) const {
    for (std::uint32_t series = 0; series < rows_.size(); ++series) {
      for (std::uint32_t number = 0; number < rows_[series].size(); ++number) {
        if (const std::uint64_t count = count_at(number, series); count > 0) visit(number, series, count);
      }
    }
    for (const Pair& pair : pairs_) {
      if (pair.key_plus_1 == 0) continue;
      const std::uint64_t key = pair.key_plus_1 - 1;
      visit(static_cast<std::uint32_t>(key >> 16), static_cast<std::uint32_t>(key & 0xffff), pair.count);
    }
  }

 private:
  static constexpr std::uint64_t kCarryMax = UINT64_MAX >> 16;
  struct Slot {
    std::uint64_t latency_plus_1 = 0;  // 0: free.
    std::uint32_t number = 0;
  };
  struct Pair {
    std::uint64_t key_plus_1 = 0;  // number << 16 | series, plus 1. 0: free.
    std::uint64_t count = 0;
  };
  using Row = CounterRow;
  // What tables need, least latency first.
  struct Index {
    struct Other {  // Endings that are not in the low 16 bits of a reply's counter.
      Duration latency{};
      std::uint64_t count = 0;
      std::uint32_t series = 0;
    };
    std::vector<Duration> latencies;
    std::vector<Row> replies;  // By series, in the order of `latencies`; empty but for replies.
    std::vector<Other> others;
    std::vector<Other> others_by_backend;  // The same, backend after backend.
    std::vector<std::uint32_t> others_of;  // By backend: where its begin; one more than backends.
    bool is_fresh = false;
  };
  std::span<const Index::Other> others_of(const Index& sorted, std::uint16_t backend) const;
  static const Row* replies_of(const Index& sorted, std::uint16_t backend);

  static std::uint64_t mixed(std::uint64_t key) { return key * 0x9e3779b97f4a7c15U; }
  static bool is_reply(std::uint32_t series) { return series % kEndingCount == 0; }
  std::size_t home_of(std::uint64_t key_plus_1) const { return mixed(key_plus_1) >> slots_shift_; }
  static constexpr std::uint64_t kMicrosecond = 1000;
  static constexpr std::size_t kDirectMax = 262'144;
  static bool has_own_place(std::uint64_t latency) {
    return latency < kDirectMax * kMicrosecond && latency % kMicrosecond == 0;
  }
  std::uint32_t number_of(std::uint64_t latency) {
    if (has_own_place(latency)) [[likely]] {
      const std::uint64_t place = latency / kMicrosecond;
      if (place < direct_.size() && direct_[place] != 0) [[likely]]
        return direct_[place] - 1;
      return insert_direct(latency);
    }
    return hashed_number_of(latency + 1);
  }
  std::uint32_t hashed_number_of(std::uint64_t latency_plus_1) {
    for (std::size_t at = home_of(latency_plus_1);; at = (at + 1) & (slots_.size() - 1)) {
      if (slots_[at].latency_plus_1 == latency_plus_1) [[likely]]
        return slots_[at].number;
      if (slots_[at].latency_plus_1 == 0) return insert(at, latency_plus_1);
    }
  }
  // The low byte of the counter of a reply at a place of its own; none where there is none yet.
  std::uint8_t* counter_of(std::uint32_t place, std::uint16_t series) {
    if (series >= rows_.size()) return nullptr;
    const std::uint32_t number = direct_[place] - 1;  // Past every row where it is not here.
    Row& row = rows_[series];
    return number < row.size() ? row.low(number) : nullptr;
  }
  std::uint32_t insert_direct(std::uint64_t latency);
  // The number of a new latency, or nothing: then everything is given up.
  std::optional<std::uint32_t> next_number(std::uint64_t latency);
  std::uint32_t insert(std::size_t at, std::uint64_t latency_plus_1);
  void add_some(std::span<const Duration> latencies, std::span<const std::uint16_t> series);
  void resize_slots(std::size_t size);
  void add_to(std::uint32_t number, std::uint16_t series, std::uint64_t count);
  void add_to_row(std::uint32_t number, std::uint16_t series, std::uint64_t count);
  void add_to_pair(std::uint32_t number, std::uint16_t series, std::uint64_t count);
  const Pair* find_pair(std::uint64_t key_plus_1) const;
  Pair& pair_of(std::uint64_t key_plus_1);
  void pool_if_too_many();
  void pool();
  const Index& index(const RunBoth& run_both = run_in_turn) const;
  std::vector<std::uint32_t> numbers_by_latency() const;
  void index_others() const;

  std::vector<Duration> latencies_;
  mutable Index index_;
  std::vector<Slot> slots_ = std::vector<Slot>(64);
  unsigned slots_shift_ = 64 - 6;
  std::size_t slots_used_ = 0;
  std::vector<std::uint32_t> direct_;  // By microseconds: number + 1 of that latency. 0: it is not here.
  std::vector<Row> rows_;              // By series; empty but for replies, unless pooled.
  std::unordered_map<std::uint64_t, std::uint64_t>
      carries_;  // series << 32 | number: 65,536s beside the counter.
  std::vector<Pair> pairs_;
  std::size_t pairs_used_ = 0;
  std::size_t reply_rows_ = 0;
  bool pooled_ = false;
  bool dropped_ = false;
};

}  // namespace overdue
