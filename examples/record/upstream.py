"""One upstream server with a known truth, and the ledger of what it really did.

It answers GET /ping at once. Every other request is one of a world with known distributions (see README.md): how long
it will take, whether the work is done and whether a reply is ever sent is drawn when it arrives, then carried out
whatever its caller does meanwhile: a server does not know that its caller has left. Python 3.11, nothing else.
"""
import argparse
import asyncio
import json
import random
import signal
import socket
import struct
import time

NEVER_DONE_SHARE = 0.002  # The request vanishes: no work, no reply.
NEVER_REPLIED_SHARE = 0.002  # The work is done, the reply vanishes.
SLOW_PATH_SHARE = 0.02
RESET_SHARE = 0.0002  # The connection is reset before the work.
REQUEST_BYTES_MAX = 16 * 1024


class Upstream:
    def __init__(self, options):
        self.options = options
        self.random = random.Random(options.seed)
        self.started = time.monotonic()
        self.connections = set()
        self.pings = 0
        self.rows = []  # (arrived, kind, effect, planned ms, ms until the reply was ready, caller still there)
        self.tasks = set()

    def draw(self):
        """The kind of the request, then its way there, service and way back, in seconds."""
        draw = self.random
        share = draw.random()
        way_there = draw.lognormvariate(0.0, 0.4) / 1e3
        way_back = draw.lognormvariate(0.0, 0.4) / 1e3
        slow_path = draw.random() < SLOW_PATH_SHARE
        service = draw.uniform(40.0, 400.0) if slow_path else draw.lognormvariate(2.0, 0.5)
        service *= self.options.slow_factor / 1e3
        if share < NEVER_DONE_SHARE:
            kind = "never_done"
        elif share < NEVER_DONE_SHARE + NEVER_REPLIED_SHARE:
            kind = "done_never_replied"
        elif share < NEVER_DONE_SHARE + NEVER_REPLIED_SHARE + RESET_SHARE:
            kind = "reset"
        else:
            kind = "replied"
        return kind, way_there, service, way_back

    async def connected(self, reader, writer):
        self.connections.add(writer)
        try:
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                arrived = time.monotonic()
                request, *fields = head.decode("latin-1").split("\r\n")
                length = 0
                for field in fields:
                    name, _, value = field.partition(":")
                    if name.lower() == "content-length":
                        length = int(value)
                if length > REQUEST_BYTES_MAX:
                    return
                await reader.readexactly(length)
                if request.split(" ")[1] == "/ping":
                    self.pings += 1
                    reply(writer, b"pong\n")
                    continue
                # A task of its own: the work goes on when this connection is closed.
                task = asyncio.create_task(self.serve(arrived, reader, writer))
                self.tasks.add(task)
                task.add_done_callback(self.tasks.discard)
                await task
        except (asyncio.IncompleteReadError, asyncio.LimitOverrunError, ConnectionError, asyncio.CancelledError):
            pass  # The other side closed, or the recording ends.
        finally:
            self.connections.discard(writer)
            writer.close()

    async def serve(self, arrived, reader, writer):
        kind, way_there, service, way_back = self.draw()
        planned = way_there + service + way_back
        effect = kind in ("replied", "done_never_replied")
        ready = None
        listening = False
        if kind == "reset":
            await sleep_until(arrived + way_there)
            abort(writer)
        elif kind == "replied":
            await sleep_until(arrived + planned)
            listening = not gone(reader, writer)
            if listening:
                reply(writer, b'{"order":"accepted"}\n')
            ready = time.monotonic() - arrived
        else:
            await sleep_until(arrived + planned)
        self.rows.append((arrived - self.started, kind, effect, planned * 1e3, None if ready is None else ready * 1e3, listening))
        if kind in ("never_done", "done_never_replied"):
            # Says nothing until the other side closes or the recording ends.
            while not gone(reader, writer):
                await asyncio.sleep(0.05)

    async def restart(self, server):
        """Once, for a moment: connections are reset and new ones refused."""
        await sleep_until(self.started + self.options.restart_at)
        server.close()
        for writer in list(self.connections):
            abort(writer)
        await asyncio.sleep(self.options.restart_seconds)
        return await self.listen()

    async def listen(self):
        return await asyncio.start_server(self.connected, self.options.host, self.options.port, backlog=1024)

    async def run(self):
        stop = asyncio.Event()
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, stop.set)
        server = await self.listen()
        restarting = asyncio.create_task(self.restart(server)) if self.options.restart_at > 0 else None
        try:
            await asyncio.wait_for(stop.wait(), self.options.seconds_max)
        except asyncio.TimeoutError:
            pass
        if restarting is not None:
            restarting.cancel()
        with open(self.options.ledger, "w", encoding="utf-8") as ledger:
            json.dump({"backend": f"{self.options.host}:{self.options.port}", "slow_factor": self.options.slow_factor,
                       "seed": self.options.seed, "pings": self.pings, "rows": self.rows}, ledger)


async def sleep_until(when):
    delay = when - time.monotonic()
    if delay > 0:
        await asyncio.sleep(delay)


def reply(writer, body):
    writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body))


def gone(reader, writer):
    return reader.at_eof() or writer.is_closing()


def abort(writer):
    """Resets: closing with a linger of zero sends RST instead of FIN."""
    connection = writer.get_extra_info("socket")
    if connection is not None and not writer.is_closing():
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    writer.transport.abort()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--host", required=True)
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--slow-factor", type=float, default=1.0)
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--restart-at", type=float, default=0.0, help="seconds after the start; 0: never")
    parser.add_argument("--restart-seconds", type=float, default=0.3)
    parser.add_argument("--seconds-max", type=float, required=True, help="ends by itself after this long")
    parser.add_argument("--ledger", required=True)
    asyncio.run(Upstream(parser.parse_args()).run())


if __name__ == "__main__":
    main()
