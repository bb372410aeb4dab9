// Three families of observations: how an attempt ended, a status it was answered with, and what the server's
// record was said to be. The first two are judged by evidence_of(), the third by proof_of(); what is done
// next is found out in explain_next.cc. Only the words are here.
#include "overdue/write/explain.h"

#include <fmt/format.h>

#include <optional>

#include "overdue/write/explain_next.h"
#include "overdue/write/explain_words.h"
#include "overdue/write/record_proof.h"

namespace overdue {
namespace {

constexpr std::uint16_t kAccepted = 202;
constexpr std::uint16_t kGrpcDeadlineExceeded = 4;

Explanation of_operation(const Evidence& evidence, std::string_view story, const ExplainOptions& options) {
  if (evidence.effect == Effect::happened) {
    return {.proves = fmt::format("the write is applied, {}: {}.",
                                  options.terms.keyed ? "once and for ever" : "for ever", story),
            .does_not_prove = options.terms.keyed
                                  ? "anything of another key."
                                  : "that it is applied only once: without a key every other attempt of it "
                                    "may be an effect of its own.",
            .next = "persists \"applied\" and tells the caller, however late this came."};
  }
  return {.proves = fmt::format("the write is not applied and never will be: {}.", story),
          .does_not_prove = "anything of another key.",
          .next =
              "persists \"rejected\" and tells the caller \"not applied\"; only now is a new operation for "
              "the same intent allowed."};
}

Explanation of_attempt(const AttemptSeen& seen, std::string_view story, const ExplainOptions& options) {
  const Course course = course_of(seen, options);
  const std::string_view under_key = options.terms.keyed ? " under the same key" : "";
  const std::string again =
      course.attempts > 1 ? fmt::format("tries again{}, {} attempts in all, while budget and deadline allow",
                                        under_key, course.attempts)
                          : std::string("does not try again");
  return {.proves = fmt::format("that this attempt did nothing: {}.", story),
          .does_not_prove =
              "that the write did not happen: every other attempt of it must have done nothing too, by this "
              "process, since it last started.",
          .next = again +
                  "; with every attempt known to have done nothing it persists \"never\", under its epoch, "
                  "and then tells the caller \"not applied\"."};
}

Explanation of_nothing(const AttemptSeen& seen, std::string_view story, const ExplainOptions& options) {
  return {.proves = fmt::format("nothing: {}.", story),
          .does_not_prove =
              "that the write did not happen, nor that it did; and that a later attempt did "
              "nothing does not prove it either.",
          .next = until_answered(seen, options) + "; then it " + once_unknown(options) + "."};
}

Explanation of_evidence(const AttemptSeen& seen, const Evidence& evidence, std::string_view story,
                        const ExplainOptions& options) {
  switch (evidence.scope) {
    case ProofScope::operation:
      return of_operation(evidence, story, options);
    case ProofScope::attempt:
      return of_attempt(seen, story, options);
    case ProofScope::nothing:
      break;
  }
  return of_nothing(seen, story, options);
}

std::string_view story_of(SeenStatus seen, StatusMeaning meaning, const ExplainOptions& options) {
  const bool keyed = options.terms.keyed;
  switch (meaning) {
    case StatusMeaning::success:
      return keyed ? "a success was answered under its key" : "a success was answered";
    case StatusMeaning::recorded_rejection:
      if (keyed) return "the server's no is recorded under the key, and answers every attempt";
      return "without a key nothing is recorded, so it speaks of one attempt";
    case StatusMeaning::nothing_happened:
      return options.call.via_proxy
                 ? "a proxy stands between, which may say it itself, or of its own second try"
                 : "the error contract says that it was turned away unexecuted";
    case StatusMeaning::in_flight:
      if (!seen.grpc && seen.status >= 200 && seen.status < 300)
        return "it was accepted and is not done yet, and may yet be done, or fail";
      return keyed ? "another attempt under this key is at work, and may yet commit"
                   : "something is at work that it runs into; without a key it is not said whose";
    case StatusMeaning::other_payload:
      return keyed ? "the key belongs to other bytes; what those did is not said"
                   : "the contract lists it as another payload's, and this attempt had no key";
    case StatusMeaning::other_answer:
      return "it is in no list of the error contract";
    case StatusMeaning::error:
      if (seen.grpc && seen.status == kGrpcDeadlineExceeded)
        return "a deadline passed, the server's or our own, and the work may go on or be done";
      return "an error may be said after the effect as well as before it";
  }
  return "";
}

// What an error contract could make of it.
std::string contract_hint(StatusMeaning meaning, const ExplainOptions& options) {
  if (meaning != StatusMeaning::error && meaning != StatusMeaning::other_answer) return {};
  return fmt::format(
      " {}: where the server's word is that it executes nothing then, naming it in nothing_happened makes it "
      "a "
      "proof that this attempt did nothing{}.",
      options.has_contract ? "The policy's [errors] do not name it"
                           : "No error contract was given (--policy)",
      options.call.via_proxy ? ", on a direct connection only" : "");
}

Explanation of_status(SeenStatus seen, const ExplainOptions& options) {
  const StatusMeaning meaning = options.call.errors.meaning_of(seen.status);
  const AttemptSeen attempt{.ending = Ending::rejected, .status = seen.status};
  const Evidence evidence = evidence_of({.ending = Ending::rejected,
                                         .meaning = meaning,
                                         .via_proxy = options.call.via_proxy,
                                         .key_sent = options.terms.keyed});
  Explanation explained = of_evidence(attempt, evidence, story_of(seen, meaning, options), options);
  explained.does_not_prove += contract_hint(meaning, options);
  if (meaning == StatusMeaning::success && seen.status == kAccepted) {
    explained.does_not_prove +=
        " Where this API says 202 for \"accepted, not done yet\" it proves nothing: name it in in_flight of "
        "the "
        "policy's [errors].";
  }
  if (meaning == StatusMeaning::in_flight && course_of(attempt, options).attempts > 1) {
    explained.next =
        "waits at least as long as Retry-After says before another attempt, and makes none that could begin "
        "at the deadline or later; else as after any unknown answer: it " +
        explained.next + retry_after_of_steps(options);
  }
  if (meaning == StatusMeaning::other_payload) {
    explained.next =
        "sends no more of it; the caller is told \"unknown\", with an id, once no attempt is left that may "
        "still "
        "be answered, at the deadline at the latest; then a person is asked.";
  }
  return explained;
}

Explanation of_ending(const SeenEnding& seen, const ExplainOptions& options) {
  const AttemptSeen attempt{.ending = seen.ending, .nothing_written = seen.nothing_written};
  const Evidence evidence = evidence_of({.ending = seen.ending,
                                         .nothing_written = seen.nothing_written,
                                         .via_proxy = options.call.via_proxy,
                                         .key_sent = options.terms.keyed});
  Explanation explained = of_evidence(attempt, evidence, seen.story, options);
  if (seen.ending == Ending::abandoned)
    explained.next = "sends nothing more for a caller who is gone; then it " + once_unknown(options) + ".";
  return explained;
}

Explanation of_crash(const ExplainOptions& options) {
  return {.proves =
              "nothing: it may have been sent any number of times before. Only of what is in no journal it "
              "is known that it was never sent.",
          .does_not_prove =
              "that the write did not happen, nor that it did; and what the attempts before were "
              "known to have done is forgotten with the process.",
          .next = "takes the entry over under a new epoch, with one attempt taken to be open; then it " +
                  once_unknown(options) + "."};
}

// Why an answer of the record proves nothing.
std::string what_it_leaves_open(const SeenRecord& told) {
  const bool at_work = told.says == RecordSays::in_flight;
  if (told.says == RecordSays::nothing) return "that the key is absent: unreachable is not \"not found\".";
  if (told.kind == OnUnknown::list && told.after_seal)
    return "that the write did not happen: with expired = \"deleted\" the key is not closed for ever, and "
           "what is "
           "still on its way is executed as new.";
  if (told.limit_passed) {
    return fmt::format(
        "that the write {}, unless the server holds its limit in the commit: say so with not_found = "
        "\"after_limit\".",
        at_work ? "is not done" : "did not happen");
  }
  if (at_work)
    return "that the write happens, nor that it does not: what is at work may commit, fail, or die with its "
           "server.";
  if (told.kind == OnUnknown::list)
    return "that the write did not happen: a listing has what was done when it was made, and what is still "
           "on its "
           "way or at work comes after it. However often it is asked.";
  return "that the write did not happen: a request still on its way, or at work, is not seen by a question. "
         "However often it is asked.";
}

Explanation of_expired(const ExplainOptions& options) {
  const bool listing = options.terms.offers(OnUnknown::list);
  if (options.terms.expired == ExpiredKeys::deleted) {
    return {
        .proves = "that the key is past its retention. Not what it did.",
        .does_not_prove =
            "that the write did not happen, nor that it never will: with expired = \"deleted\" the "
            "record goes, and what is sent or arrives after that is executed as new.",
        .next = listing
                    ? "sends no more, and looks in the listing: listed is proof, not listed is none here; a "
                      "person is asked if it is not listed by some time past the last send."
                    : "sends no more, and asks a person, for there is no listing that would tell."};
  }
  return {
      .proves = "that the key is closed: nothing under it will be run any more. Not what it did.",
      .does_not_prove = "that the write did not happen: it may have, before the key expired.",
      .next = listing
                  ? "notes the seal, then looks in the listing: absent from one asked after that is proof."
                  : "asks a person, for there is no listing that would tell."};
}

Explanation of_record(const SeenRecord& told, const ExplainOptions& options) {
  const RecordTold answer{.question = {.kind = told.kind, .after_seal = told.after_seal},
                          .says = told.says,
                          .limit_passed = told.limit_passed};
  if (const std::optional<Outcome> outcome = proof_of(answer, options.terms)) {
    const bool applied = outcome->state == EntryState::applied;
    Explanation explained{
        .proves =
            fmt::format("the write is {}, for ever. The proof: {}.", applied ? "applied" : "not applied",
                        kProofNames[static_cast<std::size_t>(outcome->proof)]),
        .does_not_prove = applied ? "anything of another key."
                                  : "that the old key can be used again: what is to be done now is a new "
                                    "operation.",
        .next = fmt::format("persists \"{}\" with its proof, whichever process hears of it, and tells.",
                            kEntryStateNames[static_cast<std::size_t>(outcome->state)])};
    if (outcome->proof == Proof::fenced && told.says == RecordSays::absent)
      explained.proves +=
          " It rests on not_found = \"fenced\": right only where asking for the status itself "
          "writes a tombstone, in one transaction with its answer.";
    if (outcome->state == EntryState::never && options.terms.expired == ExpiredKeys::deleted)
      explained.does_not_prove +=
          " Past the last send it proves nothing, for a tombstone may stand, or nothing be found, where a "
          "record was deleted.";
    return explained;
  }
  if (!options.terms.keyed && told.kind != OnUnknown::list) {
    return {.proves = "nothing: this is said of a key, and the policy's requests carry none (no key_header).",
            .does_not_prove = "that the write did not happen, nor that it did.",
            .next = once_unknown(options) + "."};
  }
  if (told.says == RecordSays::expired) return of_expired(options);
  return {.proves = told.says == RecordSays::in_flight ? "nothing yet: its key was at work when it was asked."
                                                       : "nothing.",
          .does_not_prove = what_it_leaves_open(told),
          .next = "goes on as long as nothing is proved: it " + once_unknown(options) + "."};
}

}  // namespace

Result<Explanation> explain(std::string_view observation, const ExplainOptions& options) {
  const Result<Understood> understood = understand(observation);
  if (!understood) return std::unexpected(understood.error());
  ExplainOptions own = options;
  own.terms.keyed = understood->key_sent.value_or(options.terms.keyed);
  if (const auto* ending = std::get_if<const SeenEnding*>(&understood->what)) return of_ending(**ending, own);
  if (const auto* told = std::get_if<const SeenRecord*>(&understood->what)) return of_record(**told, options);
  if (const auto* status = std::get_if<SeenStatus>(&understood->what)) return of_status(*status, own);
  return of_crash(options);
}

}  // namespace overdue
