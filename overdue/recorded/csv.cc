// Lines of CSV to rows. What decides the speed: separators are found 64 bytes at a time into a list of
// places, so that a field is two loads; numbers are read eight digits at a time; nothing is allocated for a
// line.
#include "overdue/recorded/csv.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "overdue/recorded/separators.h"

namespace overdue {
namespace {

constexpr std::size_t kBlockBytes = std::size_t{16} << 10;
constexpr std::size_t kColumnRowsMin = 16;
// After a row that is not usual: more of them may follow, and columns that are thrown away cost time.
constexpr std::size_t kRowsOneByOne = 2048;

std::string_view without_newline(std::string_view line) {
  if (line.ends_with('\n')) line.remove_suffix(1);
  if (line.ends_with('\r')) line.remove_suffix(1);
  return line;
}

}  // namespace

void CsvFields::split(std::string_view line, char delimiter) {
  texts.clear();
  unquoted_.clear();
  quote_left_open = false;
  std::vector<std::pair<std::size_t, std::size_t>> moved;  // Field and its string: those may still move.
  for (std::size_t at = 0;;) {
    if (at < line.size() && line[at] == '"') {
      std::string text;
      bool closed = false;
      for (++at; at < line.size(); ++at) {
        if (line[at] != '"') {
          text += line[at];
        } else if (at + 1 < line.size() && line[at + 1] == '"') {
          text += line[at++];
        } else {
          closed = true;
          ++at;
          break;
        }
      }
      if (!closed) quote_left_open = true;
      const std::size_t end = std::min(line.find(delimiter, at), line.size());
      text.append(line.substr(at, end - at));  // What stands behind the quote is kept as it is.
      moved.emplace_back(texts.size(), unquoted_.size());
      unquoted_.push_back(std::move(text));
      texts.emplace_back();
      at = end;
    } else {
      const std::size_t end = std::min(line.find(delimiter, at), line.size());
      texts.push_back(line.substr(at, end - at));
      at = end;
    }
    if (at >= line.size()) break;
    ++at;
  }
  for (const auto& [field, string] : moved) texts[field] = unquoted_[string];
}

struct CsvReader::Pass : RowPass {
  using RowPass::RowPass;
  CsvFields fields;
  // The first stands for the newline before the block, so that a field runs from place to place.
  std::array<std::uint32_t, 1 + kBlockBytes + kPlacesAfter> places;
  std::size_t rows_one_by_one = 0;  // Before columns are tried again.
};

CsvReader::CsvReader(CsvShape shape, RowTaker taker)
    : shape_(std::move(shape)),
      taker_(std::move(taker)),
      field_count_(static_cast<std::uint32_t>(shape_.names.size())) {}

std::uint64_t CsvReader::read(std::string_view lines, RowSink& sink) const {
  Pass& pass = pass_of<Pass>(sink);
  while (!lines.empty()) {
    std::string_view block = lines.substr(0, kBlockBytes);
    if (block.size() < lines.size()) {
      const std::size_t newline = block.rfind('\n');
      // A line longer than a block, which the slow way reads.
      block = lines.substr(0, newline == std::string_view::npos ? lines.find('\n') : newline + 1);
    }
    if (block.size() > kBlockBytes || !block.ends_with('\n')) {
      const std::size_t newline = lines.find('\n');
      block = lines.substr(0, newline == std::string_view::npos ? lines.size() : newline + 1);
      read_slowly(without_newline(block), pass);
      ++pass.line;
    } else {
      read_block(block, pass);
    }
    lines.remove_prefix(block.size());
  }
  return pass.line;
}

// Requires: `block` ends in a newline and is no longer than kBlockBytes.
void CsvReader::read_block(std::string_view block, Pass& pass) const {
  const char* const text = block.data();
  pass.places[0] = UINT32_MAX;  // One less than the place of the first character.
  std::uint32_t* place = pass.places.data() + 1;
  const Separators found = find_separators(text, block.size(), shape_.delimiter, place);
  const std::uint32_t* const places_end = place + found.count;
  const std::uint32_t fields = field_count_;
  const bool has_columns = taker_.may_take_columns() && !found.quotes && !found.returns &&
                           found.newlines * fields == found.count &&
                           are_plain({text, place, fields, found.newlines});
  const char delimiter = shape_.delimiter;
  while (place != places_end) {
    if (has_columns) {
      const std::size_t rows = read_columns(text, {place, places_end}, pass);
      place += rows * fields;
      pass.line += rows;
      if (rows > 0) continue;
    }
    const std::uint32_t begin = place[-1] + 1;
    bool plain = places_end - place >= static_cast<std::ptrdiff_t>(fields) && text[place[fields - 1]] == '\n';
    for (std::uint32_t field = 0; plain && field + 1 < fields; ++field)
      plain = text[place[field]] == delimiter;
    if (plain) [[likely]] {
      std::uint32_t& end = place[fields - 1];
      const std::uint32_t newline = end;
      end -= newline > begin && text[newline - 1] == '\r' ? 1 : 0;
      const auto text_of = [text, place](std::uint32_t field) {
        const std::uint32_t from = place[static_cast<std::ptrdiff_t>(field) - 1] + 1;
        return std::string_view(text + from, place[field] - from);
      };
      // What begins with a letter or sign may be a header again (files that were joined) or a comment.
      const bool digit_first = static_cast<unsigned char>(text[begin]) - unsigned{'0'} <= 9;
      if (digit_first || !is_no_row(block.substr(begin, end - begin))) [[likely]] {
        taker_.take<true>(text_of, pass);
      }
      if (pass.was_set_aside) [[unlikely]]
        check_for_header(block.substr(begin, end - begin), pass);
      end = newline;
      place += fields;
    } else {
      while (text[*place] != '\n') ++place;
      read_slowly(without_newline(block.substr(begin, *place - begin)), pass);
      ++place;
    }
    ++pass.line;
  }
}

// How many rows were read: none where one of the next is not of the usual kind. Requires: plain lines.
std::size_t CsvReader::read_columns(const char* text, std::span<const std::uint32_t> places,
                                    Pass& pass) const {
  if (pass.rows_one_by_one > 0) {
    --pass.rows_one_by_one;
    return 0;
  }
  const std::size_t rows = std::min(places.size() / field_count_, AttemptColumns::kRowsMax);
  if (rows < kColumnRowsMin) return 0;
  if (taker_.take_columns({text, places.data(), field_count_, rows}, pass)) return rows;
  pass.rows_one_by_one = kRowsOneByOne;
  return 0;
}

// Each with as many fields as the header, no comment, no header once more. Requires: the places are those of
// a whole block without quotes and carriage returns; then, with no more newlines than lines and each of them
// at the end of its line, what stands between are delimiters.
bool CsvReader::are_plain(const BlockFields& lines) const {
  const char* const text = lines.text;
  std::uint32_t begin = lines.begin_of(0, 0);
  const std::uint32_t* end_place = lines.places + (lines.fields - 1);
  for (std::size_t row = 0; row < lines.rows; ++row, end_place += lines.fields) {
    const std::uint32_t end = *end_place;
    if (text[end] != '\n') [[unlikely]]
      return false;
    const bool digit_first = static_cast<unsigned char>(text[begin]) - unsigned{'0'} <= 9;
    if (!digit_first && is_no_row({text + begin, end - begin})) [[unlikely]]
      return false;
    begin = end + 1;
  }
  return true;
}

// Blank lines, comments and the header once more.
bool CsvReader::is_no_row(std::string_view line) const {
  return line.empty() || line.front() == '#' || line == shape_.separator_line || is_own_header(line);
}

// In any case of its letters, and with quotes and blanks or without.
bool CsvReader::is_own_header(std::string_view line) const {
  if (shape_.header_line.empty()) return false;
  if (line == shape_.header_line) return true;
  if (line.starts_with("\xef\xbb\xbf")) line.remove_prefix(3);
  std::string_view rest = shape_.header_line;
  const auto next = [](std::string_view& text) {
    while (!text.empty() && (text.front() == '"' || text.front() == ' ' || text.front() == '\r'))
      text.remove_prefix(1);
    if (text.empty()) return '\0';
    const char c = text.front();
    text.remove_prefix(1);
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  };
  while (true) {
    const char one = next(line);
    if (one != next(rest)) return false;
    if (one == '\0') return true;
  }
}

void CsvReader::read_slowly(std::string_view line, Pass& pass) const {
  if (is_no_row(line)) return;
  pass.fields.split(line, shape_.delimiter);
  std::vector<std::string_view>& texts = pass.fields.texts;
  if (pass.fields.quote_left_open) return pass.sink.set_aside("quote not closed on its line", pass.line);
  // One delimiter more at the end is a habit of some writers.
  while (texts.size() > field_count_ && texts.back().empty()) texts.pop_back();
  if (texts.size() == 1 && texts[0].empty() && field_count_ > 1) return;
  if (texts.size() != field_count_ && is_other_header(line))
    return pass.sink.set_aside_for(kOtherHeader, pass.line, line);
  if (texts.size() < field_count_) return pass.sink.set_aside("fewer fields than the header", pass.line);
  if (texts.size() > field_count_) return pass.sink.set_aside("more fields than the header", pass.line);
  taker_.take<false>([&](std::uint32_t field) { return texts[field]; }, pass);
  if (pass.was_set_aside) check_for_header(line, pass);
}

// Of a line that was set aside.
void CsvReader::check_for_header(std::string_view line, Pass& pass) const {
  pass.was_set_aside = false;
  if (is_other_header(line)) pass.sink.set_aside_for(kOtherHeader, pass.line, line);
}

// Columns are named in it, a latency among them, each by what begins like a word: rows at fault have numbers,
// times or nothing somewhere. This file's own header, written another way, names nothing new.
bool CsvReader::is_other_header(std::string_view line) const {
  if (shape_.header_line.empty()) return false;
  CsvFields fields;
  fields.split(line.starts_with("\xef\xbb\xbf") ? line.substr(3) : line, shape_.delimiter);
  const auto is_word = [](std::string_view text) {
    text = trimmed(text);
    const auto first = static_cast<unsigned char>(text.empty() ? '\0' : text.front());
    return first == '_' || first >= 0x80 || (first | 0x20U) - unsigned{'a'} < 26;
  };
  const auto is_latency = [](std::string_view text) { return names_a_latency(trimmed(text)); };
  if (!std::ranges::all_of(fields.texts, is_word) || std::ranges::none_of(fields.texts, is_latency))
    return false;
  return !std::ranges::equal(fields.texts, shape_.names, [](std::string_view text, const std::string& name) {
    return trimmed(text) == name;
  });
}

}  // namespace overdue
