/// The payloads of the `airship` dialect: alerts that carry actions in Airship's names, and a silent push that takes
/// them back, which is ours, for Airship has none.
public enum AirshipPayload {
    /// `{"aps":{"alert":…},"_":…,"^d":…,…}` with the content's extras at the top level.
    ///
    /// `liveCount` is what `"badge":"auto"` stands for, nil where it is not known; `isPassive`: the person may have been
    /// told before, so it makes no sound.
    public static func create(_ content: Content, liveCount: Int64?, isPassive: Bool) -> [UInt8] {
        let members = ContentMembers(content)
        var json = JSONWriter(reserving: 1024)
        json.raw("{\"aps\":")
        AlertWriter(content: members, liveCount: liveCount, isPassive: isPassive).write(isMutable: false, into: &json)
        writeMember(",\"_\":", members[.sendID], into: &json)
        writeMember(",\"^d\":", members[.link], into: &json)
        writeMember(",\"^u\":", members[.url], into: &json)
        writeMember(",\"^p\":", members[.landingPage], into: &json)
        writeMember(",\"^s\":", members[.share], into: &json)
        writeMember(",\"^mc\":", members[.messageCenter], into: &json)
        if let tags = members[.tags] { writeTags(tags, into: &json) }
        writeMember(",\"com.urbanairship.in_app\":", members[.inApp], into: &json)
        writeMember(",\"com.urbanairship.interactive_actions\":", members[.actions], into: &json)
        if let extras = members[.extras], extras.count > 2 {
            json.byte(UInt8(ascii: ","))
            json.raw(extras.dropFirst().dropLast())
        }
        json.byte(UInt8(ascii: "}"))
        return json.bytes
    }

    /// `{"aps":{"content-available":1},"hush.remove":["hush.order-42"]}`: the stable identifiers of what is to go, as
    /// many of them, from the first on, as fit.
    ///
    /// - Returns: the payload, and how many it names; nil where not even the first fits.
    public static func remove(
        _ ids: some Sequence<Bytes>, liveCount: Int64?, bytesMax: Int
    ) -> (payload: [UInt8], count: Int)? {
        var json = JSONWriter(reserving: 1024)
        json.raw("{\"aps\":{\"content-available\":1}")
        if let liveCount {
            json.raw(",\"hush.badge\":")
            json.integer(liveCount)
        }
        json.raw(",\"hush.remove\":[")
        var count = 0
        for id in ids {
            let start = json.count
            if count > 0 { json.byte(UInt8(ascii: ",")) }
            json.string(StableIdentifier.of(id))
            if json.count + "]}".utf8.count > bytesMax {
                json.truncate(to: start)
                break
            }
            count += 1
        }
        if count == 0 { return nil }
        json.raw("]}")
        return (json.bytes, count)
    }

    private static func writeMember(_ name: StaticString, _ value: ArraySlice<UInt8>?, into json: inout JSONWriter) {
        guard let value else { return }
        json.raw(name)
        json.raw(value)
    }

    private static func writeTags(_ tags: ArraySlice<UInt8>, into json: inout JSONWriter) {
        let object = Array(tags)
        var scanner = ObjectScanner(object)
        var (added, removed): (ArraySlice<UInt8>?, ArraySlice<UInt8>?)
        while let member = scanner.next() {
            if object[member.name].elementsEqual("add".utf8) { added = object[member.value] }
            if object[member.name].elementsEqual("remove".utf8) { removed = object[member.value] }
        }
        if let added, added.count > 2 { writeMember(",\"^+t\":", added, into: &json) }
        if let removed, removed.count > 2 { writeMember(",\"^-t\":", removed, into: &json) }
    }
}
