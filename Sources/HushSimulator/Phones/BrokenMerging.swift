import HushCore
import HushKit

/// Merging rules that are wrong, so that tests can show that a verdict finds them.
package enum BrokenMerging {
    /// A delete through every revision is acknowledged and does nothing.
    package static let ignoringRetracts: SimulatedPhone.Filter = { payload, _ in
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

    /// Whoever a push is for, it is for the person who is logged in.
    package static let believingAnyTag: SimulatedPhone.Filter = { payload, phone in
        guard case .object(var members) = payload, case .object(var body)? = members["hush"] else { return payload }
        body["to"] = .string(OwnerTag.of(phone.owner))
        members["hush"] = .object(body)
        return .object(members)
    }

    /// A delete of what is not on the screen is acknowledged and not remembered.
    package static let forgettingDeletes: SimulatedPhone.Filter = { payload, phone in
        guard case .object(var members) = payload, case .object(var body)? = members["hush"],
            let ops = body["ops"]?.array
        else { return payload }
        body["ops"] = .array(
            ops.map { op in
                guard case .array(var parts) = op, parts.count >= 4, parts[1] == "d", let id = parts[2].id,
                    phone.screen.shown[id] == nil
                else { return op }
                parts[2] = "nobody's"
                return .array(parts)
            })
        members["hush"] = .object(body)
        return .object(members)
    }

    /// A bind is acknowledged and does nothing: no hello answers it.
    package static let ignoringBinds: SimulatedPhone.Filter = { payload, _ in
        guard case .object(var members) = payload, case .object(var body)? = members["hush"],
            let ops = body["ops"]?.array
        else { return payload }
        body["ops"] = .array(
            ops.map { op in
                guard let parts = op.array, parts.count >= 2, parts[1] == "b" else { return op }
                return .array([parts[0], "d", "nobody's", 1])
            })
        members["hush"] = .object(body)
        return .object(members)
    }
}
