#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace overdue {

// What sentences of errors are made of. Threads: none; nothing is kept.

// Without what others named: what stands in double quotes, URLs, and paths that begin with a slash. All of
// the text where nothing else is in it but a word such as "error".
std::string without_names(std::string_view text);

// Letters and digits that stand together, and what stands in "a_b"; in their order, as they stand.
std::vector<std::string_view> words_of(std::string_view text);

// The status that a sentence names as one: "HTTP Error 503: Service Unavailable", "status=503", "Request
// failed with status code 404", "Response code 503 (...)", "[503] during [GET]", "expected status 200, got
// 503". Ports, lengths and durations are none. 100 to 599.
std::optional<int> status_named_in(std::string_view text);

}  // namespace overdue
