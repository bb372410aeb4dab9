#include "overdue/recorded/ndjson_origin.h"

#include <algorithm>

namespace overdue {

NdjsonOrigin known_origin(const std::vector<std::string>& names, ReadOptions& options) {
  const auto has = [&](std::string_view name) { return std::ranges::find(names, name) != names.end(); };
  const bool mapped = options.columns.contains("latency");
  const auto give = [&](const std::string& field, const std::string& name) {
    if (has(name)) options.columns.try_emplace(field, name);
  };
  if (has("DownstreamStatus") && (has("OriginDuration") || has("Duration"))) {
    const bool attempts = options.level == Level::attempts && has("OriginDuration");
    give("latency", attempts ? "OriginDuration" : "Duration");
    give("status", "DownstreamStatus");
    give("start", "StartUTC");
    give("backend", "ServiceAddr");
    give("route", "RequestPath");
    give("method", "RequestMethod");
    if (mapped) return {"Traefik", Vantage::proxy, std::nullopt, false};
    return {attempts ? "Traefik, upstream times" : "Traefik, request times", Vantage::proxy,
            TimeUnit::nanoseconds, attempts};
  }
  if (has("duration") && has("ts") && has("logger") && has("request.uri")) {
    give("latency", "duration");
    give("status", "status");
    give("start", "ts");
    give("route", "request.uri");
    give("method", "request.method");
    // It writes a line when the request is done.
    NdjsonOrigin caddy = {
        .name = "Caddy", .vantage = Vantage::proxy, .start_is_end = options.columns["start"] == "ts"};
    if (!mapped) caddy.unit = TimeUnit::seconds;
    return caddy;
  }
  // k6 run --out json: a line is a point of one of many metrics.
  if (has("metric") && has("type") && has("data.value") && has("data.tags.status") && !mapped) {
    give("latency", "data.value");
    give("status", "data.tags.status");
    give("start", "data.time");
    give("route", has("data.tags.name") ? "data.tags.name" : "data.tags.url");
    give("method", "data.tags.method");
    // Tags of the kind "error" repeat what the status says.
    for (const char* none : {"ok", "ending", "connect", "backend"}) options.columns.try_emplace(none, "");
    return {.name = "k6",
            .vantage = Vantage::caller,
            .unit = TimeUnit::milliseconds,
            .start_is_end = true,
            .calls_have = {{"type", "Point"}, {"metric", "http_req_duration"}}};
  }
  return {};
}

}  // namespace overdue
