import HushCore
import Testing

@Suite("Stable identifiers")
struct StableIdentifierTests {
    @Test(
        "an id that fits stands in clear, a longer one as its digest",
        arguments: [
            ("order-42", "hush.order-42"),
            (String(repeating: "x", count: 59), "hush." + String(repeating: "x", count: 59)),
            (String(repeating: "x", count: 60), "hush#QvLZczVmn4aEa3IaiqWFUaRlZOr2l347SDbUZF4-PtI"),
        ])
    func forms(id: String, expected: String) {
        let identifier = StableIdentifier.of(Bytes(id))
        #expect(identifier.text == expected)
        #expect(identifier.count <= StableIdentifier.bytesMax)
        #expect(StableIdentifier.isOurs(identifier))
    }

    @Test("the owner tag is the recipient's FNV-1a in hex")
    func ownerTag() {
        #expect(OwnerTag.of("ada").text == "e70bc0190530e13b")
    }
}
