#pragma once

#include <cstdint>

// What servers of the simulated world answer, as the error contract of a policy reads it.

namespace overdue::world {

inline constexpr std::uint16_t kDone = 200;
inline constexpr std::uint16_t kNotFound = 404;      // No such endpoint.
inline constexpr std::uint16_t kInFlight = 409;      // Another worker has the key.
inline constexpr std::uint16_t kClosed = 410;        // The key is fenced, or expired.
inline constexpr std::uint16_t kTooLate = 412;       // Past the limit that the request carries.
inline constexpr std::uint16_t kOtherPayload = 422;  // The key belongs to other bytes.
inline constexpr std::uint16_t kThrottled = 429;     // Turned away before anything.
inline constexpr std::uint16_t kWorkFailed = 500;
inline constexpr std::uint16_t kCalleeFailed = 502;
inline constexpr std::uint16_t kUnavailable = 503;  // A full queue; or the store cannot say.
inline constexpr std::uint16_t kExpired = 504;      // Past the caller's deadline: not executed.

// For want of room, and not for what was asked.
constexpr bool is_refused_for_now(std::uint16_t status) {
  return status == kThrottled || status == kUnavailable;
}

}  // namespace overdue::world
