import HushCore
import HushKit

let ada = "e70bc0190530e13b"
let start = Timestamp(seconds: 1_764_583_200)

/// A payload of the `hush` dialect; `version` is the append time of its binding.
func push(to recipient: Bytes = "ada", version: Int64 = 1000, _ ops: [PayloadValue]) -> PayloadValue {
    [
        "aps": ["content-available": 1],
        "hush": [
            "v": 1, "to": .string(OwnerTag.of(recipient)), "b": [.integer(version), 3, 88], "ops": .array(ops),
        ],
    ]
}

func create(
    _ id: PayloadValue, _ revision: Int64 = 1, op: PayloadValue = "7:1:0", title: Bytes = "hello",
    expires: Timestamp? = nil
) -> PayloadValue {
    var content: [Bytes: PayloadValue] = ["title": .string(title)]
    if let expires { content["expires"] = .integer(expires.seconds) }
    return [op, "c", id, .integer(revision), .object(content)]
}

func delete(_ id: PayloadValue, _ revision: Int64 = .max, op: PayloadValue = "7:2:0") -> PayloadValue {
    [op, "d", id, .integer(revision)]
}

func shown(_ id: Bytes, _ revision: Int64 = 1, title: Bytes = "hello", sound: Bool = true) -> HushAction {
    .show(
        HushNotification(
            identifier: StableIdentifier.of(id), id: id, revision: revision, content: HushContent(title: title)),
        sound: sound)
}

func hello(shown: [(Bytes, Int64)] = [], gone: [(Bytes, Int64)] = []) -> HushAction {
    .hello(
        HushHello(
            shown: shown.map { .init(id: $0.0, revision: $0.1) }, gone: gone.map { .init(id: $0.0, revision: $0.1) }))
}

func inbox(_ recipient: Bytes? = "ada") -> HushInbox {
    var inbox = HushInbox(device: "ada-phone", install: "i1")
    if let recipient { _ = inbox.loggedIn(recipient, newInstall: "unused") }
    return inbox
}
