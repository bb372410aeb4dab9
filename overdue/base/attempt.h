#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "overdue/base/time.h"

namespace overdue {

// How an attempt ended, as the one who waited saw it.
enum class Ending : std::uint8_t {
  replied,    // An answer came back.
  rejected,   // An explicit error instead of an answer: overload, rate limit, a server's 5xx.
  refused,    // The connection was refused: the request was never sent. Not counted among the calls that
              // waited.
  reset,      // The connection broke after sending: no reply will come.
  timed_out,  // The waiting side gave up by its own limit: right-censored where it ended.
  abandoned,  // Our own caller left first: right-censored where it ended.
};
inline constexpr std::size_t kEndingCount = 6;
inline constexpr std::array<std::string_view, kEndingCount> kEndingNames = {
    "replied", "rejected", "refused", "reset", "timed_out", "abandoned"};

// Attempt is one row of a measured log: one try of a call at one backend, or, where whole calls are measured,
// the call itself. 32 bytes, passed in batches: a log of a billion lines is read without a heap allocation a
// line (docs/decisions/0002). Names are ids of the reader's NameTables; id 0 is the empty name, "not said".
struct Attempt {
  WallTime start{};    // When it began; meaningful where has_start.
  Duration elapsed{};  // How long until it ended; 0 and untimed where the log does not say.
  Duration connect{};  // Time to connect; meaningful where has_connect.
  std::uint16_t backend = 0;
  std::uint16_t route = 0;
  std::uint16_t group = 0;  // What --by names: one measurement each.
  Ending ending = Ending::replied;
  bool has_start : 1 = false;
  bool has_connect : 1 = false;
  bool untimed : 1 = false;      // It ended, the log does not say after how long.
  bool begins_call : 1 = false;  // The first attempt of its call: calls are counted by it.
};
static_assert(sizeof(Attempt) == 32);

}  // namespace overdue
