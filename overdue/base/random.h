#pragma once

#include <bit>
#include <cstdint>

namespace overdue {

// Random is our own generator, xoshiro256++ (Blackman and Vigna, 2018), seeded through SplitMix64: 1 ns a
// draw, the same numbers on every machine. Draw distributions from latency/distribution.h; those of <random>
// differ between standard libraries.
//
// Streams: Random{seed, entity} gives each entity of one seed a stream of its own.
// Threads: none; one owner.
class Random {
 public:
  explicit constexpr Random(std::uint64_t seed, std::uint64_t entity = 0) {
    constexpr std::uint64_t kStep = 0x9e3779b97f4a7c15U;
    const std::uint64_t state = seed ^ (mixed(entity + 1) * kStep);
    // Word by word and no loop: who draws once pays for the words of that one draw.
    words_[0] = mixed(state + kStep);
    words_[1] = mixed(state + 2 * kStep);
    words_[2] = mixed(state + 3 * kStep);
    words_[3] = mixed(state + 4 * kStep);
  }

  constexpr std::uint64_t next() {
    const std::uint64_t result = std::rotl(words_[0] + words_[3], 23) + words_[0];
    const std::uint64_t shifted = words_[1] << 17;
    words_[2] ^= words_[0];
    words_[3] ^= words_[1];
    words_[1] ^= words_[2];
    words_[0] ^= words_[3];
    words_[2] ^= shifted;
    words_[3] = std::rotl(words_[3], 45);
    return result;
  }

  // Uniform in [0, 1), 53 bits. The signed conversion is one instruction where the unsigned one is several.
  constexpr double uniform() {
    return static_cast<double>(static_cast<std::int64_t>(next() >> 11)) * 0x1p-53;
  }

  // Uniform in [0, bound), by multiplication (Lemire 2019, without the rejection: bias below bound / 2^64).
  // Requires: bound >= 1.
  constexpr std::uint64_t below(std::uint64_t bound) {
    __extension__ using Wide = unsigned __int128;
    return static_cast<std::uint64_t>((static_cast<Wide>(next()) * bound) >> 64);
  }

 private:
  static constexpr std::uint64_t mixed(std::uint64_t value) {
    value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9U;
    value = (value ^ (value >> 27)) * 0x94d049bb133111ebU;
    return value ^ (value >> 31);
  }

  std::uint64_t words_[4]{};
};

}  // namespace overdue
