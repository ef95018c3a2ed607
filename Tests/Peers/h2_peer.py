"""An HTTP/2 server on python-h2 that misbehaves as told: the peer of the APNs client's tests.

usage: h2_peer.py PORT CERTIFICATE KEY SCENARIO

Prints one JSON object a line for what it sees: {"event": "request", "connection": 1, "stream": 1, "path": "..."} and so on.
"""
import json
import os
import socket
import ssl
import sys
import threading
import time

import h2.config
import h2.connection
import h2.events
import h2.settings
import hyperframe.frame as frames

REFUSED_STREAM = 7
INTERNAL_ERROR = 2
lock = threading.Lock()


def say(**facts):
    with lock:
        print(json.dumps(facts), flush=True)


class Peer:
    draining = None

    def __init__(self, number, sock, scenario):
        self.number = number
        self.sock = sock
        self.scenario = scenario
        self.h2 = h2.connection.H2Connection(config=h2.config.H2Configuration(client_side=False, header_encoding="utf-8"))
        self.seen = 0
        self.open = set()
        self.held = []
        self.allowed = {"lower": 25, "hold": 1000}.get(scenario, 100)
        self.streams_before_settings = 0
        self.settings_due = None
        self.waiting = []
        self.may_answer = False

    def run(self):
        self.h2.initiate_connection()
        if self.scenario == "hold":
            self.h2.update_settings({h2.settings.SettingCodes.MAX_CONCURRENT_STREAMS: 1000})
        if self.scenario == "lower":
            self.h2.update_settings({h2.settings.SettingCodes.MAX_CONCURRENT_STREAMS: 25})
        if self.scenario == "late-settings":
            self.settings_due = time.monotonic() + 0.4
        self.flush()
        while True:
            self.sock.settimeout(0.005)
            try:
                data = self.sock.recv(65536)
            except TimeoutError:
                self.turn()
                continue
            except OSError:
                break
            if not data:
                break
            for event in self.h2.receive_data(data):
                self.handle(event)
            self.turn()
        say(event="closed", connection=self.number)

    def turn(self):
        if self.settings_due and time.monotonic() >= self.settings_due:
            self.settings_due = None
            say(event="settings", connection=self.number, before=self.streams_before_settings)
        if self.may_answer:
            for held in self.waiting:
                self.answer(held)
            self.waiting = []
        if self.held and self.seen >= 20:
            self.answer(self.held.pop(0))
        self.flush()

    def flush(self):
        if self.settings_due:
            return
        data = self.h2.data_to_send()
        if data:
            self.sock.sendall(data)

    def raw(self, data):
        self.flush()
        self.sock.sendall(data)

    def handle(self, event):
        if isinstance(event, h2.events.RequestReceived):
            self.open.add(event.stream_id)
            if self.settings_due:
                self.streams_before_settings += 1
            headers = dict(event.headers)
            never = [name for header in event.headers for name in [header[0]] if not getattr(header, "indexable", True)]
            say(
                event="request", connection=self.number, stream=event.stream_id, path=headers[":path"], never=never,
                open=len(self.open), authorization=headers.get("authorization"))
            if len(self.open) > self.allowed:
                say(event="violation", connection=self.number, open=len(self.open), allowed=self.allowed)
        elif isinstance(event, h2.events.StreamEnded):
            self.seen += 1
            self.decide(event.stream_id)
        elif isinstance(event, h2.events.StreamReset):
            self.open.discard(event.stream_id)
            say(event="reset", connection=self.number, stream=event.stream_id, code=int(event.error_code))
        elif isinstance(event, h2.events.SettingsAcknowledged) and self.scenario == "lower" and self.seen >= 20:
            self.allowed = 2
            say(event="lowered", connection=self.number, open=len(self.open))
        elif isinstance(event, h2.events.DataReceived):
            self.h2.acknowledge_received_data(event.flow_controlled_length, event.stream_id)

    def decide(self, stream):
        first = self.number == 1
        if self.scenario == "goaway" and first:
            if self.seen <= 4:
                self.answer(stream)
            elif self.seen == 9:
                # Streams 1 to 7 were answered; of the five in flight the first two count as taken.
                goaway = frames.GoAwayFrame(0, last_stream_id=11, error_code=0, additional_data=b'{"reason":"Shutdown"}')
                self.raw(goaway.serialize())
                say(event="goaway", connection=self.number)
                self.answer(9)
                self.answer(11)
        elif self.scenario == "drain" and first:
            # A notice without a last id: what is open is answered once a second connection is in use.
            if self.seen == 1:
                self.answer(stream)
            else:
                self.waiting.append(stream)
                if self.seen == 3:
                    self.raw(frames.GoAwayFrame(0, last_stream_id=2**31 - 1, error_code=0).serialize())
                    Peer.draining = self
        elif self.scenario == "drain" and Peer.draining:
            self.answer(stream)
            Peer.draining.may_answer = True
        elif self.scenario == "hold":
            # Answers once ten are waiting, the oldest first: slow answers, of which more are asked for than are allowed.
            self.waiting.append(stream)
            if self.seen == 1 or len(self.waiting) >= 10:
                for held in self.waiting:
                    self.answer(held)
                self.waiting = []
        elif self.scenario == "refuse" and first and 2 <= self.seen <= 11:
            self.h2.reset_stream(stream, error_code=REFUSED_STREAM)
            self.open.discard(stream)
        elif self.scenario == "reset" and self.seen == 2:
            self.h2.reset_stream(stream, error_code=INTERNAL_ERROR)
            self.open.discard(stream)
        elif self.scenario == "silent" and self.seen >= 2:
            pass
        elif self.scenario == "close-mid" and first and self.seen == 2:
            self.h2.send_headers(stream, [(":status", "200"), ("apns-id", "x")])
            self.flush()
            self.sock.close()
        elif self.scenario == "bomb" and self.seen == 2:
            # A dynamic entry of 3,900 bytes, then 12,000 references of one byte each: 46 MB of header fields.
            block = b"\x88" + b"\x40\x01x" + b"\x7f" + bytes([(3900 - 127) % 128 | 128, (3900 - 127) // 128])
            block += b"v" * 3900 + b"\xbe" * 12000
            frame = frames.HeadersFrame(stream, data=block, flags=["END_HEADERS", "END_STREAM"])
            self.raw(frame.serialize())
            self.open.discard(stream)
        elif self.scenario == "lower" and self.seen > 1:
            self.held.append(stream)
            if self.seen == 20:
                self.h2.update_settings({h2.settings.SettingCodes.MAX_CONCURRENT_STREAMS: 2})
        else:
            self.answer(stream)

    def answer(self, stream):
        if stream not in self.open:
            return
        self.open.discard(stream)
        self.h2.send_headers(stream, [(":status", "200")], end_stream=True)


def main():
    port, certificate, key, scenario = sys.argv[1:5]
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    if scenario == "mtls":
        context.load_verify_locations(os.path.dirname(certificate) + "/ca.pem")
        context.verify_mode = ssl.CERT_REQUIRED
    if scenario != "no-alpn":
        context.set_alpn_protocols(["h2"])
    listener = socket.create_server(("127.0.0.1", int(port)), backlog=64)
    number = 0

    def serve(sock):
        nonlocal number
        if scenario == "mute":
            # Accepts and says nothing; the test's look whether the port is open sends nothing either.
            if sock.recv(1):
                say(event="accepted", connection=0)
                time.sleep(60)
            return
        try:
            tls = context.wrap_socket(sock, server_side=True)
        except OSError:
            return  # the test's look whether the port is open
        with lock:
            number += 1
            mine = number
        if scenario == "mtls":
            subject = dict(field for fields in tls.getpeercert()["subject"] for field in fields)
            say(event="client", connection=mine, text=subject["commonName"])
        try:
            Peer(mine, tls, scenario).run()
        except Exception as error:
            say(event="error", connection=mine, text=repr(error))

    while True:
        sock, _ = listener.accept()
        threading.Thread(target=serve, args=(sock,), daemon=True).start()


main()
