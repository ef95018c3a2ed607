import HushBase
import Synchronization

/// The server's thread: accepts, reads, asks the handler, writes; delayed commands wait by their time.
final class H2ServerLoop<Handler: H2Handler> {
    private final class Connection {
        let session: ServerSession
        let channel: SecureChannel
        var watched: Readiness?
        var isAnnounced = false

        init(session: ServerSession, channel: SecureChannel) {
            self.session = session
            self.channel = channel
        }
    }

    private static var listenerTag: UInt64 { 0 }
    private static var wakeUpTag: UInt64 { 1 }
    /// How long a turn waits at most, and where somebody reads slowly.
    private static var turnMax: Duration { .seconds(1) }
    private static var readInterval: Duration { .milliseconds(10) }

    private let options: H2ServerOptions
    private let tls: TLSContext
    private let shared: H2ServerShared
    private var handler: Handler
    private var poller: Poller
    private var connections: [UInt64: Connection] = [:]
    private var nextTag: UInt64 = 2
    private var commands = H2Commands()
    private var delayed = DelayedCommands()
    private var ready: [UInt64] = []
    /// Whether a slow reader has something to read.
    private var readsSlowly = false
    private let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 64 * 1024, alignment: 16)

    init(options: H2ServerOptions, tls: TLSContext, shared: H2ServerShared, handler: Handler) throws(SystemFault) {
        self.options = options
        self.tls = tls
        self.shared = shared
        self.handler = handler
        poller = try Poller()
        try poller.add(shared.listener, for: .read, tag: Self.listenerTag)
        try poller.add(shared.wakeUp.descriptor, for: .read, tag: Self.wakeUpTag)
    }

    deinit {
        buffer.deallocate()
    }

    func run() throws(SystemFault) {
        Sockets.blockBrokenPipeSignal()
        while !shared.isStopped.load(ordering: .acquiring) {
            ready.removeAll(keepingCapacity: true)
            let due = delayed.next.map { max($0 - MonotonicTime.now(), .zero) } ?? Self.turnMax
            let wait = min(due, readsSlowly ? Self.readInterval : Self.turnMax)
            try poller.wait(atMost: wait) { tag, _ in ready.append(tag) }
            let now = MonotonicTime.now()
            for tag in ready {
                switch tag {
                case Self.listenerTag: try acceptAll(at: now)
                case Self.wakeUpTag: shared.wakeUp.clear()
                default: try read(tag, at: now)
                }
            }
            handler.turn(at: now, commands: &commands)
            while let command = delayed.popDue(at: now) { commands.immediate.append(command) }
            try perform(at: now)
            readsSlowly = false
            for connection in Array(connections.values) {
                connection.session.read(at: now)
                if connection.session.isReading { readsSlowly = true }
                try flush(connection, at: now)
            }
        }
    }

    private func acceptAll(at now: MonotonicTime) throws(SystemFault) {
        while let socket = try Sockets.accept(from: shared.listener) {
            if connections.count >= options.connectionsMax { continue }
            let tag = nextTag
            nextTag += 1
            do {
                let channel = SecureChannel(accepted: try TLSStream.accepting(socket, context: tls))
                let connection = Connection(
                    session: try ServerSession(id: tag, options: options, at: now), channel: channel)
                connections[tag] = connection
                try watch(connection)
            } catch let fault as SystemFault {
                throw fault
            } catch {
                // A connection that cannot be set up is closed with its socket; others go on.
                continue
            }
        }
        commands.connections = connections.keys.sorted()
    }

    private func read(_ tag: UInt64, at now: MonotonicTime) throws(SystemFault) {
        guard let connection = connections[tag] else { return }
        let end = connection.channel.ready(connection.session, buffer, at: now)
        if connection.session.isOpen && !connection.isAnnounced {
            connection.isAnnounced = true
            handler.opened(connection: tag, at: now, commands: &commands)
        }
        let complete = connection.session.complete
        connection.session.complete.removeAll(keepingCapacity: true)
        for slot in complete {
            handler.received(connection.session.request(slot), at: now, commands: &commands)
        }
        if end != nil { try close(connection, at: now) }
    }

    private func perform(at now: MonotonicTime) throws(SystemFault) {
        for (delay, command) in commands.delayed { delayed.insert(command, at: now + delay) }
        commands.delayed.removeAll(keepingCapacity: true)
        for command in commands.immediate {
            switch command {
            case .respond(let id, let response): connections[id.connection]?.session.respond(id.stream, response)
            case .reset(let id, let code): connections[id.connection]?.session.reset(id.stream, code: code)
            case .goAway(let tag, let lastStream, let debug):
                connections[tag]?.session.goAway(lastStream: lastStream, debug: debug)
            case .allowStreams(let tag, let count): connections[tag]?.session.allowStreams(count)
            case .close(let tag):
                if let connection = connections[tag] { try close(connection, at: now) }
            }
        }
        commands.immediate.removeAll(keepingCapacity: true)
    }

    private func flush(_ connection: Connection, at now: MonotonicTime) throws(SystemFault) {
        if connection.channel.flush(connection.session) != nil {
            try close(connection, at: now)
        } else {
            try watch(connection)
        }
    }

    private func watch(_ connection: Connection) throws(SystemFault) {
        let interest = connection.channel.interest
        if connection.watched == interest { return }
        if connection.watched == nil {
            try poller.add(connection.channel.descriptor, for: interest, tag: connection.session.id)
        } else {
            try poller.modify(connection.channel.descriptor, for: interest, tag: connection.session.id)
        }
        connection.watched = interest
    }

    private func close(_ connection: Connection, at now: MonotonicTime) throws(SystemFault) {
        if connection.watched != nil { try poller.remove(connection.channel.descriptor) }
        connections[connection.session.id] = nil
        commands.connections = connections.keys.sorted()
        if connection.isAnnounced { handler.closed(connection: connection.session.id, at: now) }
    }
}

/// Commands that wait for their time: a binary heap, equal times in the order of insertion.
struct DelayedCommands {
    private var entries: [(due: MonotonicTime, number: UInt64, command: H2Command)] = []
    private var nextNumber: UInt64 = 0

    var next: MonotonicTime? { entries.first?.due }

    mutating func insert(_ command: H2Command, at due: MonotonicTime) {
        entries.append((due, nextNumber, command))
        nextNumber += 1
        var child = entries.count - 1
        while child > 0, isBefore(child, (child - 1) / 2) {
            entries.swapAt(child, (child - 1) / 2)
            child = (child - 1) / 2
        }
    }

    mutating func popDue(at now: MonotonicTime) -> H2Command? {
        guard let first = entries.first, first.due <= now else { return nil }
        entries.swapAt(0, entries.count - 1)
        entries.removeLast()
        var parent = 0
        while true {
            var least = parent
            for child in [2 * parent + 1, 2 * parent + 2] where child < entries.count && isBefore(child, least) {
                least = child
            }
            if least == parent { return first.command }
            entries.swapAt(parent, least)
            parent = least
        }
    }

    private func isBefore(_ left: Int, _ right: Int) -> Bool {
        (entries[left].due, entries[left].number) < (entries[right].due, entries[right].number)
    }
}
