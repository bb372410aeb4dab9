#!/usr/bin/env bash
# Records the example: a real nginx in front of four upstreams with a known truth, and callers that give up.
#   examples/record/record.sh [SECONDS [CALLS_PER_SECOND [FOLDER]]]
# Loopback only. Needs nginx and python3. Everything it starts ends with it, and by itself soon after SECONDS at the latest.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
seconds=${1:-600}
rate=${2:-360}
out=${3:-$(cd "$here/.." && pwd)}
if ! [[ $seconds =~ ^[0-9]+$ && $rate =~ ^[0-9]+$ ]] || ((seconds < 5 || seconds > 3600 || rate < 1 || rate > 1000)); then
  echo "usage: record.sh [SECONDS (5 to 3600) [CALLS_PER_SECOND (1 to 1000) [FOLDER]]]" >&2
  exit 2
fi
for command in nginx python3; do
  command -v "$command" >/dev/null || { echo "record.sh needs $command" >&2; exit 2; }
done

work=$(mktemp -d)
chmod 755 "$work"  # nginx's worker may run as another user.
started=()
finish() {
  trap - EXIT
  local pid
  for pid in "${started[@]}"; do kill "$pid" 2>/dev/null || true; done
  wait || true
  rm -rf "$work"
}
trap finish EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

proxy=127.0.1.10:8080
backends=(127.0.1.1:8080 127.0.1.2:8080 127.0.1.3:8080 127.0.1.4:8080)
slow_factors=(1 1 1 7)
restart_at=(0 $((seconds * 6 / 10)) 0 0)

cat >"$work/nginx.conf" <<CONF
worker_processes 1;
daemon off;
pid $work/nginx.pid;
error_log $work/error.log;
events { worker_connections 4096; }
http {
  log_format timed '\$remote_addr - \$remote_user [\$time_local] "\$request" \$status \$body_bytes_sent '
                   '"\$http_referer" "\$http_user_agent" msec=\$msec rt=\$request_time ua="\$upstream_addr" '
                   'us="\$upstream_status" uct="\$upstream_connect_time" urt="\$upstream_response_time"';
  access_log $work/orders.log timed buffer=64k flush=5s;
  client_body_temp_path $work/body;
  proxy_temp_path $work/proxy;
  fastcgi_temp_path $work/fastcgi;
  uwsgi_temp_path $work/uwsgi;
  scgi_temp_path $work/scgi;
  keepalive_requests 100000;
  upstream orders {
    # No passive ejection: after one failure it would take a server out for ten seconds.
$(for backend in "${backends[@]}"; do echo "    server $backend max_fails=0;"; done)
    keepalive 64;
    keepalive_requests 100000;
  }
  server {
    listen $proxy backlog=1024;
    location / {
      proxy_pass http://orders;
      proxy_http_version 1.1;
      proxy_set_header Connection "";
      proxy_connect_timeout 1s;
      proxy_read_timeout 10s;
      proxy_next_upstream error;  # Refused and reset connections only; a POST that was sent is not sent again.
    }
  }
}
CONF

stop_after=$((seconds + 60))
ledgers=()
pings=()
upstreams=()
for index in "${!backends[@]}"; do
  backend=${backends[$index]}
  python3 "$here/upstream.py" --host "${backend%:*}" --port "${backend#*:}" --slow-factor "${slow_factors[$index]}" \
    --seed $((20261129 + index)) --restart-at "${restart_at[$index]}" --seconds-max "$stop_after" \
    --ledger "$work/upstream-$index.json" &
  started+=($!)
  upstreams+=($!)
  ledgers+=(--upstream "$work/upstream-$index.json")
  pings+=(--ping "$backend")
done
# nginx has no limit of its own, so timeout(1) gives it one; in the foreground group, so that Ctrl-C reaches it.
timeout --foreground "$stop_after" nginx -p "$work" -c "$work/nginx.conf" -e "$work/error.log" &
started+=($!)
nginx_timeout=$!
python3 - "${proxy%:*}" "${proxy#*:}" "${backends[@]}" <<'PYTHON'
import socket, sys, time
places = [(sys.argv[1], int(sys.argv[2]))] + [(b.split(":")[0], int(b.split(":")[1])) for b in sys.argv[3:]]
until = time.monotonic() + 10
for place in places:
    while True:
        try:
            socket.create_connection(place, 1).close()
            break
        except OSError:
            if time.monotonic() > until:
                sys.exit(f"nothing listens on {place}")
            time.sleep(0.05)
PYTHON

echo "recording $rate calls a second for $seconds s" >&2
python3 "$here/client.py" --host "${proxy%:*}" --port "${proxy#*:}" --rate "$rate" --seconds "$seconds" --seed 20261129 \
  "${pings[@]}" --ledger "$work/callers.json" &
started+=($!)
wait $!

kill -QUIT "$(cat "$work/nginx.pid")"  # Gracefully: writes out the buffered log.
wait "$nginx_timeout" || true
kill "${upstreams[@]}"
wait "${upstreams[@]}" || true

mkdir -p "$out"
python3 "$here/summarise.py" --callers "$work/callers.json" "${ledgers[@]}" --out "$out/orders.ledger.json"
gzip -9 -n -c "$work/orders.log" >"$out/orders.log.gz"
wc -l <"$work/orders.log" | sed 's/$/ lines/' >&2
ls -l "$out/orders.log.gz" "$out/orders.ledger.json" >&2
