#include "overdue/base/cpython_random.h"

#include <cmath>
#include <span>

namespace overdue {
namespace {

using Words = std::array<std::uint32_t, 624>;
constexpr std::size_t kMiddle = 397;  // How far ahead the recurrence of MT19937 looks.

// The linear seeding of 2002, and the constant from which seeding by array sets out.
void seed_by_number(Words& words, std::uint32_t seed) {
  words[0] = seed;
  for (std::size_t i = 1; i < words.size(); ++i) {
    words[i] = 1812433253U * (words[i - 1] ^ (words[i - 1] >> 30)) + static_cast<std::uint32_t>(i);
  }
}

void seed_by_array(Words& words, std::span<const std::uint32_t> key) {
  seed_by_number(words, 19650218U);
  std::size_t i = 1;
  const auto step = [&](std::uint32_t factor, std::uint32_t added) {
    words[i] = (words[i] ^ ((words[i - 1] ^ (words[i - 1] >> 30)) * factor)) + added;
    if (++i == words.size()) {
      words[0] = words.back();
      i = 1;
    }
  };
  for (std::size_t k = 0; k < words.size(); ++k) {  // The key is never longer than the state.
    const std::size_t at = k % key.size();
    step(1664525U, key[at] + static_cast<std::uint32_t>(at));
  }
  for (std::size_t k = 1; k < words.size(); ++k) step(1566083941U, 0U - static_cast<std::uint32_t>(i));
  words[0] = 0x80000000U;
}

std::uint32_t twisted(std::uint32_t high, std::uint32_t low, std::uint32_t ahead) {
  const std::uint32_t joined = (high & 0x80000000U) | (low & 0x7fffffffU);
  return ahead ^ (joined >> 1) ^ ((0U - (low & 1U)) & 0x9908b0dfU);
}

std::uint32_t tempered(std::uint32_t word) {
  word ^= word >> 11;
  word ^= (word << 7) & 0x9d2c5680U;
  word ^= (word << 15) & 0xefc60000U;
  return word ^ (word >> 18);
}

// 4 exp(-1/2) / sqrt(2), by the operations that CPython uses, so that the last bit is the same.
const double kNormalMagic = 4 * std::exp(-0.5) / std::sqrt(2.0);

}  // namespace

CpythonRandom::CpythonRandom(std::uint64_t seed) {
  const std::array<std::uint32_t, 2> key = {static_cast<std::uint32_t>(seed),
                                            static_cast<std::uint32_t>(seed >> 32)};
  seed_by_array(words_, std::span(key).first(key[1] == 0 ? 1 : 2));
}

void CpythonRandom::refill() {
  constexpr std::size_t kFirst = kWords - kMiddle;
  for (std::size_t i = 0; i < kFirst; ++i) words_[i] = twisted(words_[i], words_[i + 1], words_[i + kMiddle]);
  for (std::size_t i = kFirst; i < kWords - 1; ++i)
    words_[i] = twisted(words_[i], words_[i + 1], words_[i - kFirst]);
  words_.back() = twisted(words_.back(), words_[0], words_[kMiddle - 1]);
  for (std::size_t i = 0; i < ready_.size(); ++i) {
    const auto high = static_cast<std::int32_t>(tempered(words_[2 * i]) >> 5);     // 27 bits.
    const auto low = static_cast<std::int32_t>(tempered(words_[2 * i + 1]) >> 6);  // 26 bits.
    ready_[i] = (high * 67108864.0 + low) * 0x1p-53;
  }
  next_ = 0;
}

double CpythonRandom::normalvariate(double mean, double sigma) {
  for (;;) {
    const double first = random();
    const double second = 1.0 - random();
    const double z = kNormalMagic * (first - 0.5) / second;
    const double quarter = z * z / 4.0;
    // Accepted when quarter <= -log(second). With w = 1 - second that logarithm lies between w + w^2/2 and
    // w + w^2/2 + w^3/(3 second), so it is needed only in between; the margin is far above any rounding.
    constexpr double kMargin = 1e-12;
    const double w = 1.0 - second;
    const double least = w + 0.5 * w * w;
    if (quarter <= least * (1 - kMargin)) return mean + z * sigma;
    if (quarter > (least + w * w * w / (3 * second)) * (1 + kMargin)) continue;
    if (quarter <= -std::log(second)) return mean + z * sigma;
  }
}

double CpythonRandom::lognormvariate(double log_median, double log_sigma) {
  return std::exp(normalvariate(log_median, log_sigma));
}

}  // namespace overdue
