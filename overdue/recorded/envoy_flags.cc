#include "overdue/recorded/envoy_flags.h"

#include <algorithm>

namespace overdue {
namespace {

struct Flag {
  std::string_view short_name;
  std::string_view long_name;
  Ending ending;
};
// In the order in which they decide where a line has several.
constexpr Flag kFlags[] = {
    {"UT", "UpstreamRequestTimeout", Ending::timed_out},
    {"SI", "StreamIdleTimeout", Ending::timed_out},
    {"UMSDR", "UpstreamMaxStreamDurationReached", Ending::timed_out},
    {"DT", "DurationTimeout", Ending::timed_out},
    {"UF", "UpstreamConnectionFailure", Ending::refused},
    {"UH", "NoHealthyUpstream", Ending::refused},
    {"DF", "DnsResolutionFailed", Ending::refused},
    {"UC", "UpstreamConnectionTermination", Ending::reset},
    {"UR", "UpstreamRemoteReset", Ending::reset},
    {"LR", "LocalReset", Ending::reset},
    {"UPE", "UpstreamProtocolError", Ending::reset},
    {"DC", "DownstreamConnectionTermination", Ending::abandoned},
    {"DR", "DownstreamRemoteReset", Ending::abandoned},
    {"UO", "UpstreamOverflow", Ending::rejected},
    {"RL", "RateLimited", Ending::rejected},
    {"RLSE", "RateLimitServiceError", Ending::rejected},
    {"OM", "OverloadManagerTerminated", Ending::rejected},
    {"DO", "DropOverLoad", Ending::rejected},
    {"LH", "FailedLocalHealthCheck", Ending::rejected},
    {"NR", "NoRouteFound", Ending::rejected},
    {"NC", "NoClusterFound", Ending::rejected},
    {"NFCF", "NoFilterConfigFound", Ending::rejected},
    {"FI", "FaultInjected", Ending::rejected},
};

bool holds(std::string_view flags, std::string_view name) {
  while (!flags.empty()) {
    const std::size_t comma = flags.find(',');
    if (flags.substr(0, comma) == name) return true;
    if (comma == std::string_view::npos) return false;
    flags.remove_prefix(comma + 1);
  }
  return false;
}

}  // namespace

bool has_flag_of_http(std::string_view flags) {
  static constexpr std::string_view kHttpOnly[] = {"UT", "SI", "UMSDR", "UC", "UR", "LR", "UPE",
                                                   "DC", "DR", "DPE",   "RL", "FI", "LH"};
  for (const std::string_view name : kHttpOnly) {
    if (holds(flags, name)) return true;
  }
  for (const Flag& flag : kFlags) {
    const bool http = std::ranges::find(kHttpOnly, flag.short_name) != std::end(kHttpOnly);
    if (http && holds(flags, flag.long_name)) return true;
  }
  return holds(flags, "DownstreamProtocolError");
}

EnvoyFlags judge_envoy_flags(std::string_view flags) {
  if (flags.empty() || flags == "-") return {};
  for (const Flag& flag : kFlags) {
    if (holds(flags, flag.short_name) || holds(flags, flag.long_name))
      return {.ending = flag.ending, .set_aside = {}};
  }
  if (holds(flags, "DPE") || holds(flags, "DownstreamProtocolError")) {
    return {.ending = {}, .set_aside = "the caller broke the protocol (DPE), no call"};
  }
  return {};
}

}  // namespace overdue
