package import HushBase
import Synchronization

/// A stream of one of a server's connections.
package struct H2StreamID: Hashable, Sendable {
    package let connection: UInt64
    package let stream: Int32

    package init(connection: UInt64, stream: Int32) {
        self.connection = connection
        self.stream = stream
    }
}

/// A request that has come in full. Its arrays are used again for the next one, unless somebody keeps them.
package struct H2Request: Sendable {
    package internal(set) var id = H2StreamID(connection: 0, stream: 0)
    package internal(set) var body: [UInt8] = []
    /// All names and values one after the other; `fields` says where.
    var bytes: [UInt8] = []
    var fields: [(nameEnd: Int, valueEnd: Int)] = []

    package var headerCount: Int { fields.count }

    /// The name and value of a header field, in the order of arrival; pseudo-headers with their colon.
    package func header(_ index: Int) -> (name: ArraySlice<UInt8>, value: ArraySlice<UInt8>) {
        let start = index == 0 ? 0 : fields[index - 1].valueEnd
        return (bytes[start..<fields[index].nameEnd], bytes[fields[index].nameEnd..<fields[index].valueEnd])
    }

    /// The value of the first field of that name.
    package func value(of name: StaticString) -> ArraySlice<UInt8>? {
        let wanted = UnsafeBufferPointer(start: name.utf8Start, count: name.utf8CodeUnitCount)
        for index in fields.indices {
            let field = header(index)
            if field.name.count == wanted.count && field.name.elementsEqual(wanted) { return field.value }
        }
        return nil
    }
}

/// An answer.
package struct H2Response: Sendable {
    package var status: UInt16
    package var headers: [(name: StaticString, value: [UInt8])]
    package var body: [UInt8]

    package init(status: UInt16, headers: [(name: StaticString, value: [UInt8])] = [], body: [UInt8] = []) {
        self.status = status
        self.headers = headers
        self.body = body
    }
}

/// What a handler asks its server to do. A stream that is told nothing stays open in silence.
package enum H2Command: Sendable {
    case respond(H2StreamID, H2Response)
    /// RST_STREAM with a code of RFC 9113 §7.
    case reset(H2StreamID, code: UInt32)
    /// GOAWAY; nil names the last stream that came in. The connection goes on with the streams up to it.
    case goAway(connection: UInt64, lastStream: Int32?, debug: [UInt8])
    /// SETTINGS_MAX_CONCURRENT_STREAMS.
    case allowStreams(connection: UInt64, Int)
    /// Closes the socket without a word.
    case close(connection: UInt64)
}

/// What a handler says in one turn, with the delay of each command.
package struct H2Commands {
    var immediate: [H2Command] = []
    var delayed: [(after: Duration, command: H2Command)] = []
    /// The connections that are there, oldest first.
    package internal(set) var connections: [UInt64] = []

    package mutating func add(_ command: H2Command, after delay: Duration = .zero) {
        if delay <= .zero {
            immediate.append(command)
        } else {
            delayed.append((delay, command))
        }
    }
}

/// Decides about requests, on the server's thread.
package protocol H2Handler: SendableMetatype {
    /// A request has come in full.
    mutating func received(_ request: H2Request, at now: MonotonicTime, commands: inout H2Commands)
    /// Once in each turn of the loop, at least once a second and after `H2Server.wake()`.
    mutating func turn(at now: MonotonicTime, commands: inout H2Commands)
    mutating func opened(connection: UInt64, at now: MonotonicTime, commands: inout H2Commands)
    mutating func closed(connection: UInt64, at now: MonotonicTime)
}

extension H2Handler {
    package mutating func turn(at now: MonotonicTime, commands: inout H2Commands) {}
    package mutating func opened(connection: UInt64, at now: MonotonicTime, commands: inout H2Commands) {}
    package mutating func closed(connection: UInt64, at now: MonotonicTime) {}
}

package struct H2ServerOptions: Sendable {
    /// On the loopback interface; 0 takes a free one.
    package var port: UInt16 = 0
    package var certificateFile: String
    package var keyFile: String
    package var streamsMax = 1000
    /// Further connections are closed at once.
    package var connectionsMax = 256
    package var requestBytesMax = 64 * 1024
    /// How many bytes a second a connection reads of its bodies, by its number, and gives back in flow control; nil: all
    /// at once. Flow control gives back half a window at a time, of 64 KB a connection.
    package var readBytesPerSecond: @Sendable (_ connection: UInt64) -> Int? = { _ in nil }

    package init(certificateFile: String, keyFile: String) {
        self.certificateFile = certificateFile
        self.keyFile = keyFile
    }
}

/// An HTTP/2 server over TLS on the loopback interface: the simulator's, with one thread of its own.
package final class H2Server: Sendable {
    package let port: UInt16
    private let shared: H2ServerShared
    private let thread: NamedThread

    /// Listens, and starts the thread, which makes the handler.
    package init(_ options: H2ServerOptions, handler: @escaping @Sendable () -> some H2Handler) throws {
        let tls = try TLSContext(serverCertificateFile: options.certificateFile, keyFile: options.keyFile)
        let listener = try Sockets.listenOnLoopback(port: options.port)
        port = listener.port
        let shared = try H2ServerShared(listener: listener.take())
        self.shared = shared
        thread = try NamedThread.start(name: "apns-server") {
            do {
                try H2ServerLoop(options: options, tls: tls, shared: shared, handler: handler()).run()
            } catch {
                // Only the process's limit of descriptors fails here.
                preconditionFailure("the server cannot run: \(error)")
            }
        }
    }

    deinit {
        close()
    }

    /// Makes the handler's `turn` come soon, for commands that wait in its own state.
    package func wake() {
        shared.wakeUp.signal()
    }

    /// Closes all connections and ends the thread; a second call does nothing.
    package func close() {
        shared.isStopped.store(true, ordering: .releasing)
        shared.wakeUp.signal()
        thread.join()
        shared.stopListening()
    }
}

/// What the server and its thread share.
final class H2ServerShared: Sendable {
    /// Open until `stopListening`, which comes after the thread's end.
    let listener: Int32
    let wakeUp: WakeUp
    let isStopped = Atomic(false)
    private let owner: Mutex<Descriptor?>

    init(listener: consuming Descriptor) throws(SystemFault) {
        self.listener = listener.raw
        wakeUp = try WakeUp()
        owner = Mutex(listener)
    }

    func stopListening() {
        owner.withLock { $0 = nil }
    }
}
