/// A walk over the committed keys of one table that begin with a prefix.
enum StateCursor {
    case store(StateStore.Cursor)
    case memory(MemoryStore.Cursor)

    var current: (key: UnsafeRawBufferPointer, value: UnsafeRawBufferPointer)? {
        switch self {
        case .store(let cursor): cursor.current
        case .memory(let cursor): cursor.current
        }
    }

    var fault: StreamFault? {
        switch self {
        case .store(let cursor): cursor.fault
        case .memory: nil
        }
    }

    func advance() {
        switch self {
        case .store(let cursor): cursor.advance()
        case .memory(let cursor): cursor.advance()
        }
    }

    func close() {
        if case .store(let cursor) = self { cursor.close() }
    }
}
