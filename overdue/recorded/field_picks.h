#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "overdue/base/result.h"
#include "overdue/recorded/chunk_reader.h"
#include "overdue/recorded/read.h"

namespace overdue {

// FieldPicks is --by and --where, resolved once against the fields a format has. A field is a number of the
// reader's own; at each row the reader gives its text.
//
// The words a user may write for our own fields are the same in every format: "upstream", "backend", "host"
// are given to the reader as "backend"; "route", "path", "uri", "url" as "route"; "method" as "method". Any
// other name is the format's own and passed on as it stands, and a field of exactly that name comes first.
// Threads: const and shared.
class FieldPicks {
 public:
  using Resolve = std::function<std::optional<std::uint32_t>(std::string_view name)>;

  // Fails with invalid_argument naming the field and `known` ("its columns are a, b") where there is no such
  // field.
  static Result<FieldPicks> create(const ReadOptions& options, const Resolve& resolve,
                                   std::string_view known);

  struct Where {
    std::uint32_t field;
    std::string value;
  };
  const std::optional<std::uint32_t>& by() const { return by_; }
  const std::vector<Where>& wheres() const { return wheres_; }

  // `text_of(field)` returns the row's text of a field. A row that is not kept: ++sink.filtered, and nothing
  // else.
  template <typename TextOf>
  bool keeps(const TextOf& text_of) const {
    for (const Where& where : wheres_) {
      if (text_of(where.field) != std::string_view(where.value)) return false;
    }
    return true;
  }
  // What belongs into Attempt::group.
  template <typename TextOf>
  std::uint16_t group_of(ReaderNames& names, const TextOf& text_of) const {
    return by_ ? names.groups.id_of(text_of(*by_)) : std::uint16_t{0};
  }

 private:
  std::optional<std::uint32_t> by_;
  std::vector<Where> wheres_;
};

// Said where --where or --by chooses among the calls by how they ended: lost ones may then be in no figure.
// Empty where `says_outcome` is false of each of its names.
std::string note_of_outcome_filter(const ReadOptions& options,
                                   const std::function<bool(const std::string& name)>& says_outcome);

}  // namespace overdue
