#include "overdue/write/explain_words.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cctype>

#include "overdue/base/edit_distance.h"
#include "overdue/base/effect.h"
#include "overdue/base/grpc_status.h"

namespace overdue {
namespace {

constexpr std::string_view kProcessDied = "process died";

constexpr SeenEnding kEndings[] = {
    {"connection refused", Ending::refused, true, "our own connect() failed, so not one byte of it left"},
    {"connect timeout", Ending::timed_out, true, "it never had its connection, so not one byte of it left"},
    {"dns failure", Ending::reset, true, "its address was not found, so not one byte of it left"},
    {"tls failure", Ending::reset, true,
     "the connection was never ready for it, so not one byte of the request left (early data, where it is "
     "used, is one: then it is a reset after send)"},
    {"nothing written", Ending::reset, true, "not one byte of it was handed to the network"},
    {"reset after send", Ending::reset, false,
     "it may be lost, on its way, at work, or done with its reply lost"},
    {"timeout", Ending::timed_out, false,
     "it may be lost, on its way, at work, or done and the reply still coming"},
    {"caller left", Ending::abandoned, false, "nobody waits here any more; the server does not know that"}};

constexpr SeenRecord kRecords[] = {
    {"status applied", OnUnknown::query, RecordSays::applied},
    {"status rejected", OnUnknown::query, RecordSays::rejected},
    {"status not found", OnUnknown::query, RecordSays::absent},
    {"status not found, limit passed", OnUnknown::query, RecordSays::absent, false, true},
    {"status in flight", OnUnknown::query, RecordSays::in_flight},
    {"status in flight, limit passed", OnUnknown::query, RecordSays::in_flight, false, true},
    {"status unreachable", OnUnknown::query, RecordSays::nothing},
    {"status expired", OnUnknown::query, RecordSays::expired},
    {"fenced", OnUnknown::fence, RecordSays::fenced},
    {"fence in flight", OnUnknown::fence, RecordSays::in_flight},
    {"listed", OnUnknown::list, RecordSays::applied},
    {"not listed", OnUnknown::list, RecordSays::absent},
    {"not listed after seal", OnUnknown::list, RecordSays::absent, true}};

// What else is said for one of the above, in the form of normal(). Where a message may be of either side of
// the first byte, it is taken for the one that proves nothing.
struct Alias {
  std::string_view said;
  std::string_view name;
};
constexpr Alias kAliases[] = {{"econnrefused", "connection refused"},
                              {"refused", "connection refused"},
                              {"connect refused", "connection refused"},
                              {"connect timed out", "connect timeout"},
                              {"timed out connecting", "connect timeout"},
                              {"timeout while connecting", "connect timeout"},
                              {"timed out while connecting", "connect timeout"},
                              {"dns error", "dns failure"},
                              {"name not resolved", "dns failure"},
                              {"no such host", "dns failure"},
                              {"could not resolve host", "dns failure"},
                              {"enotfound", "dns failure"},
                              {"getaddrinfo failed", "dns failure"},
                              {"temporary failure in name resolution", "dns failure"},
                              {"name or service not known", "dns failure"},
                              {"nxdomain", "dns failure"},
                              {"tls handshake failed", "tls failure"},
                              {"tls handshake failure", "tls failure"},
                              {"ssl handshake failed", "tls failure"},
                              {"certificate verify failed", "tls failure"},
                              {"tls handshake timeout", "tls failure"},
                              {"net http tls handshake timeout", "tls failure"},
                              {"nothing sent", "nothing written"},
                              {"never sent", "nothing written"},
                              {"not sent", "nothing written"},
                              {"reset", "reset after send"},
                              {"connection reset", "reset after send"},
                              {"connection reset peer", "reset after send"},
                              {"econnreset", "reset after send"},
                              {"epipe", "reset after send"},
                              {"broken pipe", "reset after send"},
                              {"eof", "reset after send"},
                              {"unexpected eof", "reset after send"},
                              {"end file", "reset after send"},
                              {"connection closed", "reset after send"},
                              {"connection aborted", "reset after send"},
                              {"econnaborted", "reset after send"},
                              {"socket hang up", "reset after send"},
                              {"empty reply from server", "reset after send"},
                              {"ehostunreach", "reset after send"},  // Of an open connection too.
                              {"no route to host", "reset after send"},
                              {"enetunreach", "reset after send"},
                              {"network unreachable", "reset after send"},
                              {"timed out", "timeout"},
                              {"i o timeout", "timeout"},
                              {"request timed out", "timeout"},
                              {"read timeout", "timeout"},
                              {"read timed out", "timeout"},
                              {"connection timed out", "timeout"},
                              {"connection timeout", "timeout"},
                              {"etimedout", "timeout"},
                              {"deadline exceeded", "timeout"},
                              {"context deadline exceeded", "timeout"},
                              {"no reply", "timeout"},
                              {"no answer", "timeout"},
                              {"context canceled", "caller left"},
                              {"caller gone", "caller left"},
                              {"crash", kProcessDied},
                              {"crashed", kProcessDied},
                              {"process crashed", kProcessDied},
                              {"process killed", kProcessDied},
                              {"killed", kProcessDied},
                              {"status absent", "status not found"},
                              {"status absent limit passed", "status not found, limit passed"}};

// What libraries print of a connection that they could not make, around the cause: "dial tcp 10.0.0.1:80:
// connect: connection refused". Of the same cause without its beginning it is not known whose connection it
// was.
struct Connecting {
  std::string_view beginning;
  std::string_view cause;
  std::string_view name;
};
constexpr Connecting kConnecting[] = {{"dial tcp", "connection refused", "connection refused"},
                                      {"dial tcp", "no route to host", "connection refused"},
                                      {"dial tcp", "network unreachable", "connection refused"},
                                      {"dial tcp", "i o timeout", "connect timeout"},
                                      {"dial tcp", "connection timed out", "connect timeout"},
                                      {"dial tcp", "no such host", "dns failure"},
                                      {"connect", "econnrefused", "connection refused"},
                                      {"connect", "connection refused", "connection refused"},
                                      {"connect", "ehostunreach", "connection refused"},
                                      {"connect", "no route to host", "connection refused"},
                                      {"connect", "enetunreach", "connection refused"},
                                      {"connect", "etimedout", "connect timeout"},
                                      {"errno 111", "connection refused", "connection refused"},
                                      {"getaddrinfo", "enotfound", "dns failure"},
                                      {"getaddrinfo", "eai again", "dns failure"}};

struct Reason {
  std::uint16_t status;
  std::string_view phrase;
};
constexpr Reason kReasons[] = {{200, "ok"},
                               {201, "created"},
                               {202, "accepted"},
                               {204, "no content"},
                               {400, "bad request"},
                               {401, "unauthorized"},
                               {402, "payment required"},
                               {403, "forbidden"},
                               {404, "not found"},
                               {405, "method not allowed"},
                               {408, "request timeout"},
                               {409, "conflict"},
                               {410, "gone"},
                               {412, "precondition failed"},
                               {413, "content too large"},
                               {415, "unsupported media type"},
                               {422, "unprocessable entity"},
                               {422, "unprocessable content"},
                               {423, "locked"},
                               {425, "too early"},
                               {428, "precondition required"},
                               {429, "too many requests"},
                               {500, "internal server error"},
                               {501, "not implemented"},
                               {502, "bad gateway"},
                               {503, "service unavailable"},
                               {503, "service temporarily unavailable"},
                               {504, "gateway timeout"},
                               {504, "gateway time out"}};

constexpr std::string_view kSmallWords[] = {"with", "the", "a",  "an", "by",  "was", "were",
                                            "is",   "has", "it", "of", "our", "its", "been"};

using Words = std::vector<std::string>;

// Lower case, without punctuation and small words.
Words words_of(std::string_view text) {
  Words words;
  std::string word;
  const auto end_word = [&] {
    if (!word.empty() && std::ranges::find(kSmallWords, word) == std::end(kSmallWords)) words.push_back(word);
    word.clear();
  };
  for (const char letter : text) {
    const auto code = static_cast<unsigned char>(letter);
    if (std::isalnum(code) != 0)
      word += static_cast<char>(std::tolower(code));
    else
      end_word();
  }
  end_word();
  return words;
}

std::string joined(const Words& words) { return fmt::format("{}", fmt::join(words, " ")); }
std::string normal(std::string_view text) { return joined(words_of(text)); }

// "... without key", "... key": taken off.
std::optional<bool> take_key(Words& words) {
  if (words.size() < 2 || words.back() != "key") return std::nullopt;
  words.pop_back();
  if (words.size() < 2 || (words.back() != "without" && words.back() != "no")) return true;
  words.pop_back();
  return false;
}

bool all_digits(std::string_view word) {
  return !word.empty() && std::ranges::all_of(word, [](char c) { return c >= '0' && c <= '9'; });
}

// Words that tell of more than a connection that was not made: then nothing is known.
constexpr std::string_view kMore[] = {"after", "proxy", "read",     "send",  "sent",
                                      "tcp",   "then",  "upstream", "write", "wrote"};

// Where it is one of kConnecting. An address may stand between "dial tcp" and the cause, or after another's
// cause.
std::optional<std::string_view> connecting(std::string_view said) {
  const auto tells_more = [](std::string_view text) {
    return std::ranges::any_of(words_of(text), [](const std::string& word) {
      return std::ranges::find(kMore, word) != std::end(kMore);
    });
  };
  for (const Connecting& one : kConnecting) {
    if (!said.starts_with(std::string(one.beginning) + " ")) continue;
    const std::string_view rest = said.substr(one.beginning.size());  // Begins with a space.
    if (tells_more(rest)) return std::nullopt;
    const std::string cause = " " + std::string(one.cause);
    const bool dials = one.beginning == "dial tcp";
    if (dials ? rest.ends_with(cause) : rest == cause || rest.starts_with(cause + " ")) return one.name;
  }
  return std::nullopt;
}

// "-409" is an option that does not exist, or a slip; no status.
bool is_negative(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t");
  return begin != std::string_view::npos && text[begin] == '-' && begin + 1 < text.size() &&
         all_digits(text.substr(begin + 1, 1));
}

// What was said, for a message: 80 characters of it.
std::string shortened(std::string_view text) {
  constexpr std::size_t kShown = 80;
  if (text.size() <= kShown) return std::string(text);
  std::size_t end = kShown;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U)
    --end;  // Not within a character.
  return std::string(text.substr(0, end)) + "...";
}

// "503", "HTTP/1.1 503", "status 404", "504 Gateway Timeout".
std::optional<std::uint16_t> http_status(const Words& words) {
  auto word = words.begin();
  if (word != words.end() && *word == "http") {
    ++word;
    while (word != words.end() && word->size() == 1 && all_digits(*word)) ++word;
  }
  while (word != words.end() && (*word == "status" || *word == "code")) ++word;
  if (word == words.end() || word->size() != 3 || !all_digits(*word)) return std::nullopt;
  const auto status = static_cast<std::uint16_t>(std::stoi(*word));
  if (status < 100 || status >= ErrorContract::kStatusEnd) return std::nullopt;
  const std::string rest = joined({std::next(word), words.end()});
  const auto is_said = [&](const Reason& reason) { return reason.status == status && reason.phrase == rest; };
  if (rest.empty() || std::ranges::any_of(kReasons, is_said)) return status;
  return std::nullopt;
}

// "UNAVAILABLE", "grpc status deadline_exceeded". With a space instead of the underscore it may be anything:
// "deadline exceeded" is what our own timer is called.
std::optional<std::uint16_t> grpc_status(std::string_view text) {
  std::optional<std::uint16_t> found;
  std::string word;
  const auto end_word = [&] {
    std::string upper;
    for (const char letter : word)
      upper += static_cast<char>(std::toupper(static_cast<unsigned char>(letter)));
    const bool allowed = word.empty() || upper == "GRPC" || upper == "STATUS" || upper == "CODE" ||
                         upper == "WITH" || upper == "WITHOUT" || upper == "KEY" || upper == "A" ||
                         upper == "THE" || upper == "NO";
    const auto name = std::ranges::find(kGrpcStatusNames, upper);
    word.clear();
    if (name != kGrpcStatusNames.end() && !found)
      found = static_cast<std::uint16_t>(name - kGrpcStatusNames.begin());
    else if (!allowed)
      return false;
    return true;
  };
  for (const char letter : text) {
    if (std::isalnum(static_cast<unsigned char>(letter)) != 0 || letter == '_')
      word += letter;
    else if (!end_word())
      return std::nullopt;
  }
  return end_word() ? found : std::nullopt;
}

// What may have been meant, as it should be written; empty where nothing is like it.
std::string meant(const Words& words) {
  const std::string said = joined(words);
  std::string best;
  std::size_t least = std::max<std::size_t>(1, said.size() / 4) + 1;
  const auto try_name = [&](std::string_view known, std::string_view name) {
    if (said.size() > known.size() + least) return;
    const std::size_t far = edit_distance(said, known);
    if (far >= least) return;
    least = far;
    best = name;
  };
  if (!words.empty() && all_digits(words.front())) {
    const std::string& number = words.front();
    if (number.size() != 3 || words.size() == 1) return {};
    for (const std::string_view tail : {" with key", " without key"})
      try_name(normal(number + std::string(tail)), number + std::string(tail));
    for (const Reason& reason : kReasons) {
      const std::string known = fmt::format("{} {}", reason.status, reason.phrase);
      if (known.starts_with(number)) try_name(known, number);
    }
    return best;
  }
  if (said == "not found") return "status not found";  // "enotfound" is nearer.
  for (const SeenEnding& one : kEndings) try_name(normal(one.name), one.name);
  for (const SeenRecord& one : kRecords) try_name(normal(one.name), one.name);
  for (const Alias& one : kAliases) try_name(one.said, one.name);
  for (const std::string_view one : kGrpcStatusNames) try_name(normal(one), one);
  try_name(kProcessDied, kProcessDied);
  return best;
}

std::unexpected<Error> not_understood(std::string_view observation, const Words& words) {
  const std::string what =
      words.empty() ? std::string("no observation was given")
                    : fmt::format("\"{}\" is no observation that can be explained", shortened(observation));
  if (const std::string name = meant(words); !name.empty())
    return fail(ErrorCode::invalid_argument, fmt::format("{}; did you mean \"{}\"?", what, name));
  if (!words.empty() && all_digits(words.front())) {
    return fail(ErrorCode::invalid_argument,
                fmt::format("{}: a status has three digits, 100 to 599, as in \"409 with key\"", what));
  }
  return fail(ErrorCode::invalid_argument,
              fmt::format("{}; say one of \"{}\"", what, fmt::join(explained_observations(), "\", \"")));
}

}  // namespace

Result<Understood> understand(std::string_view observation) {
  Words words = words_of(observation);
  const Words said = words;
  Understood understood{.what = SeenCrash{}, .key_sent = take_key(words)};
  if (const auto status = grpc_status(observation)) {
    understood.what = SeenStatus{.status = *status, .grpc = true};
    return understood;
  }
  const auto status = http_status(words);
  if (status && is_negative(observation)) return not_understood(observation, said);
  if (status) {
    understood.what = SeenStatus{.status = *status, .grpc = false};
    return understood;
  }
  std::string name = joined(words);
  if (const auto alias = std::ranges::find(kAliases, name, &Alias::said); alias != std::end(kAliases))
    name = normal(alias->name);
  else if (const auto attempt = connecting(name))
    name = normal(*attempt);
  for (const SeenEnding& one : kEndings) {
    if (normal(one.name) != name) continue;
    understood.what = &one;
    return understood;
  }
  if (understood.key_sent) return not_understood(observation, said);  // The rest is of a key by itself.
  for (const SeenRecord& one : kRecords) {
    if (normal(one.name) != name) continue;
    understood.what = &one;
    return understood;
  }
  if (name == kProcessDied) return understood;
  return not_understood(observation, said);
}

std::vector<std::string_view> explained_observations() {
  std::vector<std::string_view> names;
  for (const SeenEnding& one : kEndings) names.push_back(one.name);
  names.insert(names.end(), {kProcessDied, "200", "409 with key", "422 with key", "429", "503",
                             "402 without key", "UNAVAILABLE"});
  for (const SeenRecord& one : kRecords) names.push_back(one.name);
  return names;
}

}  // namespace overdue
