// The write and errors tables: what becomes of unknown writes, and what an explicit reply proves. A fault is
// told of the key that is to be changed.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <utility>
#include <vector>

#include "overdue/base/quantity.h"
#include "overdue/policy/tables.h"

namespace overdue::reading {
namespace {

constexpr std::array<std::string_view, 2> kAsking = {"GET", "HEAD"};
// A question that writes, for a server whose status closes the key.
constexpr std::array<std::string_view, 4> kAskingOrClosing = {"GET", "HEAD", "POST", "PUT"};
constexpr std::array<std::string_view, 3> kFencing = {"POST", "PUT", "DELETE"};

bool offers(const WritePolicy& write, OnUnknown step) {
  return std::ranges::find(write.on_unknown, step) != write.on_unknown.end();
}

// A key that is there and was not read has a fault of its own: it is not missing.
bool has_key(const Place& at, std::string_view key) {
  const toml::table* table = at.node.as_table();
  return table != nullptr && table->contains(key);
}

KeyLines lines_of_keys(const Place& at) {
  KeyLines lines;
  if (const toml::table* table = at.node.as_table()) {
    for (const auto& [name, node] : *table) lines.add(name.str(), node.source().begin.line);
  }
  return lines;
}

bool read_every_offer(const Place& at, const WritePolicy& write) {
  const toml::table* table = at.node.as_table();
  const toml::node* node = table == nullptr ? nullptr : table->get("on_unknown");
  if (node == nullptr) return true;
  const toml::array* list = node->as_array();
  return list != nullptr && list->size() == write.on_unknown.size();
}

// "GET /operations/{key}": a method and a path that says where the key goes. Which methods, is looked at
// where it is known what it is for.
void read_request_line(const Place& at, std::span<const std::string_view> methods,
                       std::optional<std::string>& into) {
  const auto text = at.node.value<std::string>();
  bool right = at.node.is_string() && text && text->find("{key}") != std::string::npos;
  if (right) {
    const std::size_t space = text->find(' ');
    right = space != std::string::npos &&
            std::ranges::find(methods, text->substr(0, space)) != methods.end() &&
            text->substr(space + 1).starts_with('/') && text->find(' ', space + 1) == std::string::npos;
  }
  if (!right) {
    return at.fault(
        fmt::format("= {}: write a method ({}) and a path with {{key}} in it, as in \"{} "
                    "/operations/{{key}}\"",
                    shown(at.node), fmt::join(methods, ", "), methods.front()));
  }
  into = *text;
}

void read_fence(const Place& at, std::optional<std::string>& into) {
  const auto text = at.node.value<std::string>().value_or("");
  for (const std::string_view asking : kAsking) {
    if (!text.starts_with(std::string(asking) + " ")) continue;
    return at.fault(
        fmt::format("= {}: a {} changes nothing and so leaves no tombstone: a request that comes after it "
                    "is still executed. Write the call that closes the key, as in \"POST "
                    "/operations/{{key}}/fence\", or leave fence out",
                    shown(at.node), asking));
  }
  read_request_line(at, kFencing, into);
}

void check_offers(const Place& at, const WritePolicy& write) {
  if (offers(write, OnUnknown::query) && !has_key(at, "status")) {
    fault_of_key(at, "on_unknown",
                 "has \"query\", and there is no status: add it, as in status = \"GET /operations/{key}\"");
  }
  if (offers(write, OnUnknown::fence) && !has_key(at, "fence")) {
    fault_of_key(
        at, "on_unknown",
        "has \"fence\", and there is no fence: add it, as in fence = \"POST /operations/{key}/fence\"");
  }
  if (write.after_deadline == AfterDeadline::revoke && !offers(write, OnUnknown::fence) &&
      read_every_offer(at, write)) {
    fault_of_key(at, "after_deadline",
                 "= \"revoke\" fences the key, and on_unknown has no \"fence\": add it, with the fence");
  }
}

void check_status(const Place& at, const WritePolicy& write) {
  if (write.not_found == NotFound::fenced && !has_key(at, "status")) {
    fault_of_key(at, "not_found",
                 "= \"fenced\" says that asking for the status closes the key, and there is no status: leave "
                 "not_found out. A fence of its own needs no such word, its answer is proof by itself");
  }
  if (write.not_found == NotFound::after_limit && !has_key(at, "status")) {
    fault_of_key(at, "not_found",
                 "= \"after_limit\" is about what the status says, and there is no status: add it, or leave "
                 "not_found out");
  }
  const bool writes =
      write.status && !write.status->starts_with("GET ") && !write.status->starts_with("HEAD ");
  const bool may_close =
      write.not_found == NotFound::fenced || (!write.not_found && has_key(at, "not_found"));
  if (writes && !may_close) {
    fault_of_key(at, "status",
                 fmt::format("= \"{}\": a question changes nothing: write a method (GET, HEAD), or say "
                             "not_found = \"fenced\" where asking closes a key that has not been used",
                             *write.status));
  }
}

// A record that is gone makes a late request new: every one must be dead by then (LIFECYCLE, mutants 4, 5).
void check_times(const Place& at, const WritePolicy& write) {
  if (!write.key_retention || !write.last_send) return;
  const Duration life = write.message_life_max.value_or(Duration(0));
  if (life < *write.key_retention - *write.last_send) return;
  fault_of_key(
      at, "last_send",
      fmt::format(
          "= \"{}\", {}, must end before key_retention \"{}\": a request that comes after its key was "
          "forgotten is executed as a new one",
          format_duration_exact(*write.last_send),
          write.message_life_max
              ? fmt::format("with message_life_max \"{}\"", format_duration_exact(life))
              : std::string("with room for message_life_max, the longest a request may be on its way"),
          format_duration_exact(*write.key_retention)));
}

// A record is found, and a tombstone refuses, by the key that a request carries.
std::string_view why_a_key(OnUnknown step) {
  switch (step) {
    case OnUnknown::retry:
      return "what is sent again without a key is a second write";
    case OnUnknown::query:
      return "requests that carry no key have no record under one, and what is said of it says nothing of "
             "them";
    case OnUnknown::fence:
      return "a tombstone refuses the requests that carry its key, and ours carry none";
    case OnUnknown::list:
      break;  // Goes by an id of ours in the write itself.
  }
  return {};
}

// A token of RFC 9110, 5.6.2.
bool is_header_name(std::string_view text) {
  constexpr std::string_view kMarks = "!#$%&'*+-.^_`|~";
  const auto fits = [&](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           kMarks.find(c) != std::string_view::npos;
  };
  return !text.empty() && std::ranges::all_of(text, fits);
}

void read_header_name(const Place& at, std::optional<std::string>& into) {
  const auto text = at.node.value<std::string>();
  if (!at.node.is_string() || !text || !is_header_name(*text)) {
    return at.fault(fmt::format(
        "= {}: write the name of an HTTP header, of letters, digits and !#$%&'*+-.^_`|~ alone, as "
        "in \"Idempotency-Key\"",
        shown(at.node)));
  }
  into = *text;
}

// What each list says of a status.
struct StatusList {
  std::string_view name;
  std::vector<std::string> ErrorsPolicy::* member;
  std::string_view meaning;
};
constexpr std::array<StatusList, 4> kStatusLists = {{
    {"nothing_happened", &ErrorsPolicy::nothing_happened, "it is said of a request turned away unexecuted"},
    {"recorded_rejection", &ErrorsPolicy::recorded_rejection, "it is a no that is stored under the key"},
    {"in_flight", &ErrorsPolicy::in_flight, "it says that the write is at work"},
    {"other_payload", &ErrorsPolicy::other_payload, "it says that the key belongs to other bytes"},
}};

// A status as it stands in a list.
struct Listed {
  std::uint16_t status;
  std::string text;
  const StatusList* list;
  const toml::node* node;
};

void read_statuses(const Place& at, const StatusList& list, ErrorsPolicy& errors, std::vector<Listed>& all) {
  const toml::array* entries = at.node.as_array();
  if (entries == nullptr) return at.fault(fmt::format("= {}: write a list, as in [\"429\"]", shown(at.node)));
  for (const toml::node& entry : *entries) {
    const auto text = entry.value<std::string>();
    const auto status = entry.is_string() && text ? status_of(*text) : std::nullopt;
    if (status) {
      (errors.*list.member).push_back(*text);
      all.push_back({*status, *text, &list, &entry});
      continue;
    }
    const auto number = entry.value_exact<std::int64_t>();
    at.faults.add(entry, at.key,
                  entry.is_integer() && number && *number >= 100 && *number < 600
                      ? fmt::format("has {}: a status is text: write \"{}\"", *number, *number)
                      : fmt::format("has {}: write an HTTP status, \"100\" to \"599\", or the name of one of "
                                    "gRPC, as in \"UNAVAILABLE\"",
                                    shown(entry)));
  }
}

// 202 Accepted is a success that may mean "at work".
bool may_stand(const Listed& one) {
  const bool success = one.status == 0 || (one.status >= 200 && one.status < 300);
  return !success || (one.status != 0 && one.list->name == "in_flight");
}

void check_statuses(const Place& at, std::vector<Listed> all) {
  std::ranges::sort(all, {}, [](const Listed& one) {
    const toml::source_position begin = one.node->source().begin;
    return std::pair(begin.line, begin.column);
  });
  for (auto one = all.begin(); one != all.end(); ++one) {
    const std::string key = fmt::format("{}.{}", at.key, one->list->name);
    if (!may_stand(*one)) {
      at.faults.add(
          *one->node, key,
          fmt::format("lists {}, which is a success{}", one->text,
                      one->status == 0 ? ": leave it out"
                                       : ": leave it out, or write it in in_flight if it says that the write "
                                         "was accepted and is not done yet, as 202 may"));
    }
    const auto first =
        std::find_if(all.begin(), one, [&](const Listed& other) { return other.status == one->status; });
    if (first == one) continue;
    if (first->list == one->list) {
      at.faults.add(*one->node, key, fmt::format("lists {} twice: write it once", one->text));
      continue;
    }
    at.faults.add(
        *one->node, key,
        fmt::format(
            "lists {}, and so does {} in line {}: a status means one thing. Keep it in {} if {}, in {} "
            "if {}",
            one->text, first->list->name, first->node->source().begin.line, first->list->name,
            first->list->meaning, one->list->name, one->list->meaning));
  }
}

}  // namespace

void fault_of_key(const Place& at, std::string_view key, std::string_view what) {
  const toml::table* table = at.node.as_table();
  const toml::node* node = table == nullptr ? nullptr : table->get(key);
  at.faults.add(node == nullptr ? at.node : *node, fmt::format("{}.{}", at.key, key), what);
}

void read_write(const Place& at, WritePolicy& write) {
  write.line = at.node.source().begin.line;
  const auto on_unknown = [&](const Place& key) {
    if (const auto places = read_choices(key, kOnUnknownNames)) {
      for (const std::size_t place : *places) write.on_unknown.push_back(static_cast<OnUnknown>(place));
    }
  };
  const Key keys[] = {
      {"on_unknown", on_unknown},
      {"after_deadline",
       [&](const Place& key) { read_enum(key, kAfterDeadlineNames, write.after_deadline); }},
      {"key_header", [&](const Place& key) { read_header_name(key, write.key_header); }},
      {"key_retention", [&](const Place& key) { read_duration(key, write.key_retention); }},
      {"last_send", [&](const Place& key) { read_duration(key, write.last_send); }},
      {"message_life_max", [&](const Place& key) { read_duration(key, write.message_life_max); }},
      {"expired", [&](const Place& key) { read_enum(key, kExpiredKeysNames, write.expired); }},
      {"status", [&](const Place& key) { read_request_line(key, kAskingOrClosing, write.status); }},
      {"fence", [&](const Place& key) { read_fence(key, write.fence); }},
      {"not_found", [&](const Place& key) { read_enum(key, kNotFoundNames, write.not_found); }}};
  if (!read_table(at, "a write table", keys)) return;
  write.key_lines = lines_of_keys(at);
  check_offers(at, write);
  check_status(at, write);
  check_times(at, write);
}

void check_steps_have_a_key(const Place& at, const WritePolicy& write, const RetryPolicy& retry) {
  if (has_key(at, "key_header")) return;
  std::vector<std::string> without;
  std::string_view why;
  for (const OnUnknown step : write.on_unknown) {
    const std::string_view reason = why_a_key(step);
    const bool declared = step == OnUnknown::retry && retry.unsafe_retry_without_key;  // A warning (lint.h).
    if (reason.empty() || declared) continue;
    if (without.empty()) why = reason;
    without.push_back(fmt::format("\"{}\"", kOnUnknownNames[static_cast<std::size_t>(step)]));
  }
  if (!without.empty()) {
    fault_of_key(
        at, "on_unknown",
        fmt::format("has {}, and there is no key_header: {}. Add key_header = \"Idempotency-Key\", or "
                    "whatever the server reads its key from, or leave {} out",
                    without.front(), why, fmt::join(without, ", ")));
  } else if (write.not_found.value_or(NotFound::proves_nothing) != NotFound::proves_nothing) {
    fault_of_key(
        at, "not_found",
        fmt::format("= \"{}\" is about a key, and there is no key_header: {}. Add key_header = "
                    "\"Idempotency-Key\", or whatever the server reads its key from, or leave "
                    "not_found out",
                    kNotFoundNames[static_cast<std::size_t>(*write.not_found)], why_a_key(OnUnknown::query)));
  }
}

void read_errors(const Place& at, ErrorsPolicy& errors) {
  errors.line = at.node.source().begin.line;
  std::vector<Listed> all;
  std::vector<Key> keys;
  keys.reserve(kStatusLists.size());
  for (const StatusList& list : kStatusLists)
    keys.push_back({list.name, [&](const Place& key) { read_statuses(key, list, errors, all); }});
  if (!read_table(at, "an errors table", keys)) return;
  errors.key_lines = lines_of_keys(at);
  check_statuses(at, all);
}

}  // namespace overdue::reading
