import Foundation
import HushAPNs

/// A directory of its own for one test, with fresh certificates; gone with the object.
final class TestDirectory: Sendable {
    let path: String
    let certificates: TestCertificates

    init(names: [String] = ["localhost", "127.0.0.1"], validFor seconds: Int64 = 3600) throws {
        path = FileManager.default.temporaryDirectory.path + "/hush-apns-" + UUID().uuidString
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        let now = Int64(Date().timeIntervalSince1970)
        certificates = try TestCertificates.write(
            into: path, names: names, validFromSeconds: now - 7200, validUntilSeconds: now + seconds)
    }

    deinit {
        // Best effort: a leftover in the temporary directory harms nobody.
        try? FileManager.default.removeItem(atPath: path)
    }
}
