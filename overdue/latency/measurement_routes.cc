#include <algorithm>
#include <utility>

#include "overdue/latency/measurement.h"

namespace overdue {

void Measurement::order_routes_by_name() {
  std::vector<std::uint16_t> order;
  for (std::uint16_t id = 1; id < routes_.size(); ++id) order.push_back(id);
  std::ranges::sort(order, {}, [&](std::uint16_t id) -> const std::string& { return routes_.name_of(id); });
  NameTable routes;
  std::vector<LatencyHistogram> replies;
  std::vector<BucketCounts> give_ups;
  if (!replies_by_route_.empty()) {
    replies.push_back(std::move(replies_by_route_[0]));
    give_ups.push_back(std::move(give_ups_by_route_[0]));
  }
  for (const std::uint16_t id : order) {
    routes.id_of(routes_.name_of(id));
    replies.push_back(std::move(replies_by_route_[id]));
    give_ups.push_back(std::move(give_ups_by_route_[id]));
  }
  routes_ = std::move(routes);
  replies_by_route_ = std::move(replies);
  give_ups_by_route_ = std::move(give_ups);
  route_ids_ = {};  // They led to the ids before.
}

}  // namespace overdue
