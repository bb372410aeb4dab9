#pragma once

#include <string_view>

namespace overdue {

// Half of the calls lose their request, more or less.
inline constexpr std::string_view kCoin = R"(seed = 3
duration = "2s"
until = "5s"
[client.callers]
calls = "orders"
kind = "unkeyed_write"
rate = "50/s"
[dependency.orders.timeout]
request = "100ms"
[network.lan]
delay = "1ms"
request = { loss = "50%" }
[service.orders]
workers = 4
time = "5ms"
[[expect]]
name = "half"
field = "calls.answered_share"
is = "20%..80%"
)";

}  // namespace overdue
