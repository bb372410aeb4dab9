#pragma once

#include <string_view>

namespace overdue {

// The directive that makes nginx log what this program reads: the end of every message about an nginx log
// that has no times.
inline constexpr std::string_view kNginxTimedLogFormat =
    "log_format timed '$remote_addr - $remote_user [$time_local] \"$request\" $status $body_bytes_sent "
    "\"$http_referer\" \"$http_user_agent\" rt=$request_time ua=\"$upstream_addr\" us=\"$upstream_status\" "
    "urt=\"$upstream_response_time\" uct=\"$upstream_connect_time\" uht=\"$upstream_header_time\" ms=$msec';";

}  // namespace overdue
