// One JSON object a line, by simdjson On-Demand: a line's fields are walked in order until all that are
// wanted were met, and nothing else of it is decoded.
#include <fmt/format.h>
#include <simdjson.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <map>
#include <memory>
#include <set>

#include "overdue/recorded/ending_words.h"
#include "overdue/recorded/field_notes.h"
#include "overdue/recorded/flat_json.h"
#include "overdue/recorded/json_text.h"
#include "overdue/recorded/ndjson_origin.h"
#include "overdue/recorded/row_taker.h"

namespace overdue {
namespace {

namespace ondemand = simdjson::ondemand;

constexpr std::size_t kSampleLines = 200;
constexpr std::size_t kNamesMax = 500;
constexpr unsigned kDepthMax = 4;
// A key is compared where it stands, perhaps past the end of its line: what may be read there is its limit.
constexpr std::size_t kKeyMax = ChunkReader::kReadableAfter - 4;

// A field's keys from the outermost in, as they stand in the lines. {"http":{"status":1}} and
// {"http.status":1} have one name, "http.status", and two ways to it.
using KeyPath = std::vector<std::string>;
using KeyPaths = std::map<std::string, std::set<KeyPath>, std::less<>>;

struct WantedField {
  std::uint32_t index = 0;  // Among the names.
  std::string name;
  std::set<KeyPath> paths;
};

// Wanted fields as a tree of keys.
struct WantedKey {
  std::string key_and_quote;  // As it stands in a line, the closing quote included.
  std::optional<std::size_t> place;
  bool is_error = false;  // An object or list is then read as an error is.
  std::vector<WantedKey> children;
};

WantedKey& child_of(WantedKey& parent, std::string_view key) {
  const std::string text = std::string(key) + '"';
  const auto found = std::ranges::find(parent.children, text, &WantedKey::key_and_quote);
  if (found != parent.children.end()) return *found;
  parent.children.push_back({text, std::nullopt, false, {}});
  return parent.children.back();
}

struct LineTexts {
  std::array<std::string_view, kWantedMax> texts;
  std::uint32_t found = 0;  // One bit a place.
};

// Returns an error, or success also where it stopped because `all` were found.
simdjson::error_code walk(ondemand::object object, const WantedKey& wanted, std::uint32_t all,
                          LineTexts& line) {
  std::size_t next = 0;  // Lines of a log have their fields in the same order.
  for (auto field_or_error : object) {
    ondemand::field field;
    if (const auto error = std::move(field_or_error).get(field)) return error;
    const char* const key = field.key().raw();
    for (std::size_t i = 0; i < wanted.children.size(); ++i) {
      const std::size_t at = next + i < wanted.children.size() ? next + i : next + i - wanted.children.size();
      const WantedKey& child = wanted.children[at];
      if (std::memcmp(key, child.key_and_quote.data(), child.key_and_quote.size()) != 0) continue;
      next = at + 1 == wanted.children.size() ? 0 : at + 1;
      if (child.place) {
        const std::uint32_t bit = std::uint32_t{1} << *child.place;
        // Of a key given twice the first counts.
        if ((line.found & bit) == 0) {
          std::string_view& text = line.texts[*child.place];
          if (!child.children.empty() && is_object(field.value())) {
            text = child.is_error ? "error" : "";
            ondemand::object inner;
            if (const auto error = field.value().get_object().get(inner)) return error;
            if (const auto error = walk(inner, child, all, line)) return error;
          } else {
            const auto read = child.is_error ? text_of_error(field.value()) : text_of_value(field.value());
            if (const auto error = read.error()) return error;
            text = read.value_unsafe();
          }
          line.found |= bit;
          if (line.found == all) return simdjson::SUCCESS;
        }
      } else {
        ondemand::object inner;
        if (field.value().get_object().get(inner) != simdjson::SUCCESS) break;
        if (const auto error = walk(inner, child, all, line)) return error;
        if (line.found == all) return simdjson::SUCCESS;
      }
      break;
    }
  }
  return simdjson::SUCCESS;
}

constexpr std::string_view kOtherLinesNote =
    "k6's points of other metrics than http_req_duration are no calls";

class NdjsonReader final : public ChunkReader {
 public:
  NdjsonReader(RowTaker taker, const std::vector<WantedField>& wanted, bool zero_is_no_upstream,
               std::vector<FieldPicks::Where> calls_have)
      : taker_(std::move(taker)),
        zero_is_no_upstream_(zero_is_no_upstream),
        calls_have_(std::move(calls_have)) {
    std::uint32_t last = 0;
    for (const WantedField& field : wanted) last = std::max(last, field.index);
    place_of_.resize(last + std::size_t{1});
    std::vector<std::string> keys;
    bool any_nested = false;
    for (std::size_t place = 0; place < wanted.size(); ++place) {
      const WantedField& field = wanted[place];
      place_of_[field.index] = static_cast<std::uint8_t>(place);
      for (const KeyPath& path : field.paths) {
        WantedKey* key = &root_;
        for (const std::string& step : path) key = &child_of(*key, step);
        key->place = place;
        key->is_error = taker_.plan().of(Role::ok) && taker_.plan().of(Role::ok)->index == field.index;
        any_nested = any_nested || path.size() > 1;
      }
      all_ |= std::uint32_t{1} << place;
      keys.push_back(field.name);
      any_nested = any_nested || field.name.size() > FlatJson::kKeyMax ||
                   field.name.find_first_of("\"\\") != std::string::npos;
    }
    if (!any_nested && !zero_is_no_upstream) flat_.emplace(keys);
    const auto bit = [&](Role role) {
      const auto& field = taker_.plan().of(role);
      return field ? std::uint32_t{1} << place_of_[field->index] : 0U;
    };
    evidence_ = bit(Role::latency) | bit(Role::status) | bit(Role::ending) | bit(Role::ok);
  }

  std::uint64_t read(std::string_view lines, RowSink& sink) const override {
    RowPass& pass = pass_of<RowPass>(sink);
    ondemand::parser parser;
    FlatJson::Found found;
    const auto text_of = [&](std::uint32_t field) { return found.texts[place_of_[field]]; };
    while (!lines.empty()) {
      const LineShape shape = shape_of_line(lines.data(), lines.size());
      const std::string_view line = lines.substr(0, shape.size);
      if (shape.flat && flat_ && flat_->find(line, found)) [[likely]] {
        taker_.take<true>(text_of, pass);
      } else {
        read_line(line, parser, pass);
      }
      lines.remove_prefix(std::min(shape.size + 1, lines.size()));
      ++pass.line;
    }
    return pass.line;
  }

 private:
  void read_line(std::string_view line, ondemand::parser& parser, RowPass& pass) const {
    while (!line.empty() && (line.back() == '\r' || line.back() == ' ' || line.back() == '\t'))
      line.remove_suffix(1);
    if (line.empty()) return;
    if (line.front() != '{' && trimmed(line).front() != '{')
      return pass.sink.set_aside("not JSON", pass.line);
    if (line.back() != '}') return pass.sink.set_aside("JSON cut off", pass.line);
    LineTexts found;
    ondemand::document document;
    ondemand::object object;
    auto error =
        parser.iterate(line.data(), line.size(), line.size() + ChunkReader::kReadableAfter).get(document);
    if (error == simdjson::SUCCESS) error = document.get_object().get(object);
    if (error == simdjson::SUCCESS) error = walk(object, root_, all_, found);
    if (error != simdjson::SUCCESS) return pass.sink.set_aside("JSON with a fault", pass.line);
    const auto text_of = [&](std::uint32_t field) { return found.texts[place_of_[field]]; };
    for (const FieldPicks::Where& has : calls_have_) {
      if (text_of(has.field) != has.value) return pass.sink.note(kOtherLinesNote);
    }
    if ((found.found & evidence_) == 0)
      return pass.sink.set_aside("no latency, status or ending in it", pass.line);
    if (zero_is_no_upstream_ && text_of(taker_.plan().of(Role::latency)->index) == "0") {
      return pass.sink.set_aside("no upstream was contacted", pass.line);
    }
    // An absent text has no bytes to look at.
    if (found.found == all_) return taker_.take<true>(text_of, pass);
    taker_.take<false>(text_of, pass);
  }

  RowTaker taker_;
  bool zero_is_no_upstream_;
  std::vector<FieldPicks::Where> calls_have_;  // By which lines that are calls are told from others.
  std::vector<std::uint8_t> place_of_;         // By the field's index among the names.
  WantedKey root_;
  std::optional<FlatJson> flat_;
  std::uint32_t all_ = 0;
  std::uint32_t evidence_ = 0;
};

// The head's lines as names and texts, for finding out what the fields are.
struct Sample {
  std::vector<std::string> names;
  KeyPaths paths;
  std::set<std::string, std::less<>> keys;  // As they stand in the lines, at whatever depth.
  // Name and text; the first lines, and those after them that have a key which no line before had.
  std::vector<std::vector<std::pair<std::string, std::string>>> lines;
};

// The keys around what is looked at, as they stand and as they read.
struct Above {
  KeyPath path;
  std::vector<std::string> names;
};

void add_text(const Above& above, std::string_view text, Sample& sample) {
  const std::string name = fmt::format("{}", fmt::join(above.names, "."));
  sample.lines.back().emplace_back(name, text);
  const auto known = sample.paths.find(name);
  if (known != sample.paths.end()) {
    known->second.insert(above.path);
  } else if (sample.paths.size() < kNamesMax) {
    sample.paths[name].insert(above.path);
    sample.names.push_back(name);
  }
}

bool may_be_an_error(std::string_view key) {
  const std::string word = folded_word(key);
  return word == "error" || word == "err" || word == "errors" || word == "exception" || word == "failure";
}

void collect(ondemand::object object, Above& above, Sample& sample) {
  for (auto field_or_error : object) {
    ondemand::field field;
    std::string_view key;
    if (std::move(field_or_error).get(field) != simdjson::SUCCESS) return;
    const std::string_view raw = raw_key(field.key().raw());
    if (field.unescaped_key().get(key) != simdjson::SUCCESS) return;
    if (raw.size() > kKeyMax) continue;
    sample.keys.emplace(key);
    ondemand::json_type type{};
    if (field.value().type().get(type) != simdjson::SUCCESS) return;
    above.path.emplace_back(raw);
    above.names.emplace_back(key);
    const bool is_scalar = type != ondemand::json_type::object && type != ondemand::json_type::array;
    if (is_scalar) {
      std::string_view text;
      if (text_of_value(field.value()).get(text) != simdjson::SUCCESS) return;
      add_text(above, text, sample);
    } else if (may_be_an_error(key)) {
      add_text(above, "error", sample);
    }
    ondemand::object inner;
    if (type == ondemand::json_type::object && above.path.size() < kDepthMax &&
        field.value().get_object().get(inner) == simdjson::SUCCESS) {
      collect(inner, above, sample);
    }
    above.path.pop_back();
    above.names.pop_back();
  }
}

bool has_new_key(ondemand::object object, const Sample& sample, unsigned depth) {
  for (auto field_or_error : object) {
    ondemand::field field;
    std::string_view key;
    if (std::move(field_or_error).get(field) != simdjson::SUCCESS) return false;
    if (field.unescaped_key().get(key) != simdjson::SUCCESS) return false;
    if (key.size() > kKeyMax) continue;
    if (!sample.keys.contains(key)) return true;
    ondemand::object inner;
    ondemand::json_type type{};
    if (depth == kDepthMax || field.value().type().get(type) != simdjson::SUCCESS ||
        type != ondemand::json_type::object)
      continue;
    if (field.value().get_object().get(inner) == simdjson::SUCCESS && has_new_key(inner, sample, depth + 1))
      return true;
  }
  return false;
}

Sample sample_of(std::string_view head) {
  Sample sample;
  ondemand::parser parser;
  while (!head.empty()) {
    const std::size_t newline = std::min(head.find('\n'), head.size());
    const std::string_view line = trimmed(head.substr(0, newline));
    head.remove_prefix(std::min(newline + 1, head.size()));
    if (!line.starts_with('{')) continue;
    const simdjson::padded_string padded(line);
    ondemand::document document;
    ondemand::object object;
    if (parser.iterate(padded).get(document) != simdjson::SUCCESS) continue;
    if (document.get_object().get(object) != simdjson::SUCCESS) continue;
    if (sample.lines.size() >= kSampleLines) {
      if (!has_new_key(object, sample, 1)) continue;
      if (parser.iterate(padded).get(document) != simdjson::SUCCESS) continue;
      if (document.get_object().get(object) != simdjson::SUCCESS) continue;
    }
    sample.lines.emplace_back();
    Above above;
    collect(object, above, sample);
  }
  return sample;
}

// The objects around fields, and the lines themselves; the innermost first.
std::vector<KeyPath> paths_around(const std::set<KeyPath>& fields) {
  std::vector<KeyPath> around;
  for (KeyPath path : fields) {
    while (!path.empty()) {
      path.pop_back();
      if (std::ranges::find(around, path) == around.end()) around.push_back(path);
    }
  }
  std::ranges::stable_sort(around, std::ranges::greater(), &KeyPath::size);
  return around;
}

// Where nothing in the head says how a call ended, only the calls that failed may have a field for it, and
// the first of them may come later: the usual names are then looked for in every line.
void add_fields_of_failures(Sample& sample, FieldPlan& plan, const ReadOptions& options) {
  struct Late {
    Role role;
    std::vector<std::string_view> keys;
  };
  static const std::array<Late, 3> kLate = {
      {{Role::ending, {"ending", "outcome"}},
       {Role::status,
        {"status", "status_code", "statusCode", "http_status", "httpStatus", "response_code", "responseCode",
         "code", "grpc_status"}},
       {Role::ok,
        {"error", "err", "failed", "timed_out", "timedOut", "is_error", "isError", "exception",
         "error_message", "errorMessage", "error_code", "errorCode", "error_type"}}}};
  for (const Late& late : kLate) {
    const std::string role(kRoleNames[static_cast<std::size_t>(late.role)]);
    if (options.columns.contains(role)) continue;  // Said to have none.
    std::set<KeyPath> paths;
    std::string name;
    for (const KeyPath& around : paths_around(sample.paths.at(plan.of(Role::latency)->name))) {
      for (const std::string_view key : late.keys) {
        KeyPath path = around;
        path.emplace_back(key);
        const std::string its = fmt::format("{}", fmt::join(path, "."));
        if (sample.paths.contains(its)) continue;
        if (name.empty()) name = its;
        paths.insert(std::move(path));
      }
    }
    if (paths.empty()) continue;
    plan.of(late.role) =
        RoleField{.index = static_cast<std::uint32_t>(sample.names.size()), .name = name, .unit = {}};
    sample.names.push_back(name);
    sample.paths[name] = std::move(paths);
  }
  plan.ok_is_inverse = true;
}

// Of the lines that have the field or the latency; empty where such a line has not the field.
std::vector<std::string_view> values_of(const Sample& sample, std::string_view name,
                                        std::string_view latency) {
  std::vector<std::string_view> texts;
  for (const auto& line : sample.lines) {
    const auto find = [&](std::string_view wanted) {
      return std::ranges::find(line, wanted, &std::pair<std::string, std::string>::first);
    };
    const auto found = find(name);
    if (found != line.end()) {
      texts.push_back(found->second);
    } else if (find(latency) != line.end()) {
      texts.push_back("");
    }
  }
  return texts;
}

std::vector<RowTexts> texts_by_role(const Sample& sample, const FieldPlan& plan) {
  std::vector<RowTexts> rows;
  for (const auto& line : sample.lines) {
    RowTexts texts;
    bool any = false;
    for (std::size_t role = 0; role < kRoleCount; ++role) {
      if (!plan.fields[role]) continue;
      const auto found =
          std::ranges::find(line, plan.fields[role]->name, &std::pair<std::string, std::string>::first);
      if (found == line.end()) continue;
      texts[role] = found->second;
      any = any || role <= static_cast<std::size_t>(Role::ok);
    }
    if (any) rows.push_back(texts);
  }
  return rows;
}

// The fields the reader must find: those with a role, and those of --by and --where.
std::vector<WantedField> wanted_fields(const Sample& sample, const FieldPlan& plan, const FieldPicks& picks,
                                       const std::vector<FieldPicks::Where>& calls_have) {
  std::set<std::uint32_t> indexes;
  for (const FieldPicks::Where& has : calls_have) indexes.insert(has.field);
  for (std::size_t role = 0; role < kRoleCount; ++role) {
    // The method is of use only to --by and --where.
    const auto& field = plan.fields[role];
    if (field && role != static_cast<std::size_t>(Role::method)) indexes.insert(field->index);
  }
  if (picks.by()) indexes.insert(*picks.by());
  for (const FieldPicks::Where& where : picks.wheres()) indexes.insert(where.field);
  std::vector<WantedField> wanted;
  for (const std::uint32_t index : indexes) {
    const std::string& name = sample.names[index];
    wanted.push_back({.index = index, .name = name, .paths = sample.paths.at(name)});
  }
  return wanted;
}

}  // namespace

bool looks_like_ndjson(std::string_view head) {
  std::size_t objects = 0;
  std::size_t others = 0;
  while (!head.empty() && objects + others < 20) {
    const std::size_t newline = std::min(head.find('\n'), head.size());
    std::string_view line = trimmed(head.substr(0, newline));
    head.remove_prefix(std::min(newline + 1, head.size()));
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (line.empty()) continue;
    ++(line.starts_with('{') && line.ends_with('}') && line.size() > 2 ? objects : others);
  }
  return objects > others;
}

Result<OpenedFormat> open_ndjson(std::string_view head, const std::string& path, const ReadOptions& given) {
  Sample sample = sample_of(head);
  if (sample.lines.empty()) {
    return fail(ErrorCode::unreadable_input, fmt::format("{}: holds no line that is a JSON object", path));
  }
  ReadOptions options = given;
  const NdjsonOrigin origin = known_origin(sample.names, options);
  const auto values = [&sample](std::uint32_t field, std::uint32_t latency) {
    return values_of(sample, sample.names[field], sample.names[latency]);
  };
  auto plan = plan_fields(sample.names, options, path, values);
  if (!plan) return std::unexpected(plan.error());
  plan->unit_by_format = origin.unit;
  plan->start_is_end = origin.start_is_end;
  std::vector<FieldPicks::Where> calls_have;
  for (const std::pair<std::string, std::string>& field : origin.calls_have) {
    const auto index = std::ranges::find(sample.names, field.first) - sample.names.begin();
    calls_have.push_back({static_cast<std::uint32_t>(index), field.second});
    std::erase_if(sample.lines,
                  [&field](const auto& line) { return std::ranges::find(line, field) == line.end(); });
  }
  const std::string words = in_words(*plan);
  const bool outcome_unknown = !plan->of(Role::status) && !plan->of(Role::ending) && !plan->of(Role::ok);
  OpenedFormat opened;
  opened.summary.notes = notes_of_fields(sample.names, options, *plan, values, outcome_unknown);
  if (outcome_unknown) add_fields_of_failures(sample, *plan, options);
  opened.summary.path = path;
  opened.summary.format = Format::ndjson;
  opened.summary.vantage = options.vantage.value_or(origin.vantage);
  opened.summary.level_is_fixed = !origin.name.starts_with("Traefik,");
  const std::vector<RowTexts> rows = texts_by_role(sample, *plan);
  settle_start(*plan, rows, opened.summary.notes);
  auto rules = RowRules::create(*plan, options, opened.summary.vantage, rows, path);
  if (!rules) return std::unexpected(rules.error());
  auto picks = pick_fields(options, sample.names, *plan);
  if (!picks) return std::unexpected(picks.error());
  const auto wanted = wanted_fields(sample, *plan, *picks, calls_have);
  if (wanted.size() > kWantedMax) {
    return fail(ErrorCode::invalid_argument,
                fmt::format("{}: more than {} fields are asked for", path, kWantedMax));
  }
  opened.summary.detail = fmt::format("{}{}fields {}", origin.name, origin.name.empty() ? "" : ", ", words);
  opened.summary.has_start_times = plan->of(Role::start).has_value();
  if (plan->start_is_end && plan->of(Role::start)) {
    opened.summary.notes.push_back(
        fmt::format("{} writes when a call ended: its start is computed", origin.name));
  }
  opened.summary.has_connect_times = plan->of(Role::connect).has_value();
  opened.summary.outcome_unknown = outcome_unknown;
  if (!outcome_unknown && rules->few_say()) opened.summary.notes.emplace_back(kFewSayNote);
  opened.summary.unit_doubt = rules->unit_doubt();
  opened.unit_claim = rules->unit_claim();
  if (!rules->unit_note().empty()) opened.summary.notes.push_back(rules->unit_note());
  RowTaker taker(std::move(*plan), std::move(*rules), std::move(*picks));
  opened.reader = std::make_unique<NdjsonReader>(std::move(taker), wanted, origin.zero_is_no_upstream,
                                                 std::move(calls_have));
  return opened;
}

}  // namespace overdue
