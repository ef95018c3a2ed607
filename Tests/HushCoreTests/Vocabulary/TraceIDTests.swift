import HushCore
import Testing

@Suite("Trace ids")
struct TraceIDTests {
    private func read(_ text: String) -> TraceID? {
        Array(text.utf8).withUnsafeBytes { TraceID(traceparent: $0) }
    }

    @Test("a traceparent gives its trace, whatever its parent and flags; of a later version as well")
    func reads() {
        let trace = TraceID(high: 0x4bf9_2f35_77b3_4da6, low: 0xa3ce_929d_0e0e_4736)
        #expect(trace != nil)
        for text in [
            "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
            "00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000001-00",
            "cc-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-ff",
            "01-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-what-comes-later",
        ] {
            #expect(read(text) == trace, "\(text)")
        }
        #expect(read("00-00000000000000000000000000000001-00f067aa0ba902b7-01") == TraceID(high: 0, low: 1))
    }

    @Test(
        "a traceparent of another form is none",
        arguments: [
            "", "00", "4bf92f3577b34da6a3ce929d0e0e4736",
            "00-00000000000000000000000000000000-00f067aa0ba902b7-01",
            "00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000000-01",
            "00-4BF92F3577B34DA6A3CE929D0E0E4736-00f067aa0ba902b7-01",
            "ff-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
            "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-0",
            "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-0x",
            "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-more",
            "01-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01more",
            "00 4bf92f3577b34da6a3ce929d0e0e4736 00f067aa0ba902b7 01",
        ])
    func refuses(text: String) {
        #expect(read(text) == nil)
    }
}
