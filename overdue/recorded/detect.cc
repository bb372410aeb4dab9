#include "overdue/recorded/detect.h"

#include <fmt/format.h>

#include <utility>

namespace overdue {
namespace {

struct FormatFunctions {
  Format format;
  bool (*looks_like)(std::string_view head);
  Result<OpenedFormat> (*open)(std::string_view head, const std::string& path, const ReadOptions& options);
};
// The more certain first.
constexpr FormatFunctions kFormats[] = {{Format::hlog, looks_like_hlog, open_hlog},
                                        {Format::envoy, looks_like_envoy, open_envoy},
                                        {Format::nginx, looks_like_nginx, open_nginx},
                                        {Format::ndjson, looks_like_ndjson, open_ndjson},
                                        {Format::csv, looks_like_csv, open_csv}};

bool has(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

std::string_view first_line(std::string_view head) {
  const std::size_t at = head.find_first_not_of(" \t\r\n");
  if (at == std::string_view::npos) return {};
  head.remove_prefix(at);
  return head.substr(0, head.find('\n'));
}

std::string_view known_json(std::string_view head) {
  if (has(head, "\"resourceMetrics\"")) return "OpenTelemetry metrics in JSON";
  if (has(head, "\"resourceSpans\"")) return "a trace of OpenTelemetry or Jaeger in JSON";
  if (has(head, "\"spans\"") && has(head, "\"processes\"")) return "a Jaeger trace";
  if (has(head, "\"traceId\"") && has(head, "\"duration\"")) return "a Zipkin trace";
  if (has(head, "\"runner_results\"") || (has(head, "\"RunType\"") && has(head, "\"DurationHistogram\""))) {
    return "a Fortio result";
  }
  if (has(head, "\"latencyDistribution\"") && has(head, "\"fastest\"")) return "a ghz report";
  if (has(head, "\"latencies\"") && has(head, "\"50th\"")) return "a Vegeta report: percentiles, not calls";
  const bool k6_points = has(head, "\"metric\"") && has(head, "\"Point\"");
  if (!k6_points && (has(head, "summaryTrendStats") || has(head, "http_req_duration"))) {
    return "a k6 summary: percentiles, not calls; k6 run --out json=FILE or csv=FILE writes the calls";
  }
  if (has(head, "\"__name__\"")) return "an answer of the Prometheus API";
  if (has(head, "methodConfig")) return "a gRPC service config, which is no log";
  return {};
}

}  // namespace

std::string known_but_not_read(std::string_view head) {
  const std::string_view line = first_line(head);
  const auto begins = [&](std::string_view text) { return line.starts_with(text); };
  if (begins("<?xml") || begins("<testResults")) {
    return has(head, "<httpSample") || has(head, "<sample") || has(head, "testResults")
               ? "a JMeter result in XML: let JMeter write CSV (jmeter.save.saveservice.output_format=csv)"
               : "XML";
  }
  if (begins("<!DOCTYPE html") || begins("<html")) return "a web page";
  if (begins("# HELP ") || begins("# TYPE ")) return "metrics in Prometheus' text format";
  if (has(line, "haproxy[") || has(line, "\"program\":\"haproxy\"")) return "an HAProxy log";
  if ((begins("http ") || begins("https ") || begins("h2 ") || begins("wss ") || begins("ws ") ||
       begins("grpcs ")) &&
      has(line, "Z ") && has(line, " \"")) {
    return "an access log of an AWS load balancer";
  }
  if (has(line, "Running ") && has(line, " test @ ")) return "wrk's report: percentiles, not calls";
  if (has(line, "vegeta report") || (begins("Bucket") && has(line, "Histogram"))) return "a Vegeta report";
  if (begins("PING ")) return "the output of ping";
  if (begins("RUN\t")) return "a Gatling simulation log";
  if (begins("Value") && has(line, "Percentile") && has(line, "TotalCount")) {
    return "an HdrHistogram percentile table (.hgrm); the interval log (.hlog) of the same run can be read";
  }
  if (begins("{") || begins("[")) {
    const std::string_view json = known_json(head);
    if (!json.empty()) return std::string(json);
    if (line == "{" || line == "[" || begins("[{")) {
      return "one JSON document, where one object a line is needed (jq -c '.[]' FILE makes lines of a list)";
    }
  }
  if (begins("apiVersion:") || begins("---")) return "YAML, which is no log";
  return {};
}

Result<OpenedFormat> open_format(std::string_view head, const std::string& path, const ReadOptions& options) {
  if (options.format) {
    for (const FormatFunctions& known : kFormats) {
      if (known.format == *options.format) return known.open(head, path, options);
    }
  }
  if (options.log_format) return open_nginx(head, path, options);
  if (const std::string known = known_but_not_read(head); !known.empty()) {
    return fail(
        ErrorCode::unreadable_input,
        fmt::format("{}: looks like {}. That is not read; formats are csv, ndjson, nginx, envoy, hlog", path,
                    known));
  }
  for (const FormatFunctions& known : kFormats) {
    if (known.looks_like(head)) return known.open(head, path, options);
  }
  return fail(
      ErrorCode::unreadable_input,
      fmt::format(
          "{}: its format is not known. It begins \"{}\". Formats are csv, ndjson, nginx, envoy, hlog; name "
          "one with --format, or describe an nginx log with --log-format",
          path, first_line(head).substr(0, 100)));
}

}  // namespace overdue
