#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "overdue/recorded/chunk_reader.h"
#include "overdue/recorded/field_picks.h"
#include "overdue/recorded/name_cache.h"
#include "overdue/recorded/nginx_format.h"
#include "overdue/recorded/nginx_quick.h"
#include "overdue/recorded/route_ids.h"
#include "overdue/recorded/route_text.h"
#include "overdue/recorded/row_pass.h"
#include "overdue/recorded/status_rules.h"
#include "overdue/recorded/time_text.h"

namespace overdue {

// Fields that are no variable of the format, for FieldPicks.
inline constexpr std::uint32_t kNginxBackendField = 100;
inline constexpr std::uint32_t kNginxRouteField = 101;
inline constexpr std::uint32_t kNginxMethodField = 102;

// NginxRows judges the fields of one line: how each upstream attempt, or the whole call, ended and after how
// long (docs/formats/nginx.md has the table). One a chunk.
//
// Units: nginx writes seconds with three decimals; a time of exactly 0.000 was under one millisecond.
// Threads: none.
class NginxRows {
 public:
  static constexpr std::size_t kUpstreamsMax = 64;
  struct Settings {
    StatusRules rules;
    FieldPicks picks;
    Level level = Level::attempts;
    bool has_status = true;  // Some line has $status. Where none has, what answered last says how it ended.
  };

  // Both must outlive this.
  NginxRows(const Settings& settings, RowSink& sink) : settings_(settings), sink_(sink) {}

  // `line_number` is 0-based within the chunk, for what is set aside.
  void add(const NginxLine& line, std::uint64_t line_number);
  // The same, where that is one row by the simplest of rules; false, and nothing done, where it is not.
  // Requires: neither --by nor --where; ChunkReader::kReadableAfter bytes after the line may be looked at.
  bool add_quick(const NginxQuickLine& line);

 private:
  struct Upstream {
    std::string_view address, status, time, connect, header;
    std::optional<Duration> elapsed;
    bool redirect_follows = false;  // An internal redirect to another group came after it.
  };
  struct Judged {
    Ending ending = Ending::replied;
    std::optional<Duration> elapsed;
  };
  struct Call {
    int status = 0;
    std::optional<Duration> elapsed;  // $request_time
    std::optional<WallTime> end;
    std::uint16_t route = 0;
    std::string_view method;
  };

  void add_call(const NginxLine& line, const Call& call);
  void add_attempts(const NginxLine& line, const Call& call);
  // False where the line was set aside.
  bool read_upstreams(const NginxLine& line);
  bool read_lists(const NginxLine& line);
  Ending ending_of_call(const NginxLine& line, const Call& call) const;
  bool has_no_upstream(const NginxLine& line, const Call& call) const;
  Judged judge(const Upstream& upstream, bool last, const NginxLine& line, const Call& call,
               Duration used) const;
  bool append(const NginxLine& line, const Call& call, std::string_view address, const Judged& judged,
              std::optional<WallTime> start, std::string_view connect, bool begins_call);
  void set_aside(std::string_view reason) { sink_.set_aside(reason, line_number_); }
  std::optional<WallTime> time_of(std::string_view text);
  template <typename Line>
  static std::string_view time_text_of(const Line& line);
  std::uint16_t route_of(const NginxLine& line, Call& call);
  std::uint16_t route_of_target(std::string_view target, std::size_t readable_after);

  const Settings& settings_;
  RowSink& sink_;
  TimeText time_text_;
  RouteIds routes_;
  ShortNames short_backends_;
  NameCache backends_;
  std::array<char, 32> last_time_text_{};
  std::size_t last_time_size_ = 0;
  std::optional<WallTime> last_time_;
  std::array<Upstream, kUpstreamsMax> upstreams_;
  std::size_t upstream_count_ = 0;
  std::uint64_t line_number_ = 0;
};

}  // namespace overdue
