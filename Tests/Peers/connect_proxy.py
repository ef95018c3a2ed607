"""An HTTP proxy that knows CONNECT alone: the peer of the APNs client's proxy tests.

usage: connect_proxy.py PORT MODE

MODE is open, password (it wants `Basic dXNlcjpwYXNz`), refuse, slow (its answer comes byte by byte) or mute (it closes).
Prints one JSON object a line: {"event": "connect", "target": "localhost:443"}.
"""
import json
import socket
import sys
import threading


def say(**facts):
    print(json.dumps(facts), flush=True)


def copy(source, target):
    try:
        while data := source.recv(65536):
            target.sendall(data)
    except OSError:
        pass
    for end in (source, target):
        try:
            end.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass


def serve(client, mode):
    head = b""
    while b"\r\n\r\n" not in head:
        data = client.recv(4096)
        if not data:
            return  # the test's look whether the port is open
        head += data
    lines = head.decode().split("\r\n")
    method, target, _ = lines[0].split(" ")
    fields = dict(line.split(": ", 1) for line in lines[1:] if line)
    say(event="connect", connection=0, text=f"{method} {target} {fields['Host']}")
    if mode == "mute":
        client.close()
        return
    if mode == "refuse":
        client.sendall(b"HTTP/1.1 403 Forbidden by policy\r\nContent-Length: 4\r\n\r\nno!\n")
        client.close()
        return
    if mode == "password" and fields.get("Proxy-Authorization") != "Basic dXNlcjpwYXNz":
        client.sendall(b"HTTP/1.1 407 Proxy Authentication Required\r\nProxy-Authenticate: Basic\r\n\r\n")
        client.close()
        return
    host, port = target.rsplit(":", 1)
    server = socket.create_connection((host, int(port)))
    answer = b"HTTP/1.1 200 Connection established\r\nVia: a test\r\n\r\n"
    client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    for part in [answer] if mode != "slow" else [answer[i : i + 1] for i in range(len(answer))]:
        client.sendall(part)
    threading.Thread(target=copy, args=(client, server), daemon=True).start()
    copy(server, client)


def main():
    port, mode = sys.argv[1:3]
    listener = socket.create_server(("127.0.0.1", int(port)), backlog=64)
    while True:
        client, _ = listener.accept()
        threading.Thread(target=serve, args=(client, mode), daemon=True).start()


main()
