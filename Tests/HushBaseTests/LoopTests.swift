import Glibc
import HushBase
import Synchronization
import Testing

@Suite struct WakeUpTests {
    @Test("signals before the look are one, and a cleared one is gone")
    func coalesces() throws {
        let wakeUp = try WakeUp()
        #expect(!wakeUp.wait(atMost: .zero))
        wakeUp.signal()
        wakeUp.signal()
        #expect(wakeUp.wait(atMost: .zero))
        #expect(!wakeUp.wait(atMost: .zero))
    }

    @Test("a signal from another thread ends the wait")
    func crossesThreads() throws {
        let wakeUp = try WakeUp()
        let thread = try NamedThread.start(name: "signaller") { wakeUp.signal() }
        #expect(wakeUp.wait(atMost: .seconds(20)))
        thread.join()
    }
}

@Suite struct PollerTests {
    @Test("a descriptor is told by its tag, and for what it is ready")
    func tellsTagAndReadiness() throws {
        var ends: [Int32] = [0, 0]
        #expect(pipe(&ends) == 0)
        let (reader, writer) = (ends[0], ends[1])
        defer { close(reader) }
        var poller = try Poller()
        try poller.add(reader, for: .read, tag: 7)
        try poller.add(writer, for: .write, tag: 1 << 63)

        var seen: [UInt64: Readiness] = [:]
        try poller.wait(atMost: .zero) { seen[$0] = $1 }
        #expect(seen == [1 << 63: .write])

        try poller.remove(writer)
        #expect(write(writer, "x", 1) == 1)
        close(writer)
        seen = [:]
        #expect(try poller.wait(atMost: .seconds(20)) { seen[$0] = $1 } == 1)
        #expect(seen == [7: [.read, .hangUp]])
    }

    @Test("waiting with nothing ready ends with nothing")
    func timesOut() throws {
        var poller = try Poller(batchMax: 1)
        #expect(try poller.wait(atMost: .milliseconds(1)) { _, _ in Issue.record("nothing was added") } == 0)
    }

    @Test("a descriptor that is not open is an error with the call's name")
    func refusesClosed() throws {
        let poller = try Poller()
        #expect(throws: SystemFault(call: "epoll_ctl", code: EBADF)) { try poller.add(-1, for: .read, tag: 0) }
        #expect("\(SystemFault(call: "epoll_ctl", code: EBADF))" == "epoll_ctl: Bad file descriptor (errno 9)")
    }
}

@Suite struct MailboxTests {
    @Test("a full mailbox takes the first that fit and leaves the rest, in order")
    func keepsOrderAtCapacity() throws {
        let mailbox = Mailbox<Int>(capacity: 3, wakeUp: try WakeUp())
        var batch = [1, 2, 3, 4, 5]
        #expect(mailbox.offer(from: &batch) == 3)
        #expect(batch == [4, 5])
        #expect(!mailbox.offer(6))
        #expect(mailbox.count == 3)

        var taken = [99]
        mailbox.takeAll(into: &taken)
        #expect(taken == [1, 2, 3])
        #expect(mailbox.offer(from: &batch) == 2)
        #expect(batch.isEmpty)
        mailbox.takeAll(into: &taken)
        #expect(taken == [4, 5])
    }

    @Test("the reader is woken when the mailbox was empty")
    func wakesReader() throws {
        let wakeUp = try WakeUp()
        let mailbox = Mailbox<Int>(capacity: 2, wakeUp: wakeUp)
        #expect(mailbox.offer(1))
        #expect(wakeUp.wait(atMost: .zero))
        #expect(mailbox.offer(2))
        #expect(!wakeUp.wait(atMost: .zero))
    }

    @Test("four writers and one reader lose nothing and keep each writer's order")
    func manyWriters() throws {
        let wakeUp = try WakeUp()
        let mailbox = Mailbox<[Int]>(capacity: 16, wakeUp: wakeUp)
        let threads = try (0..<4).map { writer in
            try NamedThread.start(name: "writer-\(writer)") {
                for number in 0..<500 {
                    while !mailbox.offer([writer, number]) { sched_yield() }
                }
            }
        }
        var next = [0, 0, 0, 0]
        var batch: [[Int]] = []
        let deadline = MonotonicTime.now() + .seconds(60)
        while next != [500, 500, 500, 500], MonotonicTime.now() < deadline {
            _ = wakeUp.wait(atMost: .milliseconds(50))
            mailbox.takeAll(into: &batch)
            for item in batch {
                #expect(next[item[0]] == item[1])
                next[item[0]] += 1
            }
        }
        #expect(next == [500, 500, 500, 500])
        for thread in threads { thread.join() }
    }
}

@Suite struct NamedThreadTests {
    @Test("a thread runs its body under its name and can be joined twice")
    func runs() throws {
        let seen = Mutex("")
        let thread = try NamedThread.start(name: "hush-test") {
            var name = [UInt8](repeating: 0, count: 32)
            let file = open("/proc/thread-self/comm", O_RDONLY)
            let count = read(file, &name, name.count)
            close(file)
            seen.withLock { $0 = String(decoding: name.prefix(max(0, count)), as: UTF8.self) }
        }
        thread.join()
        thread.join()
        #expect(seen.withLock { $0 } == "hush-test\n")
    }

    @Test("a thread's stack is as large as asked for")
    func stack() throws {
        // Ten thousand frames of a kilobyte and more: the 8 MB that threads get unasked would end the process.
        let sum = Mutex(0)
        let thread = try NamedThread.start(name: "deep", stackBytes: 64 << 20) {
            let total = deep(10_000)
            sum.withLock { $0 = total }
        }
        thread.join()
        #expect(sum.withLock { $0 } == 10_000)
    }
}

/// Recurses with about a kilobyte a frame.
@inline(never)
private func deep(_ levels: Int) -> Int {
    if levels == 0 { return 0 }
    return withUnsafeTemporaryAllocation(byteCount: 1000, alignment: 1) { frame in
        frame.initializeMemory(as: UInt8.self, repeating: 0)
        return 1 + deep(levels - 1) + Int(frame[0])
    }
}

@Suite struct MonotonicTimeTests {
    @Test("time moves forward and deadlines saturate")
    func moves() {
        let start = MonotonicTime.now()
        #expect(MonotonicTime.now() >= start)
        #expect(start + .seconds(Int64.max) == MonotonicTime(nanos: .max))
        #expect(MonotonicTime(nanos: 1_500_000_000) - MonotonicTime(nanos: 500_000_000) == .seconds(1))
        #expect(WallClock.nowMillis() > 1_700_000_000_000)
    }

    @Test("durations convert to nanoseconds and seconds")
    func converts() {
        #expect(Duration.milliseconds(1500).wholeNanos == 1_500_000_000)
        #expect(Duration.seconds(Int64.max).wholeNanos == .max)
        #expect(Duration.milliseconds(250).inSeconds == 0.25)
    }
}
