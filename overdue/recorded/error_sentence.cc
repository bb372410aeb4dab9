#include "overdue/recorded/error_sentence.h"

#include <algorithm>
#include <span>

#include "overdue/recorded/ending_words.h"

namespace overdue {
namespace {

constexpr std::size_t kNowhere = std::string_view::npos;

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool is_of_word(char c) { return is_digit(c) || is_letter(c) || c == '_'; }

bool is_one_of(std::string_view word, std::span<const std::string_view> words) {
  return std::ranges::find(words, word) != words.end();
}

std::string without_quoted(std::string_view text) {
  std::string left;
  while (true) {
    const std::size_t open = text.find('"');
    const std::size_t close = open == kNowhere ? kNowhere : text.find('"', open + 1);
    left += text.substr(0, close == kNowhere ? kNowhere : open);
    if (close == kNowhere) return left;
    left += ' ';
    text.remove_prefix(close + 1);
  }
}

// From the scheme on, or from the slash, to where no address goes on.
std::string without_addresses(std::string_view text) {
  std::string left;
  for (std::size_t at = 0; at < text.size();) {
    const bool begins = at == 0 || text[at - 1] == ' ' || text[at - 1] == '(';
    bool is_address = begins && text[at] == '/';
    if (!is_address && is_letter(text[at]) && (at == 0 || !is_of_word(text[at - 1]))) {
      const std::size_t end = std::min(text.find_first_not_of("abcdefghijklmnopqrstuvwxyz", at), text.size());
      is_address = text.substr(end).starts_with("://");
    }
    if (!is_address) {
      left += text[at++];
      continue;
    }
    left += ' ';
    at = std::min(text.find_first_of(" \t\"')>],", at), text.size());
  }
  return left;
}

constexpr std::string_view kReasons[] = {
    "badrequest",     "unauthorized", "forbidden",           "notfound",   "conflict",
    "gone",           "toomany",      "internalservererror", "badgateway", "serviceunavailable",
    "gatewaytimeout", "clienterror",  "servererror"};
// What may stand between a number and the word that says what it is: "status code was 503", "response status
// code does not indicate success: 503", "status code received from server: 503", "HTTP/1.1 503".
constexpr std::string_view kBetween[] = {
    "code",     "of",         "was", "is",       "received", "from", "server",  "with",     "error",
    "an",       "a",          "the", "returned", "does",     "not",  "success", "indicate", "upstream",
    "response", "unexpected", "but", "instead",  "0",        "1",    "2",       "3"};
// Of numbers that are no answers: "500 ms", "503 bytes".
constexpr std::string_view kCounted[] = {
    "ms",       "s",      "sec",         "secs",    "second",  "seconds",      "us",    "ns",
    "msec",     "millis", "millisecond", "min",     "m",       "minutes",      "bytes", "byte",
    "b",        "kb",     "mb",          "rows",    "items",   "milliseconds", "times", "of",
    "requests", "calls",  "attempts",    "retries", "records", "lines"};
constexpr std::string_view kSaysAnswer[] = {"response", "returned", "responded", "answered", "replied",
                                            "gave",     "got",      "code",      "answer",   "reply"};
constexpr std::string_view kSaysWanted[] = {"expected", "expecting", "expects", "want", "wanted"};

bool says_status(std::string_view word) {
  if (word.ends_with("status") || word.ends_with("statuscode")) return true;
  if (is_one_of(word, kReasons)) return true;
  static constexpr std::string_view kOfHttp[] = {"http", "httpcode", "responsecode", "httperror"};
  return is_one_of(word, kOfHttp) || (word.contains("http") && word.ends_with("exception"));
}

class NumberInSentence {
 public:
  NumberInSentence(std::string_view text, std::span<const std::string_view> words, std::size_t place)
      : text_(text), words_(words), place_(place), begin_(begin_of(place)) {}

  std::optional<int> as_status() const {
    const auto value = small_number(words_[place_]);
    if (!value || *value < 100 || *value > 599 || is_part_of_more() || is_counted()) return std::nullopt;
    const bool is_fault = *value >= 400;
    const std::size_t end = begin_ + 3;
    if (is_fault && place_ == 1 && words_.size() == 2 && folded_word(words_[0]) == "error") return value;
    if (is_fault && before(1) == '[' && at(end) == ']') return value;
    if (is_fault && std::ranges::any_of(kReasons, [&](std::string_view reason) {
          return folded_word(text_.substr(end)).starts_with(reason);
        }))
      return value;
    return is_named(is_fault) ? value : std::nullopt;
  }

 private:
  std::size_t begin_of(std::size_t place) const {
    return static_cast<std::size_t>(words_[place].data() - text_.data());
  }
  char at(std::size_t index) const { return index < text_.size() ? text_[index] : '\0'; }
  char before(std::size_t distance) const { return begin_ >= distance ? text_[begin_ - distance] : '\0'; }

  // "1.503", "10.0.0.1:503", "-503", "503.5", "503%".
  bool is_part_of_more() const {
    const char last = before(1);
    if (last == '.' || last == '/' || (last == '-' && !is_letter(before(2))) ||
        (last == ':' && is_digit(before(2))))
      return true;
    const char next = at(begin_ + 3);
    return next == '%' || ((next == '.' || next == ':' || next == '-') && is_digit(at(begin_ + 4)));
  }

  bool is_counted() const {
    return place_ + 1 < words_.size() && begin_of(place_ + 1) == begin_ + 4 && at(begin_ + 3) == ' ' &&
           is_one_of(folded_word(words_[place_ + 1]), kCounted);
  }

  bool is_named(bool is_fault) const {
    const bool may_be_port = before(1) == ':';  // "server:503", but "status:503".
    for (std::size_t i = place_; i > 0 && place_ - i < 8; --i) {
      const std::string word = folded_word(words_[i - 1]);
      const bool is_answer = is_fault && (is_one_of(word, kSaysAnswer) || is_error_of(i - 1));
      if (says_status(word) || (is_answer && (!may_be_port || word == "code")))
        return i < 2 || !is_one_of(folded_word(words_[i - 2]), kSaysWanted);
      if (!is_one_of(word, kBetween) || (may_be_port && word != "code")) return false;
    }
    return false;
  }

  // "server error 503".
  bool is_error_of(std::size_t place) const {
    if (place == 0 || folded_word(words_[place]) != "error") return false;
    const std::string whose = folded_word(words_[place - 1]);
    return whose == "server" || whose == "client" || whose == "http";
  }

  std::string_view text_;
  std::span<const std::string_view> words_;
  std::size_t place_;
  std::size_t begin_;
};

}  // namespace

std::string without_names(std::string_view text) {
  static constexpr std::string_view kSayNoKind[] = {"", "err", "error", "failed", "failure", "exception"};
  std::string left = without_addresses(without_quoted(text));
  if (!is_one_of(folded_word(left), kSayNoKind)) return left;
  left = without_addresses(text);
  return is_one_of(folded_word(left), kSayNoKind) ? std::string(text) : left;
}

std::vector<std::string_view> words_of(std::string_view text) {
  std::vector<std::string_view> words;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const std::size_t begin = at;
    while (at < text.size() && is_of_word(text[at])) ++at;
    if (at > begin) words.push_back(text.substr(begin, at - begin));
  }
  return words;
}

std::optional<int> status_named_in(std::string_view text) {
  if (text.find_first_of("12345") == kNowhere) return std::nullopt;
  const std::string sentence = without_names(text);
  const std::vector<std::string_view> words = words_of(sentence);
  for (std::size_t place = 0; place < words.size(); ++place) {
    if (const auto status = NumberInSentence(sentence, words, place).as_status()) return status;
  }
  return std::nullopt;
}

}  // namespace overdue
