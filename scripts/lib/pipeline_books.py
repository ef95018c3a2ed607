"""Reads every topic back with Kafka's own console consumer, and compares the books with what the inputs alone say."""
import collections
import hashlib
import json
import time

from pipeline_rig import Failure, end_session

TOPICS = ("hush.intents", "hush.reads", "hush.devices", "hush.signals", "hush.pushes", "hush.ledger", "hush.dead")
INPUTS = ("hush.intents", "hush.reads", "hush.devices", "hush.signals")
FINAL = {"accepted", "confirmed", "coalesced", "suppressed", "expired", "unregistered", "reassigned", "rejected",
         "parked"}
# How many of one kind of error are told.
TOLD = 5
ALL = 2**63 - 1
# A consumer that printed nothing for so long is at the end; what it missed would show in the comparison.
QUIET_SECONDS = 8
READ_SECONDS = 900


class Errors:
    """What is wrong, by kind, with examples."""

    def __init__(self):
        self.found = collections.defaultdict(list)

    def add(self, kind, example):
        self.found[kind].append(example)

    def check(self, holds, kind, example):
        if not holds:
            self.add(kind, example)

    def raise_any(self):
        if self.found:
            told = [f"{kind}: {len(list_)}, such as {list_[:TOLD]}" for kind, list_ in self.found.items()]
            raise Failure("the books are wrong\n  " + "\n  ".join(told))


def records(path):
    """The records of one consumed topic in each partition's order: (partition, offset, time, key, value bytes)."""
    with open(path, "rb") as lines:
        for line in lines:
            parts = line.rstrip(b"\n").split(b"\t", 4)
            if len(parts) != 5:
                # The tool's own words, on the same output.
                if line.startswith((b"Processed a total", b"Option --property is deprecated")):
                    continue
                raise Failure(f"{path}: unexpected line {line[:200]!r}")
            stamp, partition, offset, key, value = parts
            yield (int(partition.split(b":")[1]), int(offset.split(b":")[1]), int(stamp.split(b":")[1]), key, value)


def position(cause):
    return (cause["topic"], cause["partition"], cause["offset"])


def text_id(value):
    """Ids are compared as text: 42 and "42" are one."""
    return None if value is None else str(value)


def address_of(register):
    """Where a device is reached, as the key of hush.pushes has it."""
    parts = (register["app"], register["environment"], register["token"].lower())
    return hashlib.sha256(b"\0".join(part.encode() for part in parts)).hexdigest()[:32]


def show_key(value):
    """What makes two intents of one revision the same: the fields as they were given."""
    return json.dumps({name: field for name, field in value.items() if name != "id"}, sort_keys=True)


class Task:
    """One task's chain of ledger lines."""

    def __init__(self):
        self.next = 0
        self.previous = "0" * 64
        self.hash = hashlib.sha256()
        self.lines = 0


class Books:
    """What the topics hold after a run."""

    def __init__(self, rig):
        self.rig = rig
        self.errors = Errors()
        self.inputs = {}
        self.plan_lines = collections.defaultdict(list)
        self.plan_ops = collections.Counter()
        self.outcomes = collections.Counter()
        self.finals = collections.Counter()
        self.accepted_ids = set()
        self.counts = collections.Counter()

    def read(self):
        """Consumes all topics, side by side."""
        work = self.rig.work / "read"
        work.mkdir(exist_ok=True)
        consumers = [(topic, self.rig.kafka.consume(topic, work / topic)) for topic in TOPICS]
        self.paths = {topic: work / topic for topic in TOPICS}
        try:
            self._wait_for_the_ends(consumers)
        finally:
            for _, consumer in consumers:
                end_session(consumer)

    def _wait_for_the_ends(self, consumers):
        sizes, changed, end = None, time.monotonic(), time.monotonic() + READ_SECONDS
        # Dead letters are none.
        needed = [topic for topic in TOPICS if topic != "hush.dead"]
        while time.monotonic() < end:
            found = [self.paths[topic].stat().st_size for topic in needed]
            if found != sizes:
                sizes, changed = found, time.monotonic()
            # The first line may be the tool's own.
            if min(found) > 200 and time.monotonic() - changed > QUIET_SECONDS:
                return
            for topic, consumer in consumers:
                if consumer.poll() is not None:
                    words = self.paths[topic].with_name(f"{topic}.err").read_text()
                    raise Failure(f"the console consumer of {topic} ended: {words[-1000:]}")
            time.sleep(0.2)
        raise Failure(f"the topics were not read in {READ_SECONDS} s")

    def check(self, report):
        """Every check; raises `Failure` with all that is wrong. `report` is the world's."""
        self._take_inputs()
        for topic, published in (("hush.intents", report["intents"] + report["duplicates"]),
                                 ("hush.reads", report["reads"])):
            self.errors.check(
                self.counts[topic] == published, "records that were published and are not there, or twice",
                (topic, self.counts[topic], published))
        self._take_ledger()
        self._check_plan_lines()
        self._check_decisions()
        self._check_pushes()
        self._check_push_log()
        self.errors.raise_any()
        return self.counts

    # -- inputs

    def _take_inputs(self):
        for topic in INPUTS:
            for partition, offset, stamp, _, value in records(self.paths[topic]):
                self.inputs[topic, partition, offset] = (stamp, json.loads(value))
                self.counts[topic] += 1
        for _ in records(self.paths["hush.dead"]):
            self.counts["hush.dead"] += 1
        self.errors.check(self.counts["hush.dead"] == 0, "dead letters", self.counts["hush.dead"])

    def _expected_lines(self):
        """(cause, id) of every line that the inputs call for."""
        expected = set()
        for cause, (_, value) in self.inputs.items():
            if cause[0] == "hush.intents":
                expected.add((cause, text_id(value["id"])))
            elif cause[0] == "hush.reads":
                for name in value.get("ids", [value.get("id")]):
                    expected.add((cause, text_id(name)))
            elif cause[0] == "hush.devices" or "hello" in value:
                expected.add((cause, None))
        return expected

    # -- the ledger

    def _take_ledger(self):
        tasks = collections.defaultdict(Task)
        for partition, offset, _, _, raw in records(self.paths["hush.ledger"]):
            line = json.loads(raw)
            task = tasks[line["task"]]
            where = (line["task"], line["n"], f"{partition}:{offset}")
            self.errors.check(line["n"] == task.next, "numbers with a gap or twice", (where, task.next))
            task.next = line["n"] + 1
            task.lines += 1
            self.counts["ledger lines"] += 1
            if "order" in line:
                self._end_part(task, line, raw, where)
            else:
                task.hash.update(raw + b"\n")
                if line["stage"] == "plan":
                    self._take_plan_line(line, partition)
                else:
                    self._take_deliver_line(line)
        self.counts["tasks"] = len(tasks)

    def _end_part(self, task, line, raw, where):
        head, found, _ = raw.partition(b',"digest":')
        self.errors.check(bool(found), "order lines without digest", where)
        self.errors.check(line["previous"] == task.previous, "chains that are broken", where)
        task.hash.update(head)
        self.errors.check(task.hash.hexdigest() == line["digest"], "digests that do not fit", where)
        task.previous = line["digest"]
        task.hash = hashlib.sha256()
        self.counts["order lines"] += 1

    def _take_plan_line(self, line, partition):
        cause = line["cause"]
        self.counts["plan lines"] += 1
        self.counts[f"plan {line['decision']}"] += 1
        key = position(cause)
        self.errors.check(key[1] == partition, "plan lines in another partition than their input", key)
        self.plan_lines[partition].append((key, text_id(line.get("id")), line))
        for op in line.get("ops", ()):
            name = None if op[1] == "bind" else text_id(op[2] if len(op) > 2 else line.get("id"))
            self.plan_ops[key, op[0], op[1], name] += 1

    def _take_deliver_line(self, line):
        outcome = line["outcome"]
        self.counts["deliver lines"] += 1
        self.counts[f"deliver {outcome}"] += 1
        if outcome == "accepted":
            self.accepted_ids.add(line["apns_id"])
        for op in line["ops"]:
            if line["final"]:
                self.errors.check(outcome in FINAL, "final outcomes of no known name", outcome)
                self.finals[op["op"]] += 1

    # -- plan lines and decisions

    def _check_plan_lines(self):
        expected = self._expected_lines()
        seen = collections.Counter()
        for lines in self.plan_lines.values():
            for cause, name, line in lines:
                if line["decision"] == "evicted":
                    continue
                seen[cause, name] += 1
        for key, count in seen.items():
            self.errors.check(count == 1, "plan lines twice for an input and id", (key, count))
            self.errors.check(key in expected, "plan lines without an input", key)
        missing = expected - seen.keys()
        for key in sorted(missing, key=str)[:TOLD]:
            self.errors.add(f"inputs without a plan line ({len(missing)})", key)
        self.counts["inputs and ids"] = len(expected)

    def _check_decisions(self):
        """Decides every input again, in the order of the ledger, by rules that are not the planner's code."""
        for partition in sorted(self.plan_lines):
            judge = Judge(self.inputs, self.errors)
            for cause, name, line in self.plan_lines[partition]:
                judge.take(cause, name, line)
            self.counts["creates expected"] += judge.creates

    # -- pushes

    def _check_pushes(self):
        device_of, dialect_of, ops, quiet = {}, {}, {}, set()
        found = collections.Counter()
        creates = collections.Counter()
        for partition, offset, _, key, raw in records(self.paths["hush.pushes"]):
            value = json.loads(raw)
            address = key.decode()
            kind = value["kind"]
            self.counts[f"pushes {kind}"] += 1
            if kind == "bind":
                device_of[address] = value["device"]
                dialect_of[address] = value["dialect"]
                ops[f"{partition}:{offset}:0"] = "bind"
                found[position(value["cause"]), value["device"], "bind", None] += 1
            elif kind == "ops":
                self.errors.check(address in device_of, "ops for an address before its bind", (partition, offset))
                device = device_of.get(address)
                cause = position(value["cause"])
                for index, op in enumerate(value["ops"]):
                    op_id = f"{partition}:{offset}:{index}"
                    ops[op_id] = op["op"]
                    if op.get("quiet"):
                        quiet.add(op_id)
                    found[cause, device, op["op"], op["id"]] += 1
                    if op["op"] == "create" and cause[0] == "hush.intents":
                        creates[device, value["owner"], op["id"], op["revision"]] += 1
        for key, count in creates.items():
            self.errors.check(count == 1, "creates of an intent twice for a device, id and revision", (key, count))
        self.counts["creates of intents"] = len(creates)
        self._check_ops(found, ops, quiet)

    def _check_ops(self, found, ops, quiet):
        planned = self.plan_ops
        for key in (planned - found).keys():
            self.errors.add("ops in plan lines that are not in hush.pushes", key)
        for key in (found - planned).keys():
            self.errors.add("ops in hush.pushes that no plan line tells of", key)
        for op_id, count in self.finals.items():
            self.errors.check(count == 1, "final outcomes twice for an op", (op_id, count))
            self.errors.check(op_id in ops, "outcomes of no op", op_id)
        pending = ops.keys() - self.finals.keys()
        self.counts["ops"] = len(ops)
        self.counts["ops final"] = len(self.finals)
        self.counts["ops pending"] = len(pending)
        self.counts["ops pending, quiet"] = len(pending & quiet)
        # Deletes and binds may wait for a push to ride on; a create that nothing holds must have gone.
        for op_id in pending:
            self.errors.check(ops[op_id] != "create", "creates without an outcome", op_id)

    # -- what reached APNs

    def _check_push_log(self):
        """No apns-id (op and attempt) twice; nothing told as accepted that APNs did not take; no create after its delete."""
        seen = set()
        deleted = {}
        with open(self.rig.world.push_log, "rb") as lines:
            for raw in lines:
                line = json.loads(raw)
                if "n" not in line:
                    continue
                self.counts["pushes at APNs"] += 1
                self.errors.check(line["apns_id"] not in seen, "apns-ids twice at APNs", line["apns_id"])
                seen.add(line["apns_id"])
                self._check_order(line, deleted)
        for apns_id in self.accepted_ids - seen:
            self.errors.add("told as accepted, and APNs has it not", apns_id)

    def _check_order(self, line, deleted):
        payload = line["payload"].get("hush")
        if payload is None:
            return
        for op in payload["ops"]:
            if op[1] == "d":
                key = (line["token"], payload["to"], text_id(op[2]))
                deleted[key] = max(deleted.get(key, 0), op[3])
        for op in payload["ops"]:
            if op[1] == "c":
                key = (line["token"], payload["to"], text_id(op[2]))
                self.errors.check(
                    deleted.get(key, 0) < op[3], "creates that left after their delete", (line["n"], op[0], op[2], op[3]))


class Judge:
    """Decides inputs in a given order: what each must have been, and for which devices."""

    def __init__(self, inputs, errors):
        self.inputs = inputs
        self.errors = errors
        self.devices = collections.defaultdict(dict)
        self.created = collections.Counter()
        self.deleted = collections.Counter()
        self.content = {}
        # Whether what is created may still stand somewhere: not dealt with, and not known to have expired.
        self.live = {}
        self.creates = 0

    def take(self, cause, name, line):
        if cause not in self.inputs:
            return
        _, value = self.inputs[cause]
        key = (value["recipient"], name)
        decision = line["decision"]
        kinds = collections.Counter((op[0], op[1]) for op in line.get("ops", ()) if len(op) == 2)
        if cause[0] == "hush.devices":
            self._take_device(value, line, cause)
        elif cause[0] == "hush.intents" and decision != "evicted":
            wanted, ops = (self._retract if value.get("retract") else self._show)(key, value)
            self._compare(cause, decision, wanted, kinds, ops)
            if decision == "expired":
                self.deleted[key] = max(self.deleted[key], self.created[key])
        elif cause[0] == "hush.reads":
            wanted, ops = self._end(key, self._read_through(key, value), "read")
            self._compare(cause, decision, wanted, kinds, ops)
        elif cause[0] == "hush.signals":
            self.errors.check(decision == "hello", "decisions that the inputs do not call for", (cause, decision))

    def _compare(self, cause, decision, wanted, kinds, ops):
        self.errors.check(
            decision in wanted, "decisions that the inputs do not call for", (cause, decision, wanted))
        if ops is not None and decision not in ("waiting", "expired"):
            self.errors.check(
                kinds == collections.Counter(ops), "ops for other devices than are registered",
                (cause, decision, dict(kinds), ops))

    def _take_device(self, value, line, cause):
        devices = self.devices[value["recipient"]]
        decision = line["decision"]
        if not value.get("unregister"):
            self.errors.check(
                decision in ("registered", "superseded"), "decisions that the inputs do not call for", (cause, decision))
            if decision == "registered":
                address = address_of(value)
                for other in [name for name, held in devices.items() if held == address]:
                    del devices[other]
                devices[value["device"]] = address
        elif decision == "unregistered":
            # The deliverer knows the address better than the device.
            address = value.get("address", devices.get(value["device"]))
            for gone in [name for name, held in devices.items() if held == address]:
                del devices[gone]

    def _show(self, key, value):
        revision = value.get("revision", 1)
        created = self.created[key]
        if revision < created:
            return ("superseded",), []
        if revision == created:
            return ("duplicate" if self.content[key] == show_key(value) else "conflict",), []
        self.created[key] = revision
        self.content[key] = show_key(value)
        if revision <= self.deleted[key]:
            return ("suppressed",), []
        devices = [(device, "create") for device in self.devices[key[0]]]
        self.live[key] = "ttl" not in value
        wanted = "planned" if created == 0 else "updated"
        if "ttl" in value:
            # It may have expired by the planner's time, which is the newest append time that it has seen.
            return (wanted if devices else "waiting", "expired"), None if not devices else devices
        self.creates += len(devices)
        return (wanted if devices else "waiting",), devices

    def _retract(self, key, value):
        return self._end(key, value.get("revision", ALL), "retracted")

    def _read_through(self, key, value):
        return value.get("revision") or max(self.created[key], 1)

    def _end(self, key, through, decision):
        if through <= self.deleted[key]:
            return ("duplicate",), []
        stood = self.created[key] > self.deleted[key]
        self.deleted[key] = through
        if self.created[key] > through:
            return ("superseded",), []
        if not stood:
            return (decision,), []
        # What had a short life may be gone already.
        lives = self.live.get(key, False)
        return (decision,), [(device, "delete") for device in self.devices[key[0]]] if lives else None
