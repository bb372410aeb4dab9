#include "overdue/recorded/ending_words.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <span>
#include <vector>

#include "overdue/recorded/error_sentence.h"
#include "overdue/recorded/number_text.h"

namespace overdue {
namespace {

struct KnownWord {
  std::string_view word;
  Ending ending;
};
constexpr KnownWord kWords[] = {
    {"ok", Ending::replied},         {"success", Ending::replied},        {"succeeded", Ending::replied},
    {"successful", Ending::replied}, {"completed", Ending::replied},      {"true", Ending::replied},
    {"yes", Ending::replied},        {"pass", Ending::replied},           {"passed", Ending::replied},
    {"noerror", Ending::replied},    {"noerrors", Ending::replied},       {"2xx", Ending::replied},
    {"3xx", Ending::replied},        {"lost", Ending::timed_out},         {"dropped", Ending::timed_out},
    {"expired", Ending::timed_out},  {"internalerror", Ending::rejected}, {"servfail", Ending::rejected},
    {"5xx", Ending::rejected},       {"rejected", Ending::rejected}};
// gRPC's names (google/rpc/code.proto) and alike. An answer about the request itself is a reply.
constexpr KnownWord kAnswers[] = {
    {"nxdomain", Ending::replied},           {"4xx", Ending::replied},
    {"invalidargument", Ending::replied},    {"notfound", Ending::replied},
    {"alreadyexists", Ending::replied},      {"permissiondenied", Ending::replied},
    {"failedprecondition", Ending::replied}, {"outofrange", Ending::replied},
    {"unauthenticated", Ending::replied},    {"unknown", Ending::rejected},
    {"resourceexhausted", Ending::rejected}, {"aborted", Ending::rejected},
    {"unimplemented", Ending::rejected},     {"internal", Ending::rejected},
    {"unavailable", Ending::rejected},       {"dataloss", Ending::rejected}};
// Anywhere in a sentence, in this order.
constexpr KnownWord kParts[] = {{"timeout", Ending::timed_out},
                                {"timedout", Ending::timed_out},
                                {"deadlineexceeded", Ending::timed_out},
                                {"deadlineexpired", Ending::timed_out},
                                {"econnaborted", Ending::timed_out},  // Of axios.
                                {"refused", Ending::refused},
                                {"unknownhost", Ending::refused},
                                {"hostconnect", Ending::refused},
                                {"connectexception", Ending::refused},
                                {"nosuchhost", Ending::refused},
                                {"enotfound", Ending::refused},
                                {"eaiagain", Ending::refused},
                                {"getaddrinfo", Ending::refused},
                                {"namenotresolved", Ending::refused},
                                {"couldnotresolve", Ending::refused},
                                {"nameresolution", Ending::refused},
                                {"servicenotknown", Ending::refused},
                                {"unreach", Ending::refused},
                                {"noroutetohost", Ending::refused},
                                {"clientclosed", Ending::abandoned},
                                {"clientprematurelyclosed", Ending::abandoned},
                                {"clientdisconnect", Ending::abandoned},
                                {"aborterror", Ending::abandoned},
                                {"errabort", Ending::abandoned},
                                {"requestabort", Ending::abandoned},
                                {"useraborted", Ending::abandoned},
                                {"operationwasaborted", Ending::abandoned},
                                {"reset", Ending::reset},
                                {"brokenpipe", Ending::reset},
                                {"epipe", Ending::reset},
                                {"sockethangup", Ending::reset},
                                {"socketexception", Ending::reset},
                                {"nohttpresponse", Ending::reset},
                                {"sslexception", Ending::reset},
                                {"nonhttpresponsecode", Ending::reset},
                                {"disconnected", Ending::reset},
                                {"unexpectedeof", Ending::reset},
                                {"eofexception", Ending::reset},
                                {"eoferror", Ending::reset},
                                {"prematureclose", Ending::reset},
                                {"prematurelyclosed", Ending::reset},
                                {"endedprematurely", Ending::reset},
                                {"connectionclosed", Ending::reset},
                                {"connectionwasclosed", Ending::reset},
                                {"connectionabort", Ending::reset},
                                {"connectionlost", Ending::reset},
                                {"lostconnection", Ending::reset},
                                {"connectiondropped", Ending::reset},
                                {"closedconnection", Ending::reset},
                                {"closedbyremote", Ending::reset},
                                {"serverclosed", Ending::reset},
                                {"closednetworkconnection", Ending::reset},
                                {"streamclosed", Ending::reset},
                                {"socketclosed", Ending::reset},
                                {"othersideclosed", Ending::reset},
                                {"emptyreply", Ending::reset},
                                {"emptyresponse", Ending::reset},
                                {"canceled", Ending::abandoned},
                                {"cancelled", Ending::abandoned},
                                {"cancellation", Ending::abandoned},
                                {"abandoned", Ending::abandoned},
                                {"noresponse", Ending::timed_out},
                                {"noreply", Ending::timed_out},
                                {"noanswer", Ending::timed_out},
                                {"internalservererror", Ending::rejected},
                                {"serviceunavailable", Ending::rejected},
                                {"badgateway", Ending::rejected},
                                {"toomany", Ending::rejected},
                                {"ratelimit", Ending::rejected},
                                {"throttl", Ending::rejected},
                                {"overloaded", Ending::rejected}};
// Of a failure, and no more.
constexpr std::string_view kFailureWords[] = {"err", "ko", "nok", "notok", "false", "no", "unsuccessful"};
constexpr std::string_view kFailureParts[] = {"fail", "error", "exception", "exhausted"};

bool is_one_of(std::string_view word, std::span<const std::string_view> words) {
  return std::ranges::find(words, word) != words.end();
}

std::optional<SaidEnding> answer_called(std::string_view word) {
  const auto known = std::ranges::find(kAnswers, word, &KnownWord::word);
  if (known == std::end(kAnswers)) return std::nullopt;
  return SaidEnding{.ending = known->ending, .is_fault = true};
}

// gRPC's name in "rpc error: code = Unavailable desc = ...", "14 UNAVAILABLE: ...", "StatusCode.UNAVAILABLE",
// "UNAVAILABLE: io exception": words such as "internal" may stand anywhere.
std::optional<SaidEnding> answer_named_in(std::string_view sentence,
                                          std::span<const std::string_view> words) {
  for (std::size_t i = 0; i < words.size(); ++i) {
    const auto answer = answer_called(folded_word(words[i]));
    if (!answer) continue;
    const std::string before = i == 0 ? "" : folded_word(words[i - 1]);
    const bool upper = std::ranges::none_of(words[i], [](char c) { return c >= 'a' && c <= 'z'; });
    const std::string_view after =
        sentence.substr(static_cast<std::size_t>(words[i].end() - sentence.begin()));
    if (before.ends_with("code") || before.ends_with("status")) return answer;
    if (upper &&
        (before.ends_with("exception") || small_number(before) || (i == 0 && after.starts_with(':'))))
      return answer;
  }
  return std::nullopt;
}

// "200 OK", "HTTP/1.1 200".
std::optional<int> leading_status(std::string_view text) {
  const bool named = text.size() > 4 && folded_word(text.substr(0, 4)) == "http";
  if (named) {
    text = text.substr(std::min(text.find(' '), text.size()));
    while (text.starts_with(' ')) text.remove_prefix(1);
  }
  const std::string_view number = text.substr(0, 3);
  const auto status = small_number(number);
  if (!status || *status < 100) return std::nullopt;
  if (text.size() > 3 && text[3] != ' ') return std::nullopt;
  // "200 OK", but not "200 ms".
  const bool has_phrase = text.size() > 4 && (text[4] >= 'A' && text[4] <= 'Z');
  if (text.size() > 3 && !has_phrase && !named) return std::nullopt;
  return status;
}

constexpr std::int64_t kOne = 1'000'000'000;  // As by_value() has it.
std::optional<std::int64_t> by_value(std::string_view text) { return decimal_scaled(text, 9); }

}  // namespace

std::string folded_word(std::string_view text) {
  std::string word;
  for (const char c : text) {
    if (c >= 'A' && c <= 'Z') word += static_cast<char>(c - 'A' + 'a');
    if ((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9')) word += c;
  }
  return word;
}

std::optional<SaidEnding> ending_in_words(std::string_view text) {
  const std::string whole = folded_word(text);
  if (const auto known = std::ranges::find(kWords, whole, &KnownWord::word); known != std::end(kWords))
    return SaidEnding{.ending = known->ending};
  if (const auto answer = answer_called(whole)) return answer;
  const std::string sentence = without_names(text);
  const std::string word = folded_word(sentence);
  const auto has = [&](std::string_view part) { return word.find(part) != std::string::npos; };
  for (const KnownWord& part : kParts) {
    if (has(part.word)) return SaidEnding{.ending = part.ending};
  }
  const std::vector<std::string_view> words = words_of(sentence);
  const auto is_word = [&](std::string_view wanted) {
    return std::ranges::any_of(words, [&](std::string_view one) { return folded_word(one) == wanted; });
  };
  if (is_word("eof")) return SaidEnding{.ending = Ending::reset};
  if (const auto answer = answer_named_in(sentence, words)) return answer;
  const bool begins_with_err = std::ranges::any_of(
      words, [](std::string_view one) { return one.starts_with("ERR_") || one.starts_with("err_"); });
  if (is_one_of(word, kFailureWords) || begins_with_err || std::ranges::any_of(kFailureParts, has))
    return SaidEnding{.ending = Ending::timed_out, .kind_known = false};
  return std::nullopt;
}

std::optional<int> small_number(std::string_view text) {
  if (const std::size_t point = text.find('.'); point != std::string_view::npos) {
    const std::string_view fraction = text.substr(point + 1);
    if (fraction.empty() || fraction.find_first_not_of('0') != std::string_view::npos) return std::nullopt;
    text = text.substr(0, point);
  }
  if (text.empty() || text.size() > 3) return std::nullopt;
  int value = 0;
  for (const char c : text) {
    if (c < '0' || c > '9') return std::nullopt;
    value = value * 10 + (c - '0');
  }
  return value;
}

std::optional<int> status_in_text(std::string_view text) {
  if (const auto plain = small_number(text)) return plain;
  if (const auto leading = leading_status(text)) return leading;
  return status_named_in(text);
}

std::optional<bool> yes_or_no(std::string_view text) {
  static constexpr std::string_view kYes[] = {"true",    "yes",       "ok",   "t",     "y",
                                              "success", "succeeded", "pass", "passed"};
  static constexpr std::string_view kNo[] = {"false", "no", "f", "n", "fail", "failed", "failure", "ko"};
  if (const auto value = by_value(text)) {
    if (*value <= 0) return false;
    return *value == kOne ? std::optional(true) : std::nullopt;
  }
  const std::string word = folded_word(text);
  if (is_one_of(word, kYes)) return true;
  if (is_one_of(word, kNo)) return false;
  return std::nullopt;
}

bool says_no_error(std::string_view text) {
  static constexpr std::string_view kNone[] = {"false", "no", "f", "n", "ok", "success", "noerror"};
  if (is_no_value(text) || text == "{}" || text == "[]") return true;
  if (const auto value = by_value(text)) return *value == 0;
  return is_one_of(folded_word(text), kNone);
}

bool is_no_value(std::string_view text) {
  static constexpr std::string_view kNone[] = {
      "",    "-",   "null", "NULL", "nil", "None", "none", "NaN", "nan",   "NA",        "N/A",
      "n/a", "\\N", "*",    "inf",  "Inf", "+Inf", "Null", "NIL", "<nil>", "undefined", "Infinity"};
  return std::ranges::find(kNone, text) != std::end(kNone);
}

bool is_minus_one(std::string_view text) { return text.starts_with('-') && by_value(text) == -kOne; }

}  // namespace overdue
