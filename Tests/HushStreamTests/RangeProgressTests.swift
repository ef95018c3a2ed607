import Testing

@testable import HushStream

@Suite struct RangeProgressTests {
    private let ranges = [
        RecordRange(topic: "t", partition: 0, start: 2, end: 4),
        RecordRange(topic: "t", partition: 1, start: 0, end: 9),
        RecordRange(topic: "t", partition: 2, start: 5, end: 5),
    ]

    @Test("records of a range are shown up to its end, once, and a partition may end before")
    func shows() {
        var progress = RangeProgress(ranges)
        #expect(progress.openCount == 2)
        #expect(progress.admit(0, 2, isEnd: false) == true)
        progress.took(0, 2, goesOn: true)
        #expect(progress.admit(0, 2, isEnd: false) == false)
        #expect(progress.openCount == 2)
        #expect(progress.admit(0, 7, isEnd: false) == false)
        #expect(progress.admit(1, 0, isEnd: false) == true)
        progress.took(1, 0, goesOn: true)
        #expect(progress.admit(1, 6, isEnd: true) == false)
        #expect(progress.reached == [4, 6, 5])
        #expect(progress.openCount == 0)
    }

    @Test("what comes of a range that is done is no sign of life of the others")
    func silence() {
        var progress = RangeProgress(ranges)
        #expect(progress.takeMoved() == false)
        #expect(progress.admit(0, 2, isEnd: false) == true)
        progress.took(0, 2, goesOn: false)
        #expect(progress.takeMoved() == true)
        #expect(progress.openCount == 1)
        for offset: Int64 in 3..<9 { #expect(progress.admit(0, offset, isEnd: false) == false) }
        #expect(progress.admit(0, 9, isEnd: true) == false)
        #expect(progress.takeMoved() == false)
        #expect(progress.admit(1, 0, isEnd: false) == true)
        #expect(progress.takeMoved() == true)
    }
}
