public import HushCore

extension LedgerBook {
    /// Writes the line of one slice of an audience and shows its bytes; its key is the id. `digest`, in hex, is the
    /// SHA-256 over its ops as lines of JSON, which docs/reference/ledger.md defines.
    public func write(
        _ slice: AudienceSlice, count: Int, digest: Bytes, at now: Timestamp, _ send: (UnsafeRawBufferPointer) -> Void
    ) {
        var json = begin(at: now)
        json.member("decision", PlanDecision.sliced.name)
        json.member("id", slice.id)
        json.member("revision", slice.revision == Standing.everyRevision ? nil : slice.revision)
        json.member("recipients", slice.recipients)
        json.member("count", count)
        json.member("digest", digest)
        json.member("after", slice.after.map { shown(recipient: $0) })
        json.member("through", slice.through.map { shown(recipient: $0) })
        if slice.isLast { json.member("last", true) }
        json.member("cause", slice.cause)
        end(&json, send)
    }
}
