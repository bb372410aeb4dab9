#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "overdue/recorded/block_fields.h"
#include "overdue/recorded/chunk_reader.h"
#include "overdue/recorded/field_names.h"
#include "overdue/recorded/row_taker.h"

namespace overdue {

// The fields of one line of CSV. A field in quotes may hold the delimiter and, written twice, the quote.
struct CsvFields {
  std::vector<std::string_view> texts;
  bool quote_left_open = false;

  // Fills texts from a line without its newline. They point into the line, or into `unquoted` where quotes
  // were taken out.
  void split(std::string_view line, char delimiter);

 private:
  std::vector<std::string> unquoted_;
};

// What a CSV file's first lines say about all of them.
struct CsvShape {
  char delimiter = ',';
  std::vector<std::string> names;  // "1", "2", ... where there is no header.
  std::string header_line;     // As it stands, to know it again where files were joined; empty without one.
  std::string separator_line;  // "sep=;", likewise.
  FieldPlan plan;
};

// Of a line that is a header, and not this file's: its columns may be others from there on.
inline constexpr std::string_view kOtherHeader = "another header";

// CsvReader turns lines of CSV into rows.
//
// The ordinary line (no quotes, as many fields as the header, a plain status, a positive number) is read in
// place off the places of its separators, hundreds at once column by column where they are all like that; any
// other goes the slow and complete way. All decide the same.
// Threads: const and shared.
class CsvReader final : public ChunkReader {
 public:
  CsvReader(CsvShape shape, RowTaker taker);
  std::uint64_t read(std::string_view lines, RowSink& sink) const override;

 private:
  struct Pass;
  void read_block(std::string_view block, Pass& pass) const;
  std::size_t read_columns(const char* text, std::span<const std::uint32_t> places, Pass& pass) const;
  bool are_plain(const BlockFields& lines) const;
  void read_slowly(std::string_view line, Pass& pass) const;
  bool is_no_row(std::string_view line) const;
  bool is_own_header(std::string_view line) const;
  void check_for_header(std::string_view line, Pass& pass) const;
  bool is_other_header(std::string_view line) const;

  CsvShape shape_;
  RowTaker taker_;
  std::uint32_t field_count_;
};

}  // namespace overdue
