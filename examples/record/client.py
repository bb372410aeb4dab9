"""Open-loop callers: calls start at random moments at a given rate, whether or not earlier ones have ended.

Most callers give up after --give-up seconds and close their connection; the rest (--patient-share) wait for whatever
the proxy says. Beside them a health check asks every upstream for /ping once a second, past the proxy. Python 3.11,
nothing else.
"""
import argparse
import asyncio
import json
import random
import time

IN_FLIGHT_MAX = 2000
IDLE_MAX = 64


class Callers:
    def __init__(self, options):
        self.options = options
        self.random = random.Random(options.seed)
        self.idle = []
        self.calls = 0
        self.not_started = 0
        self.endings = {"replied": 0, "error_status": 0, "gave_up": 0, "connection_broke": 0}
        self.pings = {}

    async def exchange(self, request, connection):
        reader, writer = connection
        writer.write(request)
        head = await reader.readuntil(b"\r\n\r\n")
        status, *fields = head.decode("latin-1").split("\r\n")
        length = 0
        keep = True
        for field in fields:
            name, _, value = field.partition(":")
            if name.lower() == "content-length":
                length = int(value)
            elif name.lower() == "connection" and value.strip() == "close":
                keep = False
        await reader.readexactly(length)
        if keep and len(self.idle) < IDLE_MAX:
            self.idle.append(connection)
        else:
            writer.close()
        return int(status.split(" ")[1])

    async def call(self, request, limit):
        connection = None
        try:
            while self.idle and connection is None:
                connection = self.idle.pop()
                if connection[0].at_eof() or connection[1].is_closing():
                    connection = None
            if connection is None:
                connection = await asyncio.open_connection(self.options.host, self.options.port)
            status = await asyncio.wait_for(self.exchange(request, connection), limit)
            self.endings["replied" if status < 400 else "error_status"] += 1
        except asyncio.TimeoutError:
            connection[1].close()
            self.endings["gave_up"] += 1
        except (asyncio.IncompleteReadError, OSError):
            if connection is not None:
                connection[1].close()
            self.endings["connection_broke"] += 1

    def next_request(self):
        draw = self.random
        order = draw.randrange(1000, 10000)
        patient = draw.random() < self.options.patient_share
        agent = "ledger-batch/1.4" if patient else "shop-web/3.2"
        if draw.random() < 0.4:
            body = b'{"item":%d}' % order
            head = f"POST /orders HTTP/1.1\r\nHost: orders\r\nUser-Agent: {agent}\r\nContent-Length: {len(body)}\r\n\r\n"
        else:
            body = b""
            head = f"GET /orders/{order} HTTP/1.1\r\nHost: orders\r\nUser-Agent: {agent}\r\n\r\n"
        return head.encode() + body, self.options.patient_limit if patient else self.options.give_up

    async def ping(self, backend):
        """What a shallow health check sees of one upstream."""
        host, port = backend.split(":")
        seen = self.pings[backend] = {"sent": 0, "passed": 0, "slowest_ms": 0.0}
        while True:
            started = time.monotonic()
            seen["sent"] += 1
            writer = None
            try:
                reader, writer = await asyncio.open_connection(host, int(port))
                writer.write(b"GET /ping HTTP/1.1\r\nHost: health\r\n\r\n")
                await asyncio.wait_for(reader.readuntil(b"pong\n"), 1.0)
                seen["passed"] += 1
                seen["slowest_ms"] = max(seen["slowest_ms"], (time.monotonic() - started) * 1e3)
            except (asyncio.TimeoutError, asyncio.IncompleteReadError, OSError):
                pass
            if writer is not None:
                writer.close()
            await asyncio.sleep(1.0)

    async def run(self):
        health = [asyncio.create_task(self.ping(backend)) for backend in self.options.ping]
        under_way = set()
        started = time.monotonic()
        due = started
        while True:
            due += self.random.expovariate(self.options.rate)
            if due > started + self.options.seconds:
                break
            wait = due - time.monotonic()
            if wait > 0:
                await asyncio.sleep(wait)
            request, limit = self.next_request()
            if len(under_way) >= IN_FLIGHT_MAX:
                self.not_started += 1
                continue
            self.calls += 1
            task = asyncio.create_task(self.call(request, limit))
            under_way.add(task)
            task.add_done_callback(under_way.discard)
        if under_way:
            await asyncio.wait(under_way, timeout=self.options.patient_limit + 5)
        for task in health:
            task.cancel()
        with open(self.options.ledger, "w", encoding="utf-8") as ledger:
            json.dump({"calls": self.calls, "not_started": self.not_started, "seconds": self.options.seconds,
                       "endings": self.endings, "pings": self.pings}, ledger)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--host", required=True)
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--rate", type=float, required=True, help="calls a second")
    parser.add_argument("--seconds", type=float, required=True)
    parser.add_argument("--give-up", type=float, default=1.0, help="seconds")
    parser.add_argument("--patient-share", type=float, default=0.2)
    parser.add_argument("--patient-limit", type=float, default=30.0, help="seconds")
    parser.add_argument("--ping", action="append", default=[], help="HOST:PORT of an upstream; may be repeated")
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--ledger", required=True)
    asyncio.run(Callers(parser.parse_args()).run())


if __name__ == "__main__":
    main()
