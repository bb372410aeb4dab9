#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace overdue {

// CpythonRandom draws what `random.Random(seed)` of CPython draws, double for double, so that an experiment
// written for Python can be repeated here figure for figure. Methods carry the names Python gives them. For
// anything else use Random, which is many times faster.
//
// Sources: the generator is MT19937 with its seeding by array (Matsumoto and Nishimura, "Mersenne Twister",
// ACM TOMACS 8(1), 1998, and their reference initialisation of 2002), keyed by the seed's 32-bit words, low
// word first; normals are those of Kinderman and Monahan ("Computer generation of random variables using the
// ratio of uniform deviates", ACM TOMS 3(3), 1977). Both are what Python documents for its `random` module.
//
// Threads: none; one owner.
// Replay:  random() and uniform() are exact everywhere; the others are as exact as the C library's log and
// exp,
//          which CPython calls too.
class CpythonRandom {
 public:
  explicit CpythonRandom(std::uint64_t seed);

  // Uniform in [0, 1), 53 bits.
  double random() {
    if (next_ == ready_.size()) refill();
    return ready_[next_++];
  }
  double uniform(double low, double high) { return low + (high - low) * random(); }
  double normalvariate(double mean, double sigma);
  double lognormvariate(double log_median, double log_sigma);

 private:
  static constexpr std::size_t kWords = 624;
  using Words = std::array<std::uint32_t, kWords>;

  // The next 624 words of the sequence, two of which make a double.
  void refill();

  Words words_;
  std::array<double, kWords / 2> ready_;
  std::size_t next_ = kWords / 2;
};

}  // namespace overdue
