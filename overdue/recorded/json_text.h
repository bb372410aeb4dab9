#pragma once

#include <simdjson.h>

#include <string_view>

namespace overdue {

// Texts out of JSON that is being walked. Errors: simdjson's. Threads: none. Texts live as long as the line
// and its parser.

// The text of a scalar: a string's characters, a number as written, "true", "null". Empty for objects and
// arrays.
simdjson::simdjson_result<std::string_view> text_of_value(simdjson::ondemand::value& value);

// The same of a value that stands for an error. Of an object or list: the number of its status; else its
// first string that says what kind of error it is, else its first string or number, else "error". Only what
// is called code, message, ... is asked: other strings may say anything. "" where nothing is in it, or where
// all that is called so says that there is none ({"code":0,"message":""}).
simdjson::simdjson_result<std::string_view> text_of_error(simdjson::ondemand::value& value);

bool is_object(simdjson::ondemand::value& value);
bool is_list(simdjson::ondemand::value& value);

// A key as it stands in the line, escapes and all. Requires: `begin` is behind its first quote.
std::string_view raw_key(const char* begin);

}  // namespace overdue
