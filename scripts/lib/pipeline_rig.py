"""The processes of a pipeline under test: Kafka's nodes, the world outside (hush demo --without-workers), and workers."""
import json
import os
import pathlib
import random
import re
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.request

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
KAFKA = ROOT / "scripts" / "kafka"
FETCH_BYTES = 256 << 20
# What Kafka's own tools may take on a busy machine.
TOOL_SECONDS = 600
# In the modes that kill brokers: the starts of one that a run waits for, one a kill; in the other also for the tools, which
# take as long as a broker.
BROKER_STARTS = {"kill": 2, "coordinator": 4}


# Pushes in flight at which a worker counts as sending: its word for it is up to 100 ms old.
SENDING_MIN = 20


# A line of dump-log about a transaction that is being aborted, as Kafka 3.9 and 4 write it.
ABORT_PATTERN = re.compile(
    r'CreateTime: (?P<abort>\d+) .*transactional_?[iI]d"?[:=]"?(?P<id>[^",\s]+).*'
    r'(?:transactionStartTimestampMs":|txnStartTimestamp=)(?P<begin>\d+)')


class Failure(Exception):
    """What the pipeline, or the run itself, did wrong."""


def run(command, limit=TOOL_SECONDS):
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True, timeout=limit, check=False)
    if done.returncode != 0:
        raise Failure(f"{' '.join(map(str, command[:4]))}: {done.stderr[-2000:]}")
    return done.stdout


def wait_until(condition, limit, what, meanwhile=lambda: None):
    """The first true value of a condition; fails where there is none in `limit` seconds."""
    end = time.monotonic() + limit
    while True:
        if value := condition():
            return value
        meanwhile()
        if time.monotonic() > end:
            raise Failure(f"waited {limit} s for {what}")
        time.sleep(0.05)


class Kafka:
    """A real Kafka on this machine."""

    def __init__(self, directory, port, nodes, settings=()):
        self.directory = directory
        self.nodes = nodes
        begin = time.monotonic()
        more = [word for setting in settings for word in ("--set", setting)]
        self.bootstrap = run([KAFKA, "start", directory, "--port", port, "--nodes", nodes, *more], 180).strip()
        self.start_seconds = time.monotonic() - begin

    def tool(self, *arguments):
        return run([KAFKA, "tool", self.directory, *arguments])

    def aborts(self):
        """Every abort in Kafka's own log of transactions: (transactional id, begin, abort), times in milliseconds."""
        files = sorted(str(path) for path in pathlib.Path(self.directory).glob("data-*/__transaction_state-*/*.log"))
        text = self.tool("dump-log", "--transaction-log-decoder", "--files", ",".join(files))
        found = set()
        for line in text.splitlines():
            if "PrepareAbort" in line and (match := ABORT_PATTERN.search(line)):
                found.add((match["id"], int(match["begin"]), int(match["abort"])))
        return found

    def kill(self, node):
        run([KAFKA, "kill", self.directory, node])

    def restart(self, node):
        run([KAFKA, "restart", self.directory, node], 180)

    def pause(self, node):
        run([KAFKA, "pause", self.directory, node])

    def resume(self, node):
        run([KAFKA, "resume", self.directory, node])

    def consume(self, topic, path):
        """Starts Kafka's console consumer on a topic's committed records, into a file."""
        properties = [f"print.{name}=true" for name in ("timestamp", "partition", "offset", "key")]
        command = [KAFKA, "tool", self.directory, "console-consumer", "--topic", topic, "--from-beginning",
                   "--isolation-level", "read_committed"]
        # A whole partition in one fetch: a broker that was killed and came back may hide aborted transactions from
        # smaller ones (docs/operating/failures.md), and the books would be those of Kafka's fault.
        for size in ("max.partition.fetch.bytes", "fetch.max.bytes"):
            command += ["--command-property", f"{size}={FETCH_BYTES}"]
        for name in properties:
            command += ["--property", name]
        with open(path, "wb") as output, open(f"{path}.err", "wb") as errors:
            # A session of its own: the tool is a shell and a Java behind it.
            return subprocess.Popen(
                [str(part) for part in command], stdout=output, stderr=errors, start_new_session=True)

    def stop(self):
        subprocess.run([str(KAFKA), "stop", str(self.directory)], check=False, timeout=120)


def end_session(process):
    """Ends a process that leads a session, and all that it started."""
    try:
        os.killpg(process.pid, signal.SIGTERM)
    except ProcessLookupError:
        pass
    process.wait(60)


class World:
    """Producers, a simulated APNs and simulated phones in one process that nobody kills."""

    def __init__(self, program, kafka, work, options):
        # A broker that was killed is away for about as long as one takes to start.
        over = options.over + round(kafka.start_seconds * (BROKER_STARTS.get(options.mode, 0) if options.nodes > 1 else 0))
        self.time_limit = over + options.settle
        self.push_log = work / "pushes.log"
        self.errors = work / "world.log"
        self.output = work / "world.out"
        self.apns = None
        command = [program, "demo", "--without-workers", "--json", "--bootstrap", kafka.bootstrap, "--seed",
                   options.seed, "--recipients", options.recipients, "--intents", options.intents, "--over",
                   f"{over}s", "--time-limit", f"{self.time_limit}s", "--latency",
                   f"{options.latency_ms}ms", "--push-log", self.push_log, "--log.format=json"]
        if options.calm:
            command.append("--calm")
        with open(self.errors, "wb") as errors, open(self.output, "wb") as output:
            self.process = subprocess.Popen([str(part) for part in command], stdout=output, stderr=errors)
        self.apns = wait_until(self._address, 120, "the simulated APNs")
        self.started = time.monotonic()

    def _address(self):
        if self.process.poll() is not None:
            raise Failure(f"the world ended: {self.errors.read_text()[-2000:]}")
        for line in self.errors.read_text().splitlines():
            if line.startswith("{") and '"ca_file"' in line:
                return json.loads(line)
        return None

    def is_over(self):
        """Whether it has ended: all screens are right, and nothing is left to do."""
        return self.process.poll() is not None

    def unanswered(self, begin, end):
        """How many requests were without their answers when connections broke within a time, in milliseconds."""
        count = 0
        for line in self.push_log.read_bytes().split(b"\n"):
            if line.startswith(b'{"broken_at_ms"'):
                broken = json.loads(line)
                if begin <= broken["broken_at_ms"] <= end:
                    count += len(broken["unanswered"])
        return count

    def waiting_at(self, millis, latency_ms, tail=None):
        """How many pushes APNs had taken and not yet answered at a time; by the last `tail` bytes of its log, or all."""
        count = 0
        with open(self.push_log, "rb") as log:
            if tail is not None:
                log.seek(max(0, self.push_log.stat().st_size - tail))
            text = log.read()
        # The last line may not be whole yet, nor the first of a tail.
        for line in text.split(b"\n")[:-1]:
            if line.startswith(b'{"n"'):
                count += millis - latency_ms < json.loads(line)["at_ms"] <= millis
        return count

    def report(self):
        lines = self.output.read_text().splitlines()
        if not lines:
            raise Failure(f"the world ended without a report: {self.errors.read_text()[-2000:]}")
        return json.loads(lines[-1])


class Worker:
    """A `hush run` of both stages, started again and again under the same names."""

    def __init__(self, name, kafka, world, work, port, options):
        apns = world.apns
        where = f"localhost:{apns['port']}"
        self.name = name
        self.port = port
        self.log = work / f"{name}.log"
        self.process = None
        self.starts = 0
        self.transactional_ids = [f"hush-planner-{name}-plan-0", f"hush-deliverer-{name}-deliver-0"]
        self.command = [str(part) for part in (
            options.program, "run", f"--kafka.bootstrap={kafka.bootstrap}", f"--run.name={name}",
            f"--state.dir={work / ('state-' + name)}", f"--admin.port={port}", f"--apns.production={where}",
            f"--apns.sandbox={where}", f"--apns.ca.file={apns['ca_file']}", f"--apns.key.file={apns['key_file']}",
            f"--apns.key.id={apns['key_id']}", f"--apns.team.id={apns['team_id']}", "--apns.deadline=3s",
            # No hour to wait for a budget, and no minutes for a backoff.
            f"--run.session.timeout={options.session}s", "--deliver.wakeup.burst=0", "--deliver.retry.base=200ms", "--deliver.retry.max=2s", "--log.format=json")]

    def start(self):
        with open(self.log, "ab") as log:
            self.process = subprocess.Popen(self.command, stdout=log, stderr=log)
        self.starts += 1

    def keep_running(self):
        """Starts it anew where the watchdog ended it; another end is a failure."""
        code = self.process.poll()
        if code is None:
            return
        if code != 70:
            raise Failure(f"{self.name} ended with {code}: {self.tail()}")
        self.start()

    def tail(self):
        return self.log.read_text(errors="replace")[-3000:]

    def metrics(self):
        """The samples of /metrics by (name, stage), those without a stage as the deliverer's; nothing without an answer."""
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/metrics", timeout=2) as answer:
                text = answer.read().decode()
        except (urllib.error.URLError, OSError):
            return {}
        found = {}
        for line in text.splitlines():
            if match := re.match(r'(\w+)\{([^}]*)\} (\S+)', line):
                stage = re.search(r'stage="(\w+)"', match[2])
                key = (match[1], stage[1] if stage else "deliver")
                found[key] = found.get(key, 0) + float(match[3])
        return found

    def lag(self, metrics=None):
        metrics = self.metrics() if metrics is None else metrics
        return sum(value for (name, _), value in metrics.items() if name == "hush_consumer_lag_records")

    def is_working(self, metrics=None):
        """Whether both stages have partitions, have committed, and something is left to do."""
        metrics = self.metrics() if metrics is None else metrics
        return all(metrics.get((name, stage), 0) > 0 for name in ("hush_slot_partitions", "hush_transactions_total")
                   for stage in ("plan", "deliver")) and self.lag(metrics) > 0

    def is_sending(self):
        """Whether it is working, APNs has answered it since its start, and more pushes wait for their answers."""
        metrics = self.metrics()
        return (self.is_working(metrics) and metrics.get(("hush_push_answers_total", "deliver"), 0) > 0
                and metrics.get(("hush_pushes_in_flight", "deliver"), 0) >= SENDING_MIN)

    def in_flight(self):
        return int(self.metrics().get(("hush_pushes_in_flight", "deliver"), 0))

    def signal(self, number):
        self.process.send_signal(number)

    def kill(self):
        self.process.kill()
        self.process.wait()

    def stop(self, limit=60):
        """Asks it to end, and sees that it does so cleanly."""
        self.process.send_signal(signal.SIGTERM)
        code = self.process.wait(limit)
        if code != 0:
            raise Failure(f"{self.name} ended with {code} after SIGTERM: {self.tail()}")


class Rig:
    """Everything of one run, and its end."""

    def __init__(self, options):
        self.options = options
        self.work = pathlib.Path(tempfile.mkdtemp(prefix="hush-pipeline."))
        self.kafka = None
        self.world = None
        self.workers = []
        self.problems = []
        self.said = threading.Lock()
        self.begin = time.monotonic()

    def say(self, text):
        print(f"{sys.argv[0].rpartition('/')[2]}: {time.monotonic() - self.begin:5.0f} s  {text}", flush=True)

    def set_up(self):
        options = self.options
        self.kafka = Kafka(self.work / "kafka", options.port, options.nodes, getattr(options, "broker_settings", ()))
        run([options.program, "topics", "create", f"--kafka.bootstrap={self.kafka.bootstrap}"])
        self.say(f"{options.nodes} nodes of Kafka run, the topics are there")
        self.world = World(options.program, self.kafka, self.work, options)
        for number in (1, 2):
            self.workers.append(Worker(
                f"w{number}", self.kafka, self.world, self.work, options.port + 80 + number, options))

    def keep_running(self):
        for worker in self.workers:
            if worker.process is not None:
                worker.keep_running()

    def wait_for_the_end(self):
        """The world's report, once screens have settled or its time is over."""
        wait_until(self.world.is_over, self.world.time_limit + 60, "the world to end", self.keep_running)
        return self.world.report()

    def tear_down(self):
        for worker in self.workers:
            if worker.process is not None and worker.process.poll() is None:
                worker.process.send_signal(signal.SIGCONT)
                worker.process.kill()
                worker.process.wait()
        if self.world is not None and self.world.process.poll() is None:
            self.world.process.kill()
            self.world.process.wait()
        if self.kafka is not None and self.options.keep is False:
            self.kafka.stop()


def free_ports():
    """The first of a hundred ports, of which those that a run takes are free just now."""
    for base in random.sample(range(20000, 30000, 100), 100):
        try:
            for port in (*range(base, base + 6), base + 81, base + 82):
                with socket.socket() as probe:
                    probe.bind(("127.0.0.1", port))
            return base
        except OSError:
            continue
    raise Failure("no hundred ports are free")


def default_program():
    for configuration in ("release", "debug"):
        path = ROOT / ".build" / configuration / "hush"
        if os.access(path, os.X_OK):
            return str(path)
    return str(ROOT / ".build" / "debug" / "hush")
