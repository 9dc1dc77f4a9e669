"""Dials a daemon as one user, in ways that a stranger on the same machine could.

argv: uid, what to do, port, and one JSON object with options. Prints one JSON value.
"""

import json
import os
import random
import select
import socket
import struct
import sys
import time

UID, ACT, PORT = int(sys.argv[1]), sys.argv[2], int(sys.argv[3])
OPTIONS = json.loads(sys.argv[4]) if len(sys.argv) > 4 else {}


def request(method="POST", path="/act"):
    body = b"{}" if method in ("POST", "PUT") else b""
    head = f"{method} {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
    return f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body


def open_socket(host="127.0.0.1"):
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    made = socket.socket(family, socket.SOCK_STREAM)
    made.settimeout(10)
    return made


def dial(host="127.0.0.1"):
    made = open_socket(host)
    made.connect((host, PORT))
    return made


def reset(made):
    made.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    made.close()


def hear(made):
    """All text until the other side is done, or one answer; a reset after the text does not take the text away."""
    heard = b""
    try:
        while chunk := made.recv(65536):
            heard += chunk
            if OPTIONS.get("one_answer") and heard.endswith(b"}"):
                break
    except OSError:
        pass
    return heard.decode("latin1")


def ask():
    """One answer to what is sent as `method`, or `count` times that at once."""
    made = dial(OPTIONS.get("host", "127.0.0.1"))
    try:
        made.sendall(request(OPTIONS.get("method", "POST")) * OPTIONS.get("count", 1))
        if OPTIONS.get("half_close"):
            made.shutdown(socket.SHUT_WR)
    except OSError:
        pass
    return hear(made)


def leave():
    """Sends a request and goes, by a close or by a reset, `count` times."""
    for _ in range(OPTIONS["count"]):
        made = dial(OPTIONS.get("host", "127.0.0.1"))
        made.sendall(request())
        reset(made) if OPTIONS["by"] == "reset" else made.close()
    return OPTIONS["count"]


def race():
    """Sends a request, waits as long as a look at the tables may take, resets; for `count` times or `seconds`."""
    least, most = OPTIONS["wait_ms"]
    until = time.monotonic() + OPTIONS["seconds"]
    tried = 0
    while tried < OPTIONS["count"] and time.monotonic() < until:
        made = dial()
        tried += 1
        try:
            made.sendall(request())
        except OSError:
            pass
        gone = time.perf_counter() + random.uniform(least, most) / 1000
        while time.perf_counter() < gone:
            pass
        reset(made)
    return tried


def burst():
    """Dials `count` times at once; how many heard 200, 403 or nothing."""
    poll = select.poll()
    waiting, heard = {}, {}
    for _ in range(OPTIONS["count"]):
        made = open_socket()
        made.setblocking(False)
        made.connect_ex(("127.0.0.1", PORT))
        waiting[made.fileno()] = made
        heard[made.fileno()] = b""
        poll.register(made, select.POLLOUT)
    counts = {"200": 0, "403": 0, "none": 0}
    until = time.monotonic() + 20
    while waiting and time.monotonic() < until:
        for number, events in poll.poll(1000):
            made = waiting[number]
            if events & select.POLLOUT:
                poll.modify(made, select.POLLIN)
                try:
                    made.send(request())
                except OSError:
                    pass
                continue
            try:
                chunk = made.recv(65536)
            except OSError:
                chunk = b""
            heard[number] += chunk
            whole = b'}' in heard[number]
            if chunk and not whole:
                continue
            status = heard[number][9:12].decode()
            counts[status if status in counts else "none"] += 1
            poll.unregister(made)
            made.close()
            del waiting[number]
    counts["none"] += len(waiting)
    return counts


os.setgroups([])
os.setgid(UID)
os.setuid(UID)
print(json.dumps({"ask": ask, "leave": leave, "race": race, "burst": burst}[ACT]()))
