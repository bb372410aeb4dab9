#include "overdue/recorded/json_text.h"

#include <algorithm>
#include <iterator>
#include <string_view>

#include "overdue/recorded/ending_words.h"

namespace overdue {
namespace {

namespace ondemand = simdjson::ondemand;

constexpr unsigned kDepthMax = 4;

bool is_of(ondemand::json_type wanted, ondemand::value& value) {
  ondemand::json_type type{};
  return value.type().get(type) == simdjson::SUCCESS && type == wanted;
}

// What an error's key is: a name of it or a text about it, its status, the response it came with, or
// anything.
enum class KeyOf : std::uint8_t { words, status, response, other };

KeyOf what_is(std::string_view key) {
  static constexpr std::string_view kWords[] = {"code",   "message", "msg",         "name",   "type",
                                                "reason", "error",   "kind",        "err",    "detail",
                                                "errno",  "cause",   "description", "errors", "extensions"};
  static constexpr std::string_view kStatus[] = {"status", "statuscode", "httpstatus", "httpstatuscode"};
  const std::string word = folded_word(key);
  if (std::ranges::find(kWords, word) != std::end(kWords)) return KeyOf::words;
  if (std::ranges::find(kStatus, word) != std::end(kStatus)) return KeyOf::status;
  return word == "response" ? KeyOf::response : KeyOf::other;
}

// The outermost status of an answer decides, if the object says of an error anywhere; then the first text
// that tells a kind.
class ErrorText {
 public:
  simdjson::simdjson_result<std::string_view> of(ondemand::value& value) {
    if (const auto error = look_into(value, KeyOf::words, 1)) return error;
    const bool is_error = !first_.empty() || has_stack_ || (has_other_ && !says_none_) || is_fault(status_);
    if (!is_error) return std::string_view();
    if (!status_.empty()) return std::string_view(status_);
    if (!first_.empty()) return std::string_view(first_);
    return std::string_view("error");  // Of no known kind.
  }

 private:
  static bool is_fault(std::string_view status) { return !status.empty() && status.front() >= '3'; }

  simdjson::error_code look_into(ondemand::value& value, KeyOf key, unsigned depth) {
    ondemand::json_type type{};
    if (const auto error = value.type().get(type)) return error;
    if (type == ondemand::json_type::object) {
      if (depth > kDepthMax) return pass_over();
      ondemand::object object;
      if (const auto error = value.get_object().get(object)) return error;
      for (auto field_or_error : object) {
        ondemand::field field;
        std::string_view its_key;
        if (const auto error = std::move(field_or_error).get(field)) return error;
        if (const auto error = field.unescaped_key().get(its_key)) return error;
        if (its_key == "stack" && depth == 1) has_stack_ = true;  // Of JavaScript's errors without a message.
        if (const auto error = look_into(field.value(), key_within(key, its_key), depth + 1)) return error;
      }
      return simdjson::SUCCESS;
    }
    if (type == ondemand::json_type::array) {
      if (depth > kDepthMax) return pass_over();
      ondemand::array array;
      if (const auto error = value.get_array().get(array)) return error;
      for (auto element_or_error : array) {
        ondemand::value element;
        if (const auto error = std::move(element_or_error).get(element)) return error;
        if (const auto error = look_into(element, key, depth + 1)) return error;
      }
      return simdjson::SUCCESS;
    }
    std::string_view text;
    if (const auto error = text_of_value(value).get(text)) return error;
    take(text, key, depth);
    return simdjson::SUCCESS;
  }

  simdjson::error_code pass_over() {
    has_other_ = true;
    return simdjson::SUCCESS;
  }

  // Of a response only the status counts, of anything else that it is there.
  static KeyOf key_within(KeyOf outer, std::string_view key) {
    const KeyOf its = what_is(key);
    if (outer == KeyOf::words || outer == KeyOf::status) return its;
    return outer == KeyOf::response && its == KeyOf::status ? its : KeyOf::other;
  }

  void take(std::string_view text, KeyOf key, unsigned depth) {
    if (key == KeyOf::other || key == KeyOf::response) {
      has_other_ = has_other_ || !says_no_error(text);
      return;
    }
    const auto number = small_number(text);
    const bool is_answer = number && *number >= 100 && *number < 600;
    if (key == KeyOf::status && is_answer) {
      if (status_.empty() || depth < status_depth_) {
        status_ = text;
        status_depth_ = depth;
      }
      says_none_ = says_none_ || *number < 300;
    } else if (says_no_error(text) || (is_answer && *number >= 200 && *number < 300)) {
      says_none_ = true;  // {"code":0}, {"code":200,"message":"OK"}
    } else {
      take_words(text);
    }
  }

  void take_words(std::string_view text) {
    const auto said = ending_in_words(text);
    const auto status = status_in_text(text);
    const bool tells = (said && said->kind_known && (said->is_fault || said->ending != Ending::replied)) ||
                       (status && *status >= 400 && *status < 600);
    if (!first_.empty() && (first_tells_ || !tells)) return;
    first_ = text;
    first_tells_ = tells;
  }

  std::string_view status_;
  unsigned status_depth_ = 0;
  std::string_view first_;
  bool first_tells_ = false;
  bool has_other_ = false;
  bool has_stack_ = false;
  bool says_none_ = false;
};

}  // namespace

simdjson::simdjson_result<std::string_view> text_of_value(ondemand::value& value) {
  ondemand::json_type type{};
  if (const auto error = value.type().get(type)) return error;
  if (type == ondemand::json_type::string) return value.get_string();
  if (type == ondemand::json_type::object || type == ondemand::json_type::array) return std::string_view();
  std::string_view token = value.raw_json_token();
  while (!token.empty() &&
         (token.back() == ' ' || token.back() == '\t' || token.back() == '\r' || token.back() == '\n')) {
    token.remove_suffix(1);
  }
  return token;
}

simdjson::simdjson_result<std::string_view> text_of_error(ondemand::value& value) {
  if (is_object(value) || is_list(value)) return ErrorText().of(value);
  return text_of_value(value);
}

bool is_object(ondemand::value& value) { return is_of(ondemand::json_type::object, value); }
bool is_list(ondemand::value& value) { return is_of(ondemand::json_type::array, value); }

// It ends at a quote that no backslash stands before.
std::string_view raw_key(const char* begin) {
  const char* end = begin;
  for (; *end != '"'; ++end) end += *end == '\\' ? 1 : 0;
  return {begin, static_cast<std::size_t>(end - begin)};
}

}  // namespace overdue
