import HushCore
import HushKit

/// Merging rules that are wrong, so that tests can show that a verdict finds them.
package enum BrokenMerging {
    /// A delete through every revision is acknowledged and does nothing.
    package static let ignoringRetracts: SimulatedPhone.Filter = { payload in
        guard case .object(var members) = payload, case .object(var body)? = members["hush"],
            let ops = body["ops"]?.array
        else { return payload }
        body["ops"] = .array(
            ops.map { op in
                guard case .array(var parts) = op, parts.count >= 4, parts[1] == "d", let revision = parts[3].integer
                else { return op }
                // A delete of another id has the same effect as none.
                if revision == .max { parts[2] = "nobody's" }
                return .array(parts)
            })
        members["hush"] = .object(body)
        return .object(members)
    }
}
