import HushCore
import Testing

@Suite("Payloads: airship")
struct AirshipPayloadTests {
    private func payload(_ content: String, liveCount: Int64? = nil, isPassive: Bool = false) -> String {
        String(
            decoding: AirshipPayload.create(
                Content(json: Bytes(content)), liveCount: liveCount, isPassive: isPassive), as: UTF8.self)
    }

    @Test("the second seed's example, field by field, compact")
    func seed() {
        let content =
            #"{"title":"Watch Message Text","body":"Push Message Goes Here","badge":1,"sound":"default","#
            + #""category":"ua_yes_no_foreground","link":"app://deepLinkPage","tags":{"add":["tag1"]},"#
            + #""in_app":{"actions":{"button_actions":{"yes":{"^+t":["tag2"],"^u":"https://google.com"}},"#
            + #""button_group":"ua_yes_no_foreground","on_click":{"^+t":["tag1"],"^d":"app://deepLinkPage"}},"#
            + #""display":{"alert":"In-App Message Goes Here","position":"bottom","type":"banner"},"#
            + #""expiry":"2015-12-03T13:42:15"},"actions":{"yes":{"^+t":["tag2"],"^u":"https://google.com"}},"#
            + #""extras":{"someKey":"someValue"},"send_id":"XXXXXXXXXXXXX","content_available":true}"#
        #expect(
            payload(content)
                == #"{"aps":{"alert":{"title":"Watch Message Text","body":"Push Message Goes Here"},"#
                + #""content-available":1,"badge":1,"sound":"default","category":"ua_yes_no_foreground"},"#
                + #""_":"XXXXXXXXXXXXX","^d":"app://deepLinkPage","^+t":["tag1"],"#
                + #""com.urbanairship.in_app":{"actions":{"button_actions":{"yes":{"^+t":["tag2"],"#
                + #""^u":"https://google.com"}},"button_group":"ua_yes_no_foreground","#
                + #""on_click":{"^+t":["tag1"],"^d":"app://deepLinkPage"}},"#
                + #""display":{"alert":"In-App Message Goes Here","position":"bottom","type":"banner"},"#
                + #""expiry":"2015-12-03T13:42:15"},"#
                + #""com.urbanairship.interactive_actions":{"yes":{"^+t":["tag2"],"^u":"https://google.com"}},"#
                + #""someKey":"someValue"}"#)
    }

    @Test(
        "each field of a content stands where Airship has it",
        arguments: [
            (#"{"body":"B"}"#, #"{"aps":{"alert":"B"}}"#),
            (#"{"title":"T"}"#, #"{"aps":{"alert":{"title":"T"}}}"#),
            (#"{"title":"T","body":"B"}"#, #"{"aps":{"alert":{"title":"T","body":"B"}}}"#),
            (#"{"body":"B","sound":"s.caf","thread":"t"}"#, #"{"aps":{"alert":"B","sound":"s.caf","thread-id":"t"}}"#),
            (#"{"body":"B","category":"c"}"#, #"{"aps":{"alert":"B","category":"c"}}"#),
            (
                #"{"body":"B","mutable_content":true,"content_available":true}"#,
                #"{"aps":{"alert":"B","mutable-content":1,"content-available":1}}"#
            ),
            (#"{"body":"B","mutable_content":false,"content_available":false}"#, #"{"aps":{"alert":"B"}}"#),
            (#"{"body":"B","url":"https://x"}"#, #"{"aps":{"alert":"B"},"^u":"https://x"}"#),
            (
                #"{"body":"B","landing_page":"https://p","share":"S","message_center":"auto"}"#,
                #"{"aps":{"alert":"B"},"^p":"https://p","^s":"S","^mc":"auto"}"#
            ),
            (
                #"{"body":"B","tags":{"add":["a","b"],"remove":["c"]}}"#,
                #"{"aps":{"alert":"B"},"^+t":["a","b"],"^-t":["c"]}"#
            ),
            (#"{"body":"B","tags":{"add":[],"other":["c"]}}"#, #"{"aps":{"alert":"B"}}"#),
            (
                #"{"body":"B","in_app":{},"actions":{}}"#,
                #"{"aps":{"alert":"B"},"com.urbanairship.in_app":{},"com.urbanairship.interactive_actions":{}}"#
            ),
            (
                #"{"body":"B","extras":{"k":{"l":[1,null]},"m":"n"}}"#,
                #"{"aps":{"alert":"B"},"k":{"l":[1,null]},"m":"n"}"#
            ),
            (#"{"body":"B","extras":{}}"#, #"{"aps":{"alert":"B"}}"#),
        ])
    func fields(content: String, expected: String) {
        #expect(payload(content) == expected)
    }

    @Test(
        "a badge is absent, a number or the count; a 0, which clears the screen, leaves only with nothing else live",
        arguments: [
            ("", nil, ""), ("", 3, ""), (#","badge":7"#, 3, #","badge":7"#), (#","badge":0"#, 1, #","badge":0"#),
            (#","badge":0"#, 0, #","badge":0"#), (#","badge":0"#, 2, ""), (#","badge":0"#, nil, ""),
            (#","badge":"auto""#, 3, #","badge":3"#), (#","badge":"auto""#, nil, ""), (#","badge":"auto""#, 0, ""),
        ] as [(String, Int64?, String)])
    func badge(field: String, liveCount: Int64?, expected: String) {
        #expect(
            payload(#"{"body":"B"\#(field)}"#, liveCount: liveCount) == #"{"aps":{"alert":"B"\#(expected)}}"#)
    }

    @Test("a repeat makes no sound")
    func passive() {
        #expect(
            payload(#"{"body":"B","sound":"default"}"#, isPassive: true)
                == #"{"aps":{"alert":"B","interruption-level":"passive"}}"#)
    }

    @Test("a delete names stable identifiers, as many as fit")
    func remove() {
        let long = Bytes(String(repeating: "x", count: 60))
        let all = AirshipPayload.remove(["order-42", long], liveCount: nil, bytesMax: 4096)
        #expect(
            all.map { String(decoding: $0.payload, as: UTF8.self) }
                == #"{"aps":{"content-available":1},"hush.remove":["hush.order-42","#
                + #""\#(StableIdentifier.of(long))"]}"#)
        #expect(StableIdentifier.of(long).text.hasPrefix("hush#"))
        let one = AirshipPayload.remove(["order-42", long], liveCount: 2, bytesMax: 90)
        #expect(
            one.map { String(decoding: $0.payload, as: UTF8.self) }
                == #"{"aps":{"content-available":1},"hush.badge":2,"hush.remove":["hush.order-42"]}"#)
        #expect(one?.count == 1)
        #expect(AirshipPayload.remove([long], liveCount: nil, bytesMax: 60) == nil)
    }
}
