#include <simdjson.h>

#include <algorithm>

#include "overdue/recorded/envoy.h"

namespace overdue {
namespace {

struct KnownKey {
  std::string_view key;
  EnvoyLine::Field field;
};
// A later key of the same field does not replace a value: the original path stands before the rewritten one.
constexpr KnownKey kKeys[] = {
    {"start_time", EnvoyLine::start_time},
    {"method", EnvoyLine::method},
    {":method", EnvoyLine::method},
    {"x-envoy-origin-path", EnvoyLine::path},
    {"x-envoy-original-path", EnvoyLine::path},
    {"path", EnvoyLine::path},
    {":path", EnvoyLine::path},
    {"response_code", EnvoyLine::response_code},
    {"response_flags", EnvoyLine::response_flags},
    {"duration", EnvoyLine::duration},
    {"x-envoy-upstream-service-time", EnvoyLine::service_time},
    {"upstream_service_time", EnvoyLine::service_time},
    {"upstream_host", EnvoyLine::upstream_host},
    {"authority", EnvoyLine::authority},
    {":authority", EnvoyLine::authority},
    {"upstream_cluster", EnvoyLine::upstream_cluster},
    {"route_name", EnvoyLine::route_name},
    {"response_code_details", EnvoyLine::response_code_details},
};

// A scalar as it stands, without its quotes; nothing for null.
std::string_view scalar(std::string_view token) {
  while (!token.empty() && (token.back() == ' ' || token.back() == '\t' || token.back() == '\r')) {
    token.remove_suffix(1);
  }
  if (token.size() >= 2 && token.front() == '"' && token.back() == '"')
    return token.substr(1, token.size() - 2);
  return token == "null" ? std::string_view{} : token;
}

}  // namespace

struct EnvoyJson::Parser {
  simdjson::ondemand::parser parser;
  std::vector<std::string> asked;
};

EnvoyJson::EnvoyJson(const std::vector<std::string>& asked) : parser_(std::make_unique<Parser>()) {
  parser_->asked = asked;
}
EnvoyJson::~EnvoyJson() = default;

bool EnvoyJson::split(std::string_view line, EnvoyLine& out) {
  out = EnvoyLine{};
  simdjson::ondemand::document document;
  const simdjson::padded_string_view padded(line.data(), line.size(),
                                            line.size() + simdjson::SIMDJSON_PADDING);
  if (parser_->parser.iterate(padded).get(document) != simdjson::SUCCESS) return false;
  simdjson::ondemand::object object;
  if (document.get_object().get(object) != simdjson::SUCCESS) return false;
  for (auto field : object) {
    if (field.error() != simdjson::SUCCESS) return false;
    std::string_view key;
    if (field.unescaped_key().get(key) != simdjson::SUCCESS) return false;
    simdjson::ondemand::value value;
    if (field.value().get(value) != simdjson::SUCCESS) return false;
    const std::string_view text = scalar(value.raw_json_token());
    for (const KnownKey& known : kKeys) {
      if (known.key != key) continue;
      out.names_method = out.names_method || known.field == EnvoyLine::method;
      if (out.values[known.field].empty()) out.values[known.field] = text;
    }
    const std::size_t asked_count = std::min(parser_->asked.size(), EnvoyLine::kAskedMax);
    for (std::size_t i = 0; i < asked_count; ++i) {
      if (parser_->asked[i] == key) out.values[EnvoyLine::known_fields + i] = text;
    }
  }
  return true;
}

}  // namespace overdue
