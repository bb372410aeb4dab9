#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "overdue/base/attempt.h"

namespace overdue {

// What a text says of how a call ended. Where `kind_known` is false it only says that the call failed: it is
// then what a no in a column `ok` is, given up on where it ended.
struct SaidEnding {
  Ending ending = Ending::replied;
  bool kind_known = true;
  bool is_fault = false;  // An answer that says what is wrong: NOT_FOUND, which replied, UNAVAILABLE.
};

// The words and sentences that logs write in place of a status or as an error: "ok", gRPC's names,
// "context deadline exceeded", "i/o timeout", ECONNRESET, "failed", JMeter's exceptions. Names of others
// (what is in double quotes, URLs) are passed over. Nothing where the text is none of them.
std::optional<SaidEnding> ending_in_words(std::string_view text);

// The status of "200", "200.0" (0 to 999), "200 OK", "HTTP/1.1 200", "HTTP 503 Service Unavailable", and of a
// sentence that names one (status_named_in()).
std::optional<int> status_in_text(std::string_view text);

// Whole numbers of at most three digits, and "200.0": a column with gaps in it is written so by some
// programs.
std::optional<int> small_number(std::string_view text);

// By value: 1, 1.0 and true are yes; 0, 0.0, -1 and false are no.
std::optional<bool> yes_or_no(std::string_view text);

// In a column `error` the word "error" says yes: these are the texts that say that there is none.
bool says_no_error(std::string_view text);

// Texts that say that there is no value: "", "-", "null", "NaN", "*", ...
bool is_no_value(std::string_view text);

// -1 by value ("-1", "-1.0"), which many write for what they do not have.
bool is_minus_one(std::string_view text);

// Letters in lower case and digits, and nothing else.
std::string folded_word(std::string_view text);

}  // namespace overdue
