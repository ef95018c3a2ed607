"""hush audit and hush replay on the topics of a run: both must prove them, and the audit must find what scripts/tamper
does to a copy of the ledger."""
import json
import subprocess
import time

from pipeline_rig import ROOT, Failure

AUDIT_SECONDS = 600
# scripts/setup has put there what scripts/tamper speaks to Kafka with.
PYTHON = ROOT / ".venv" / "bin" / "python3"
# What each way of tampering must be called.
CODES = {"drop": "missing_lines", "double": "doubled_line", "alter": "altered_lines", "reorder": "reordered_line"}


def need_setup():
    """Says before a long run what it would lack at its end."""
    if not PYTHON.exists():
        raise Failure(f"there is no {PYTHON}: run scripts/setup first")


def report_of(rig, verb, *arguments, program=None):
    """The exit code and the report of one audit or replay."""
    done = subprocess.run(
        [str(program or rig.options.program), verb, f"--kafka.bootstrap={rig.kafka.bootstrap}", "--json", *arguments],
        capture_output=True, text=True, timeout=AUDIT_SECONDS, check=False)
    try:
        return done.returncode, json.loads(done.stdout)
    except json.JSONDecodeError as error:
        raise Failure(f"hush {verb} ended with {done.returncode}: {done.stderr[-2000:]}") from error


def check(rig, counts):
    """Proves the books of the run, then four copies of its ledger that are wrong."""
    code, report = report_of(rig, "audit")
    if code != 0:
        raise Failure(f"hush audit ended with {code}: {json.dumps(report['violations'][:5] + report['doubts'])}")
    total = report["total"]
    for name, told, counted in (("ledger lines", report["lines"], counts["ledger lines"]),
                                ("plan lines", report["plan_lines"], counts["plan lines"]),
                                ("ops", total["ops"], counts["ops"]),
                                ("ops pending", total["pending"], counts["ops pending"])):
        if told != counted:
            raise Failure(f"hush audit counts {told} {name}, the books of this script {counted}")
    rig.say(f"hush audit: proved {report['inputs']} inputs, {report['lines']} ledger lines, {total['ops']} ops "
            f"({total['pending']} pending)")
    check_replay(rig, counts)
    for number, (how, wanted) in enumerate(CODES.items()):
        check_tampered(rig, how, wanted, rig.options.seed * 10 + number)


def check_replay(rig, counts):
    """Decides all inputs again: the same lines, and the same pushes."""
    begin = time.monotonic()
    code, report = report_of(rig, "replay")
    if code != 0 or report["differences"] or report["doubts"]:
        raise Failure(f"hush replay ended with {code}: {json.dumps(report['differences'][:5] + report['doubts'])}")
    for name, told, counted in (("plan lines", report["lines_replayed"], counts["plan lines"]),
                                ("pushes found", report["pushes_found"], report["pushes_replayed"])):
        if told != counted:
            raise Failure(f"hush replay counts {told} {name}, and {counted} there are")
    rig.say(f"hush replay: {report['inputs']} inputs decided again in {time.monotonic() - begin:.1f} s, "
            f"{report['lines_replayed']} lines and {report['pushes_replayed']} pushes the same")
    if rig.options.changed:
        check_changed(rig)


def check_changed(rig):
    """A build with a rule changed must decide something otherwise; what, is for people to judge."""
    code, report = report_of(rig, "replay", program=rig.options.changed)
    if code != 1 or not report["differences"]:
        raise Failure(f"the replay of {rig.options.changed} ended with {code} and found no difference")
    first = report["differences"][0]
    changes = ", ".join(f"{change['recorded']} -> {change['replayed']}: {change['count']}"
                        for change in report["changes"])
    rig.say(f"hush replay of the changed build: {report['difference_counts']}; {changes}; the first at {first['place']}: "
            f"{first['recorded']} became {first['replayed']}")


def check_tampered(rig, how, wanted, seed):
    topic = f"tampered.{how}"
    done = subprocess.run(
        [str(PYTHON), str(ROOT / "scripts" / "tamper"), "--bootstrap", rig.kafka.bootstrap, "--how", how, "--to",
         topic, "--seed", str(seed)], capture_output=True, text=True, timeout=AUDIT_SECONDS, check=False)
    if done.returncode != 0:
        raise Failure(f"scripts/tamper: {done.stderr[-2000:]}")
    hit = json.loads(done.stdout)
    code, report = report_of(rig, "audit", "--ledger", topic)
    found = [entry for entry in report["violations"] if entry["code"] == wanted]
    if code != 1 or not any(names(entry, hit, how) for entry in found):
        raise Failure(f"hush audit ended with {code} and did not name {hit}: {report['violations'][:5]}")
    rig.say(f"hush audit: {how} of {hit['task']} line {hit['n']} found: {found[0]['topic']}-{found[0]['partition']}"
            f"@{found[0]['offset']}: {found[0]['detail']}")


def names(entry, hit, how):
    """Whether a violation names the very line; an altered one by the part that it stands in."""
    if entry["partition"] != hit["partition"] or not entry["detail"].startswith(f"{hit['task']}:"):
        return False
    if how != "alter":
        return entry["offset"] == hit["offset"]
    words = entry["detail"].split()
    first, last = int(words[words.index("lines") + 1]), int(words[words.index("to") + 1])
    return first <= hit["n"] <= last
