#pragma once

#include <expected>
#include <string>
#include <utility>

namespace overdue {

// What a caller may want to branch on; the message is for people.
enum class ErrorCode {
  invalid_argument,  // A flag, an option or a policy entry that cannot be meant.
  unreadable_input,  // A file that is missing, damaged or not of a format we read.
  unsupported,       // Understood, and not what this program can answer from.
};

// Error says what went wrong and what would be right. The message names file, line and value where there are
// any.
struct Error {
  ErrorCode code;
  std::string message;
};

template <typename T>
using Result = std::expected<T, Error>;

inline std::unexpected<Error> fail(ErrorCode code, std::string message) {
  return std::unexpected(Error{code, std::move(message)});
}

}  // namespace overdue
