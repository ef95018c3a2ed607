package import HushCore

/// The pieces that several kinds of records share.
extension JSONWriter {
    /// `"name":` behind a comma; inlined, so that the name's length is known where it is copied.
    @inline(__always)
    package mutating func member(_ name: StaticString) {
        raw(",\"")
        raw(name)
        raw("\":")
    }

    package mutating func member(_ name: StaticString, _ text: Bytes?) {
        guard let text else { return }
        member(name)
        string(text)
    }

    package mutating func member(_ name: StaticString, _ number: (some BinaryInteger)?) {
        guard let number else { return }
        member(name)
        integer(number)
    }

    package mutating func member(_ name: StaticString, _ truth: Bool?) {
        guard let truth else { return }
        member(name)
        boolean(truth)
    }

    package mutating func member(_ name: StaticString, _ moment: Timestamp?) {
        guard let moment else { return }
        member(name)
        time(moment)
    }

    mutating func member(_ name: StaticString, _ version: BindingVersion?) {
        guard let version else { return }
        member(name)
        byte(UInt8(ascii: "["))
        integer(version.at.millis)
        byte(UInt8(ascii: ","))
        integer(version.partition)
        byte(UInt8(ascii: ","))
        integer(version.offset)
        byte(UInt8(ascii: "]"))
    }

    mutating func member(_ name: StaticString, _ cause: Position?) {
        guard let cause else { return }
        member(name)
        switch cause.topic {
        case .intents: raw("{\"topic\":\"hush.intents\",\"partition\":")
        case .reads: raw("{\"topic\":\"hush.reads\",\"partition\":")
        case .devices: raw("{\"topic\":\"hush.devices\",\"partition\":")
        case .signals: raw("{\"topic\":\"hush.signals\",\"partition\":")
        case .fanout: raw("{\"topic\":\"hush.fanout\",\"partition\":")
        }
        integer(cause.partition)
        raw(",\"offset\":")
        integer(cause.offset)
        byte(UInt8(ascii: "}"))
    }

    mutating func member(_ name: StaticString, _ trace: TraceID?) {
        guard let trace else { return }
        member(name)
        byte(UInt8(ascii: "\""))
        hex(trace.high)
        hex(trace.low)
        byte(UInt8(ascii: "\""))
    }

    /// The 16 digits of a number.
    private mutating func hex(_ number: UInt64) {
        for shift in stride(from: 60, through: 0, by: -4) {
            byte(Hex.digit(UInt8(truncatingIfNeeded: number >> UInt64(shift)) & 15))
        }
    }

    /// The name of an op's kind, without quotes.
    mutating func kind(_ kind: OpKind) {
        switch kind {
        case .create: raw("create")
        case .delete: raw("delete")
        case .bind: raw("bind")
        }
    }

    mutating func op(_ op: OpID) {
        byte(UInt8(ascii: "\""))
        integer(op.partition)
        byte(UInt8(ascii: ":"))
        integer(op.offset)
        byte(UInt8(ascii: ":"))
        integer(op.index)
        byte(UInt8(ascii: "\""))
    }

    package mutating func array<Elements: Sequence>(
        _ elements: Elements, _ write: (inout JSONWriter, Elements.Element) -> Void
    ) {
        byte(UInt8(ascii: "["))
        var isFirst = true
        for element in elements {
            if !isFirst { byte(UInt8(ascii: ",")) }
            isFirst = false
            write(&self, element)
        }
        byte(UInt8(ascii: "]"))
    }
}
