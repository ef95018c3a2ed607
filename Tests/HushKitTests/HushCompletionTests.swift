import HushCore
import HushKit
import Testing

@Suite("When a push is done")
struct HushCompletionTests {
    @Test(
        "53: the handler is called once on every path, at once where nothing is to go",
        arguments: [[], [.dropped(.foreign)], [shown("a")], [.acknowledge(["7:1:0"]), .badge(2)]] as [[HushAction]])
    func once(actions: [HushAction]) {
        var completion = HushCompletion(actions, now: start)
        #expect(completion.begin() == .call)
        #expect(completion.begin() == .nothing)
        #expect(completion.holds(["hush.a"], now: start) == .nothing)
    }

    @Test("52: it is not called before the centre has let go what was to go")
    func removal() {
        var completion = HushCompletion([.remove(["hush.a", "hush.b"]), shown("b")], now: start)
        #expect(completion.begin() == .ask(after: .milliseconds(50)))
        #expect(completion.holds(["hush.b", "hush.a"], now: start) == .ask(after: .milliseconds(50)))
        #expect(completion.holds(["hush.b", "another's"], now: start) == .call)
        #expect(completion.holds([], now: start) == .nothing)
    }

    @Test("52: a centre that never lets go is waited for no longer than two seconds")
    func deadline() {
        var completion = HushCompletion([.remove(["hush.a"])], now: start)
        _ = completion.begin()
        #expect(completion.holds(["hush.a"], now: start + .milliseconds(1999)) == .ask(after: .milliseconds(50)))
        #expect(completion.holds(["hush.a"], now: start + .seconds(2)) == .call)
    }

    @Test("a wipe is done when nothing of ours stands but what was shown since")
    func wipe() {
        var completion = HushCompletion([.removeAll, shown("new")], now: start)
        #expect(completion.begin() == .ask(after: .milliseconds(50)))
        #expect(completion.holds(["hush.old", "hush.new"], now: start) == .ask(after: .milliseconds(50)))
        #expect(completion.holds(["hush.new", "another's"], now: start) == .call)
    }
}
