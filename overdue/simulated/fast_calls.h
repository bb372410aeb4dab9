#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <vector>

#include "overdue/base/random.h"
#include "overdue/latency/distribution.h"
#include "overdue/simulated/lesson.h"

namespace overdue {

// exp(x) within 8e-9 of itself, in a form that compilers turn into vector instructions: x is split into a
// whole number of octaves and a rest of at most ln(2)/2, for which Taylor's series is cut after the seventh
// power. The next term is below 0.3466^8 / 8! = 5.2e-9, and what it is missing from is at least 0.707.
// Adding 1.5 * 2^52 rounds to a whole number and leaves it in the low bits. Requires: |x| < 700.
inline double fast_exp(double x) {
  constexpr double kRounder = 0x1.8p52;
  constexpr double kOctavesPerUnit = 1.4426950408889634;
  constexpr double kLn2 = 0.6931471805599453;
  const double shifted = x * kOctavesPerUnit + kRounder;
  const double rest = x - (shifted - kRounder) * kLn2;
  double sum = 1.0 / 5040;
  sum = sum * rest + 1.0 / 720;
  sum = sum * rest + 1.0 / 120;
  sum = sum * rest + 1.0 / 24;
  sum = sum * rest + 1.0 / 6;
  sum = sum * rest + 0.5;
  sum = sum * rest + 1.0;
  sum = sum * rest + 1.0;
  return std::bit_cast<double>(std::bit_cast<std::uint64_t>(sum) +
                               (std::bit_cast<std::uint64_t>(shifted) << 52));
}

// Counts replies by the leading bits of their time: 1024 buckets an octave, from 2^-7 ms, which no reply is
// below, up to a longest reply that the owner names; what is longer counts in the last bucket.
class ReplyCounts {
 public:
  ReplyCounts() = default;  // Holds nothing, and takes nothing but a merge.
  explicit ReplyCounts(double longest_ms) : counts_(place_of(longest_ms) + 1) {}

  bool ready() const { return !counts_.empty(); }
  void add(double ms) { ++counts_[std::min<std::uint64_t>(place_of(ms), counts_.size() - 1)]; }
  // Requires: both were made for the same longest reply, or are not ready.
  void merge(const ReplyCounts& other);

  std::uint64_t total() const;
  // The bucket of the reply at this 0-based index in the order of time. Requires: index < total().
  std::uint64_t bucket_at(std::uint64_t index) const;
  std::uint64_t count_through(std::uint64_t bucket) const;

  static double low_of(std::uint64_t bucket) { return std::bit_cast<double>((kBase + bucket) << kShift); }
  static double high_of(std::uint64_t bucket) { return low_of(bucket + 1); }
  static double middle_of(std::uint64_t bucket) { return (low_of(bucket) + high_of(bucket)) / 2; }

 private:
  static constexpr int kShift = 52 - 10;
  static constexpr std::uint64_t kBase = std::bit_cast<std::uint64_t>(0x1p-7) >> kShift;
  // A time below the first bucket wraps around and is taken for one beyond the last.
  static std::uint64_t place_of(double ms) { return (std::bit_cast<std::uint64_t>(ms) >> kShift) - kBase; }

  std::vector<std::uint64_t> counts_;
};

// FastCalls draws calls of the lesson's model from our own generator, 256 at a time: normals, then all
// exponentials in one loop without branches, then how each call ended. One draw decides the ending and the
// slow path together: the unit interval is cut into answered, answered slowly, reply lost and request lost.
//
// Threads: const, so one may be shared.
class FastCalls {
 public:
  explicit FastCalls(const LessonOptions& options);

  // No reply is longer: the furthest a normal draw can come from 0 is 3.6542 - ln(2^-53) / 3.6542 < 13.8, for
  // which the two delays are below 500 ms and the service below 7,400 ms times the factor.
  static double longest_reply_ms(double slow_factor) { return 500 + 7'400 * slow_factor; }

  // Calls on_reply(ms) or on_lost(applied) for each of `count` calls, in their order.
  template <typename OnReply, typename OnLost>
  void draw(Random& random, double slow_factor, std::uint64_t count, OnReply on_reply, OnLost on_lost) const {
    Chunk chunk;
    for (std::uint64_t done = 0; done < count; done += kChunk) {
      fill(random, slow_factor, chunk);
      const auto calls = static_cast<std::size_t>(std::min<std::uint64_t>(kChunk, count - done));
      for (std::size_t i = 0; i < calls; ++i) {
        const auto ending = static_cast<std::int64_t>(random.next() >> 1);
        if (ending < answered_until_) [[likely]] {
          on_reply(chunk.ms[i]);
        } else if (ending < slow_until_) {
          on_reply(chunk.delay_ms[i] + slow_factor * Uniform{.low = 40, .high = 400}.draw(random));
        } else {
          on_lost(ending < reply_lost_until_);
        }
      }
    }
  }

 private:
  static constexpr std::size_t kChunk = 256;
  struct Chunk {
    std::array<double, kChunk> there, back, service;  // Standard normals.
    std::array<double, kChunk> delay_ms, ms;
  };
  static void fill(Random& random, double slow_factor, Chunk& chunk);

  // Ends of the four parts, on a scale of 2^63.
  std::int64_t answered_until_;
  std::int64_t slow_until_;
  std::int64_t reply_lost_until_;
};

}  // namespace overdue
