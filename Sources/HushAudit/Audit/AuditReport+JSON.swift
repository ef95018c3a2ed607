import HushCore
import HushWorkers

extension AuditReport {
    /// One JSON object: verdict, counts, hours, violations and doubts, as docs/operating/audit.md has it.
    public var json: [UInt8] {
        var json = JSONWriter(reserving: 1 << 16)
        json.raw("{\"verdict\":")
        json.string(Bytes(verdict.rawValue))
        member("inputs", counts.inputs, &json)
        member("lines", counts.lines, &json)
        member("plan_lines", counts.planLines, &json)
        member("deliver_lines", counts.deliverLines, &json)
        member("order_lines", counts.orderLines, &json)
        member("redrive_lines", counts.redriveLines, &json)
        member("pushes", counts.pushes, &json)
        member("outside", counts.outside, &json)
        member("unchecked", counts.unchecked, &json)
        member("tasks", tasks, &json)
        list("scope", scope, &json) { json, line in json.string(Bytes(line)) }
        list("builds", builds, &json) { json, line in json.string(Bytes(line)) }
        json.raw(",\"total\":")
        Self.write(total, &json)
        list("hours", hours, &json) { json, hour in Self.write(hour, &json) }
        json.raw(",\"violation_counts\":{")
        for (index, (code, count)) in violationCounts.sorted(by: { $0.key.rawValue < $1.key.rawValue }).enumerated() {
            if index > 0 { json.raw(",") }
            json.string(Bytes(code.rawValue))
            json.raw(":")
            json.integer(count)
        }
        json.raw("}")
        list("violations", violations, &json) { json, violation in
            json.raw("{\"code\":")
            json.string(Bytes(violation.code.rawValue))
            json.raw(",\"topic\":")
            json.string(Bytes(violation.topic))
            member("partition", Int(violation.partition), &json)
            member("offset", Int(violation.offset), &json)
            json.raw(",\"detail\":")
            json.string(Bytes(violation.detail))
            json.raw("}")
        }
        list("doubts", doubts, &json) { json, doubt in
            json.raw("{\"code\":")
            json.string(Bytes(doubt.code.rawValue))
            json.raw(",\"detail\":")
            json.string(Bytes(doubt.detail))
            json.raw("}")
        }
        json.raw("}")
        return json.bytes
    }

    private func list<Element>(
        _ name: StaticString, _ elements: [Element], _ json: inout JSONWriter,
        _ write: (inout JSONWriter, Element) -> Void
    ) {
        json.raw(",\"")
        json.raw(name)
        json.raw("\":[")
        for (index, element) in elements.enumerated() {
            if index > 0 { json.raw(",") }
            write(&json, element)
        }
        json.raw("]")
    }

    private static func write(_ counts: HourCounts, _ json: inout JSONWriter) {
        json.raw("{\"hour\":")
        if let hour = counts.hour { json.time(Timestamp(millis: hour * 3_600_000)) } else { json.raw("null") }
        member("wanted", counts.wanted, &json)
        member("waiting", counts.waiting, &json)
        member("ops", counts.ops, &json)
        member("pending", counts.pending, &json)
        json.raw(",\"inputs\":{")
        map(InputTopic.allCases.map { (Bytes($0.topic.name), counts.inputs[Int($0.rawValue)]) }, &json)
        json.raw("},\"decisions\":{")
        map(PlanDecision.allCases.map { ($0.name, counts.decisions[Int($0.rawValue)]) }, &json)
        json.raw("},\"outcomes\":{")
        map(DeliveryOutcome.allCases.map { ($0.name, counts.outcomes[Int($0.rawValue)]) }, &json)
        json.raw("}}")
    }

    private static func map(_ entries: [(Bytes, Int)], _ json: inout JSONWriter) {
        for (index, entry) in entries.filter({ $0.1 > 0 }).enumerated() {
            if index > 0 { json.raw(",") }
            json.string(entry.0)
            json.raw(":")
            json.integer(entry.1)
        }
    }
}

private func member(_ name: StaticString, _ number: Int, _ json: inout JSONWriter) {
    json.raw(",\"")
    json.raw(name)
    json.raw("\":")
    json.integer(number)
}
