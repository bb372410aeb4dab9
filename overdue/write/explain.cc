// Three families of observations: how an attempt ended, a status it was answered with, and what the server's
// record was said to be. The first two are judged by evidence_of(), the third by proof_of(); only the words
// are here.
#include "overdue/write/explain.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <optional>

#include "overdue/write/record_proof.h"

namespace overdue {
namespace {

struct Seen {
  std::string_view name;
  Ending ending;
  bool nothing_written;
  std::string_view story;
};
constexpr Seen kSeen[] = {
    {"connection refused", Ending::refused, true, "our own connect() failed, so not one byte of it left"},
    {"nothing written", Ending::reset, true, "not one byte of it was handed to the network"},
    {"reset after send", Ending::reset, false,
     "it may be lost, on its way, at work, or done with its reply lost"},
    {"timeout", Ending::timed_out, false,
     "it may be lost, on its way, at work, or done and the reply still coming"},
    {"caller left", Ending::abandoned, false, "nobody waits here any more; the server does not know that"}};

struct Told {
  std::string_view name;
  OnUnknown kind;
  RecordSays says;
  bool after_seal = false;
  bool limit_passed = false;
};
constexpr Told kTold[] = {
    {"status applied", OnUnknown::query, RecordSays::applied},
    {"status rejected", OnUnknown::query, RecordSays::rejected},
    {"status not found", OnUnknown::query, RecordSays::absent},
    {"status not found, limit passed", OnUnknown::query, RecordSays::absent, false, true},
    {"status in flight", OnUnknown::query, RecordSays::in_flight},
    {"status unreachable", OnUnknown::query, RecordSays::nothing},
    {"status expired", OnUnknown::query, RecordSays::expired},
    {"fenced", OnUnknown::fence, RecordSays::fenced},
    {"fence in flight", OnUnknown::fence, RecordSays::in_flight},
    {"listed", OnUnknown::list, RecordSays::applied},
    {"not listed", OnUnknown::list, RecordSays::absent},
    {"not listed after seal", OnUnknown::list, RecordSays::absent, true}};

std::string_view kept_apart(std::string_view word) {
  if (word == "with" || word == "the" || word == "a" || word == "an" || word == "by") return {};
  if (word == "timed" || word == "deadline") return "timeout";
  if (word == "out" || word == "exceeded") return {};
  if (word == "econnrefused") return "connection refused";
  if (word == "econnreset") return "reset after send";
  if (word == "absent") return "not found";
  return word;
}

// Lower case, one space between words, small words left out.
std::string normal(std::string_view text) {
  std::string out, word;
  const auto end_word = [&] {
    const std::string_view kept = kept_apart(word);
    if (!kept.empty()) out += (out.empty() ? "" : " ") + std::string(kept);
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
  return out;
}

std::string next_step(const ExplainOptions& options) {
  const WriteTerms& terms = options.terms;
  const auto use = [&](OnUnknown step) { return terms.offers(step); };
  const bool again = use(OnUnknown::retry) && terms.keyed && terms.after_deadline == AfterDeadline::complete;
  std::string text = again ? "waits and sends the same bytes again under the same key, before the last send"
                           : "listens on; nothing is sent again";
  std::string asks;
  const auto add = [&](OnUnknown step, std::string_view word) {
    const bool planned = step != OnUnknown::fence || terms.after_deadline == AfterDeadline::revoke;
    if (use(step) && planned) asks += (asks.empty() ? "" : ", ") + std::string(word);
  };
  add(OnUnknown::query, "asks for the key's status");
  add(OnUnknown::fence, "fences the key");
  add(OnUnknown::list, "looks for it in the listing");
  text += "; at the deadline the caller is told \"unknown\", with an id";
  if (!asks.empty()) text += "; then it " + asks;
  if (!again && asks.empty())
    text += "; then a person is asked, for the server offers nothing that would tell";
  return text + ".";
}

Explanation of_evidence(const Evidence& evidence, std::string_view story, const ExplainOptions& options) {
  if (evidence.scope == ProofScope::operation) {
    const bool applied = evidence.effect == Effect::happened;
    return {.proves = applied ? fmt::format("the write is applied, once and for ever: {}.", story)
                              : fmt::format("the write is not applied and never will be: {}.", story),
            .does_not_prove = "anything of another key.",
            .next = applied ? "persists \"applied\" and tells the caller, however late this came."
                            : "persists \"rejected\" and tells the caller \"not applied\"; only now is a new "
                              "operation for the same intent allowed."};
  }
  if (evidence.scope == ProofScope::attempt) {
    return {
        .proves = fmt::format("that this attempt did nothing: {}.", story),
        .does_not_prove =
            "that the write did not happen: every other attempt of it must have done nothing too, by this "
            "process, since it last started.",
        .next =
            "tries again under the same key; with every attempt known to have done nothing it persists "
            "\"never\", under its epoch, and then tells the caller \"not applied\"."};
  }
  return {.proves = fmt::format("nothing: {}.", story),
          .does_not_prove =
              "that the write did not happen, nor that it did; and no rejection of a later attempt "
              "proves it either.",
          .next = next_step(options)};
}

std::string_view story_of(StatusMeaning meaning, const ExplainOptions& options, bool key_sent) {
  switch (meaning) {
    case StatusMeaning::success:
      return "a success was answered under its key";
    case StatusMeaning::recorded_rejection:
      if (key_sent) return "the server's no is recorded under the key, and answers every attempt";
      return "without a key nothing is recorded, so it speaks of one attempt";
    case StatusMeaning::nothing_happened:
      return options.via_proxy ? "a proxy stands between, which may say it itself, or of its own second try"
                               : "the error contract says that it was turned away unexecuted";
    case StatusMeaning::in_flight:
      return "another attempt under this key is at work, and may yet commit";
    case StatusMeaning::other_payload:
      return "the key belongs to other bytes; what those did is not said";
    case StatusMeaning::other_answer:
      return "it is in no list of the error contract";
    case StatusMeaning::error:
      return "an error may be said after the effect as well as before it";
  }
  return "";
}

Explanation of_status(std::uint16_t status, bool key_sent, const ExplainOptions& options) {
  const StatusMeaning meaning = options.errors.meaning_of(status);
  const Evidence evidence = evidence_of(
      {.ending = Ending::rejected, .meaning = meaning, .via_proxy = options.via_proxy, .key_sent = key_sent});
  Explanation explained = of_evidence(evidence, story_of(meaning, options, key_sent), options);
  if (meaning == StatusMeaning::in_flight)
    explained.next = "waits as long as Retry-After says; then as after any unknown answer: " + explained.next;
  if (meaning == StatusMeaning::other_payload)
    explained.next =
        "sends no more under this key; at the deadline the caller is told \"unknown\", and a person is "
        "asked.";
  return explained;
}

Explanation of_record(const Told& told, const ExplainOptions& options) {
  const RecordTold answer{.question = {.kind = told.kind, .after_seal = told.after_seal},
                          .says = told.says,
                          .limit_passed = told.limit_passed};
  if (const std::optional<Outcome> outcome = proof_of(answer, options.terms)) {
    const bool applied = outcome->state == EntryState::applied;
    const std::string_view proof = kProofNames[static_cast<std::size_t>(outcome->proof)];
    return {.proves = fmt::format("the write is {}, for ever. The proof: {}.",
                                  applied ? "applied" : "not applied", proof),
            .does_not_prove =
                applied ? "anything of another key."
                        : "that the old key can be used again: what is to be done now is a new operation.",
            .next = fmt::format("persists \"{}\" with its proof, whichever process hears of it, and tells.",
                                kEntryStateNames[static_cast<std::size_t>(outcome->state)])};
  }
  Explanation explained{.proves = "nothing.",
                        .does_not_prove =
                            "that the write did not happen: a request still on its way, or at work, "
                            "is not seen by a question. However often it is asked.",
                        .next = "waits longer and takes its next step: " + next_step(options)};
  if (told.says == RecordSays::expired) {
    explained.proves = "that the key is closed: nothing under it will be run any more. Not what it did.";
    explained.does_not_prove = "that the write did not happen: it may have, before the key expired.";
    explained.next =
        options.terms.offers(OnUnknown::list)
            ? "notes the seal, then looks in the listing: absent from one asked after that is proof."
            : "asks a person, for there is no listing that would tell.";
  } else if (told.says == RecordSays::nothing) {
    explained.does_not_prove = "that the key is absent: unreachable is not \"not found\".";
  } else if (told.says == RecordSays::absent && told.limit_passed) {
    explained.does_not_prove =
        "that the write did not happen, unless the server holds its limit in the commit: say "
        "so with not_found = \"after_limit\".";
  }
  return explained;
}

}  // namespace

Result<Explanation> explain(std::string_view observation, const ExplainOptions& options) {
  const std::string words = normal(observation);
  std::uint16_t status = 0;
  const auto [rest, error] = std::from_chars(words.data(), words.data() + words.size(), status);
  if (error == std::errc() && status >= 100 && status < ErrorContract::kStatusEnd) {
    const std::string_view after(rest, static_cast<std::size_t>(words.data() + words.size() - rest));
    if (after.empty() || after == " key") return of_status(status, true, options);
    if (after == " without key") return of_status(status, false, options);
  }
  for (const Seen& seen : kSeen) {
    if (normal(seen.name) != words) continue;
    return of_evidence(
        evidence_of(
            {.ending = seen.ending, .nothing_written = seen.nothing_written, .via_proxy = options.via_proxy}),
        seen.story, options);
  }
  for (const Told& told : kTold) {
    if (normal(told.name) == words) return of_record(told, options);
  }
  std::string known;
  for (const std::string_view name : explained_observations())
    known += (known.empty() ? "\"" : ", \"") + std::string(name) + "\"";
  return fail(
      ErrorCode::invalid_argument,
      fmt::format("\"{}\" is no observation that can be explained; say one of {}", observation, known));
}

std::vector<std::string_view> explained_observations() {
  std::vector<std::string_view> names;
  for (const Seen& seen : kSeen) names.push_back(seen.name);
  names.insert(names.end(), {"200", "409 with key", "422 with key", "429", "503", "402 without key"});
  for (const Told& told : kTold) names.push_back(told.name);
  return names;
}

}  // namespace overdue
