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

class ErrorText {
 public:
  simdjson::simdjson_result<std::string_view> of(ondemand::value& value) {
    if (const auto error = look_into(value, 1)) return error;
    if (!first_.empty() || !any_) return std::string_view(first_);
    return std::string_view("error");  // Of no known kind.
  }

 private:
  static bool names_an_error(std::string_view key) {
    static constexpr std::string_view kKeys[] = {"code",   "message",     "msg",   "name",  "type",
                                                 "reason", "status",      "error", "kind",  "err",
                                                 "detail", "description", "errno", "cause", "errors"};
    return std::ranges::find(kKeys, folded_word(key)) != std::end(kKeys);
  }

  simdjson::error_code look_into(ondemand::value& value, unsigned depth) {
    ondemand::json_type type{};
    if (const auto error = value.type().get(type)) return error;
    if (type == ondemand::json_type::object) {
      ondemand::object object;
      if (const auto error = value.get_object().get(object)) return error;
      for (auto field_or_error : object) {
        ondemand::field field;
        std::string_view key;
        if (const auto error = std::move(field_or_error).get(field)) return error;
        if (const auto error = field.unescaped_key().get(key)) return error;
        any_ = true;
        if (!names_an_error(key) || depth == kDepthMax) continue;
        if (const auto error = look_into(field.value(), depth + 1)) return error;
      }
    } else if (type == ondemand::json_type::array) {
      ondemand::array array;
      if (const auto error = value.get_array().get(array)) return error;
      for (auto element_or_error : array) {
        ondemand::value element;
        if (const auto error = std::move(element_or_error).get(element)) return error;
        any_ = true;
        if (depth == kDepthMax) continue;
        if (const auto error = look_into(element, depth + 1)) return error;
      }
    } else {
      std::string_view text;
      if (const auto error = text_of_value(value).get(text)) return error;
      take(text);
    }
    return simdjson::SUCCESS;
  }

  void take(std::string_view text) {
    if (says_no_error(text)) return;
    const auto said = ending_in_words(text);
    const bool tells = said && said->kind_known && said->ending != Ending::replied;
    if (!first_.empty() && (first_tells_ || !tells)) return;
    first_ = text;
    first_tells_ = tells;
  }

  std::string_view first_;
  bool first_tells_ = false;
  bool any_ = false;
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
