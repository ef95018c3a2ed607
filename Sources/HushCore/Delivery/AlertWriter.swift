/// Writes the `aps` object of a push that the system shows itself, for every dialect that has such pushes.
struct AlertWriter {
    let content: ContentMembers
    /// How many notifications of the recipient are live, where it is known: what `"badge":"auto"` stands for.
    let liveCount: Int64?
    /// The person may have been told of it before, so it makes no sound and lights nothing up.
    let isPassive: Bool

    /// `isMutable`: the app's service extension is to see it, whatever the content says.
    func write(isMutable: Bool, into json: inout JSONWriter) {
        json.raw("{\"alert\":")
        writeText(into: &json)
        if isMutable || content.isTrue(.mutableContent) { json.raw(",\"mutable-content\":1") }
        if content.isTrue(.contentAvailable) { json.raw(",\"content-available\":1") }
        writeBadge(into: &json)
        if isPassive {
            json.raw(",\"interruption-level\":\"passive\"")
        } else if let sound = content[.sound] {
            json.raw(",\"sound\":")
            json.raw(sound)
        }
        if let category = content[.category] {
            json.raw(",\"category\":")
            json.raw(category)
        }
        if let thread = content[.thread] {
            json.raw(",\"thread-id\":")
            json.raw(thread)
        }
        json.byte(UInt8(ascii: "}"))
    }

    /// A body alone is a string, as the system has it; a title needs the object.
    private func writeText(into json: inout JSONWriter) {
        guard let title = content[.title] else { return json.raw(content[.body] ?? ArraySlice("\"\"".utf8)) }
        json.raw("{\"title\":")
        json.raw(title)
        if let body = content[.body] {
            json.raw(",\"body\":")
            json.raw(body)
        }
        json.byte(UInt8(ascii: "}"))
    }

    /// iOS takes every notification of the app off the screen at a badge of 0, so that one leaves only where nothing
    /// else is live. No badge leaves the number as it is.
    private func writeBadge(into json: inout JSONWriter) {
        guard let badge = content[.badge] else { return }
        if badge.elementsEqual("\"auto\"".utf8) {
            guard let liveCount, liveCount > 0 else { return }
            json.raw(",\"badge\":")
            json.integer(liveCount)
        } else if !badge.elementsEqual("0".utf8) || liveCount.map({ $0 <= 1 }) ?? false {
            json.raw(",\"badge\":")
            json.raw(badge)
        }
    }
}
