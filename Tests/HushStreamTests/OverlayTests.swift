import Testing

@testable import HushStream

@Suite struct OverlayTests {
    @Test("scans between writes show the keys of a prefix in order, each with its newest value", arguments: 1...5)
    func scans(seed: Int) {
        var overlay = Overlay()
        var model: [[UInt8]: UInt8] = [:]
        var step = seed
        for round in 0..<600 {
            step = (step &* 1_103_515_245 &+ 12_345) & 0x7fff_ffff
            let key = [UInt8(step >> 8 & 7), UInt8(step >> 16 & 63)]
            model[key] = UInt8(round & 255)
            key.withUnsafeBytes { key in [UInt8(round & 255)].withUnsafeBytes { overlay.write(1, key, $0) } }
            // Another table's keys never show.
            key.withUnsafeBytes { overlay.write(2, $0, nil) }
            guard round % 7 == 0 else { continue }
            let prefix = [key[0]]
            let found = prefix.withUnsafeBytes { prefix in
                overlay.matches(1, prefix: prefix).map { ([UInt8]($0.key), $0.value?.first) }
            }
            let expected = model.filter { $0.key[0] == prefix[0] }.sorted { $0.key[1] < $1.key[1] }
            #expect(found.map(\.0) == expected.map(\.key))
            #expect(found.map(\.1) == expected.map(\.value))
        }
        var keys: [[UInt8]] = []
        overlay.forEachSorted { keys.append([$0.table] + $0.key) }
        let all = model.keys.map { [1] + $0 } + model.keys.map { [2] + $0 }
        #expect(keys == all.sorted { $0.lexicographicallyPrecedes($1) })
    }
}
