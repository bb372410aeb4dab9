// What a CSV file is: its delimiter, its header, which column is what, and in which unit.
#include <fmt/format.h>

#include <algorithm>

#include "overdue/recorded/csv.h"
#include "overdue/recorded/field_notes.h"

namespace overdue {
namespace {

constexpr std::size_t kSampleRows = 1000;

struct Lines {
  std::string_view rest;
  // The next line with its newline, or nothing.
  std::optional<std::string_view> next() {
    if (rest.empty()) return std::nullopt;
    const std::size_t newline = rest.find('\n');
    const std::string_view line =
        rest.substr(0, newline == std::string_view::npos ? rest.size() : newline + 1);
    rest.remove_prefix(line.size());
    return line;
  }
};

std::string_view bare(std::string_view line) {
  if (line.ends_with('\n')) line.remove_suffix(1);
  if (line.ends_with('\r')) line.remove_suffix(1);
  return line;
}

// Passes over the rest of a row whose quote the line before left open; false where it is closed nowhere.
bool skip_to_closing_quote(Lines& lines) {
  for (Lines ahead = lines; const auto line = ahead.next();) {
    if (std::ranges::count(*line, '"') % 2 == 0) continue;
    lines = ahead;
    return true;
  }
  return false;
}

bool is_number(std::string_view text) { return decimal_scaled_slow(trimmed(text), 0).has_value(); }

bool is_duration(std::string_view text) {
  return duration_with_unit(trimmed(text), TimeUnit::milliseconds).has_value();
}

// "sep=;", which Excel writes and reads as the first line: it names the delimiter.
std::optional<char> separator_named_by(std::string_view line) {
  if (line.size() == 7 && line.front() == '"' && line.back() == '"') line = line.substr(1, 5);
  if (line.size() != 5 || (!line.starts_with("sep=") && !line.starts_with("SEP="))) return std::nullopt;
  constexpr std::string_view kSeparators = ",;\t|:^~";
  if (kSeparators.find(line[4]) == std::string_view::npos) return std::nullopt;
  return line[4];
}

// The head's first lines: how many are blank or comments, then the one that may be a header.
struct Top {
  std::optional<char> separator;    // Named by a line before,
  std::string_view separator_line;  // which is this.
  std::string_view first;           // The first line that counts.
  std::size_t bytes_before = 0;
  std::uint64_t lines_before = 0;
  std::string_view after;
};

std::optional<Top> top_of(std::string_view head) {
  Lines lines{head};
  Top top;
  while (const auto line = lines.next()) {
    const std::string_view text = bare(*line);
    const auto separator = top.separator ? std::nullopt : separator_named_by(text);
    if (separator) {
      top.separator = separator;
      top.separator_line = text;
    } else if (!trimmed(text).empty() && !text.starts_with('#')) {
      top.first = *line;
      top.after = lines.rest;
      return top;
    }
    top.bytes_before += line->size();
    ++top.lines_before;
  }
  return std::nullopt;
}

char delimiter_of(const Top& top) {
  if (top.separator) return *top.separator;
  const std::string_view line = top.first;
  char best = ',';
  std::size_t most = 0;
  for (const char candidate : {',', ';', '\t', '|'}) {
    CsvFields fields;
    fields.split(bare(line), candidate);
    if (fields.texts.size() > most) {
      most = fields.texts.size();
      best = candidate;
    }
  }
  return best;
}

// A first line with a number in it is data: columns are not called "42".
bool is_header(const std::vector<std::string_view>& texts) {
  return std::ranges::none_of(texts, [](std::string_view text) { return is_number(text); });
}

struct Sample {
  std::vector<CsvFields> rows;
  std::optional<std::size_t> other_size;  // Of the first row that has not as many fields as the header,
  std::uint64_t other_line = 0;           // and its line among these, from 0.
  std::vector<RowTexts> texts;
};

Sample sample_of(std::string_view lines_text, const CsvShape& shape) {
  Sample sample;
  Lines lines{lines_text};
  for (std::uint64_t at = 0; sample.rows.size() < kSampleRows; ++at) {
    const auto line = lines.next();
    if (!line) break;
    if (bare(*line).empty() || line->starts_with('#')) continue;
    CsvFields fields;
    fields.split(bare(*line), shape.delimiter);
    while (fields.texts.size() > shape.names.size() && fields.texts.back().empty()) fields.texts.pop_back();
    if (fields.texts.size() == shape.names.size()) {
      sample.rows.push_back(std::move(fields));
    } else if (!sample.other_size && !fields.quote_left_open) {
      sample.other_size = fields.texts.size();
      sample.other_line = at;
    }
  }
  return sample;
}

Result<CsvShape> shape_of(const Top& top, const std::string& path, const ReadOptions& options) {
  CsvShape shape;
  shape.delimiter = delimiter_of(top);
  shape.separator_line = top.separator_line;
  CsvFields fields;
  fields.split(bare(top.first), shape.delimiter);
  if (is_header(fields.texts)) {
    for (const std::string_view name : fields.texts) shape.names.emplace_back(trimmed(name));
    // A habit of some writers: a delimiter more at the end.
    while (shape.names.size() > 1 && shape.names.back().empty()) shape.names.pop_back();
    shape.header_line = bare(top.first);
  } else {
    for (std::size_t i = 1; i <= fields.texts.size(); ++i) shape.names.push_back(std::to_string(i));
    if (!options.columns.contains("latency")) {
      return fail(
          ErrorCode::unreadable_input,
          fmt::format(
              "{}: line {}: has no header: name the columns by their positions, as in --map latency={} "
              "--unit ms; or, if it is an access log of your own format, name that with --log-format",
              path, top.lines_before + 1, fields.texts.size()));
    }
  }
  return shape;
}

ValuesOf values_of(const Sample& sample) {
  return [&sample](std::uint32_t column, std::uint32_t) {
    std::vector<std::string_view> texts;
    for (const CsvFields& row : sample.rows) texts.push_back(trimmed(row.texts[column]));
    return texts;
  };
}

// What the columns are, and with it the sample's texts by role.
Result<void> plan_columns(CsvShape& shape, Sample& sample, const std::string& path,
                          const ReadOptions& options) {
  auto plan = plan_fields(shape.names, options, path, values_of(sample));
  if (!plan) return std::unexpected(plan.error());
  shape.plan = std::move(*plan);
  for (const CsvFields& row : sample.rows) {
    RowTexts texts;
    for (std::size_t role = 0; role < kRoleCount; ++role) {
      if (const auto& field = shape.plan.fields[role]) texts[role] = trimmed(row.texts[field->index]);
    }
    sample.texts.push_back(texts);
  }
  return {};
}

}  // namespace

bool looks_like_csv(std::string_view head) {
  const auto top = top_of(head);
  if (!top || top->first.starts_with('{') || top->first.starts_with('[') || top->first.starts_with('<'))
    return false;
  const char delimiter = delimiter_of(*top);
  CsvFields fields;
  fields.split(bare(top->first), delimiter);
  const std::size_t count = fields.texts.size();
  const bool header = is_header(fields.texts);
  if (count == 1) {
    if (header) return names_a_latency(trimmed(fields.texts[0]));
    return is_number(fields.texts[0]);
  }
  if (fields.quote_left_open || count < 2) return false;
  // Names are short and hold no "key=value"; most of the lines have as many fields.
  const auto is_name = [](std::string_view text) {
    return text.size() <= 64 && text.find('=') == std::string_view::npos;
  };
  if (header && !std::ranges::all_of(fields.texts, is_name)) return false;
  Lines lines{top->after};
  std::size_t alike = 0;
  std::size_t seen = 0;
  bool numbers = !header;
  const bool named = header && std::ranges::any_of(fields.texts, [](std::string_view name) {
                       return names_a_latency(trimmed(name));
                     });
  // Rows that all have as many fields as each other, if not as many as the header.
  std::size_t first_count = 0;
  std::size_t like_first = 0;
  while (const auto line = lines.next()) {
    if (seen == 100) break;
    if (trimmed(bare(*line)).empty() || line->starts_with('#') || bare(*line) == top->separator_line)
      continue;
    CsvFields row;
    row.split(bare(*line), delimiter);
    // A row with a line break inside: it is not read, and says nothing against the others.
    if (row.quote_left_open && skip_to_closing_quote(lines)) continue;
    ++seen;
    if (row.texts.size() == count) ++alike;
    if (first_count == 0) first_count = row.texts.size();
    if (row.texts.size() == first_count && first_count > 1) ++like_first;
    numbers = numbers || std::ranges::any_of(row.texts, is_number) ||
              (named && std::ranges::any_of(row.texts, is_duration));
  }
  if (seen == 0) return header && std::ranges::any_of(fields.texts, names_a_latency);
  return numbers && (named ? std::max(alike, like_first) : alike) * 10 >= seen * 8;
}

Result<OpenedFormat> open_csv(std::string_view head, const std::string& path, const ReadOptions& options) {
  const auto top = top_of(head);
  if (!top)
    return fail(ErrorCode::unreadable_input, fmt::format("{}: holds no lines but blanks and comments", path));
  auto shape = shape_of(*top, path, options);
  if (!shape) return std::unexpected(shape.error());
  const bool has_header = !shape->header_line.empty();
  Sample sample = sample_of(has_header ? top->after : head.substr(top->bytes_before), *shape);
  if (auto planned = plan_columns(*shape, sample, path, options); !planned)
    return std::unexpected(planned.error());
  if (sample.rows.empty() && sample.other_size) {
    const std::size_t names = shape->names.size();
    return fail(
        ErrorCode::unreadable_input,
        fmt::format("{}: line {}: {} fields than the header: {}, where it names {} ({}); no line has as "
                    "many as it",
                    path, top->lines_before + (has_header ? 1 : 0) + sample.other_line + 1,
                    *sample.other_size < names ? "fewer" : "more", *sample.other_size, names,
                    fmt::join(shape->names, ", ")));
  }
  OpenedFormat opened;
  settle_start(shape->plan, sample.texts, opened.summary.notes);
  opened.summary.path = path;
  opened.summary.format = Format::csv;
  opened.summary.vantage = options.vantage.value_or(Vantage::caller);
  auto rules = RowRules::create(shape->plan, options, opened.summary.vantage, sample.texts, path);
  if (!rules) return std::unexpected(rules.error());
  auto picks = pick_fields(options, shape->names, shape->plan);
  if (!picks) return std::unexpected(picks.error());
  opened.summary.detail = "columns " + in_words(shape->plan);
  opened.summary.has_start_times = shape->plan.of(Role::start).has_value();
  opened.summary.has_connect_times = shape->plan.of(Role::connect).has_value();
  opened.summary.level_is_fixed = true;
  opened.summary.outcome_unknown = rules->only_latency();
  opened.summary.unit_doubt = rules->unit_doubt();
  opened.unit_claim = rules->unit_claim();
  if (!rules->unit_note().empty()) opened.summary.notes.push_back(rules->unit_note());
  for (std::string& note :
       notes_of_fields(shape->names, options, shape->plan, values_of(sample), rules->only_latency()))
    opened.summary.notes.push_back(std::move(note));
  if (has_header || top->separator) {
    opened.header_bytes = top->bytes_before + (has_header ? top->first.size() : 0);
    opened.header_lines = top->lines_before + (has_header ? 1 : 0);
  }
  RowTaker taker(shape->plan, std::move(*rules), std::move(*picks));
  opened.reader = std::make_unique<CsvReader>(std::move(*shape), std::move(taker));
  return opened;
}

}  // namespace overdue
