import Foundation

/// The repository's files, as far as git would take them.
struct Tree {
    static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().standardizedFileURL

    private static let skipped: Set<String> = [".build", ".git", ".venv", ".kafka", ".swiftpm", "__pycache__"]

    /// Paths from the root, sorted, of files below a folder (all, where it is empty) with one of these endings (any, where none is given).
    static func files(under folder: String = "", endings: [String] = []) -> [String] {
        let start = root.appendingPathComponent(folder)
        guard let walker = FileManager.default.enumerator(at: start, includingPropertiesForKeys: [.isRegularFileKey])
        else { return [] }
        var found: [String] = []
        while let url = walker.nextObject() as? URL {
            if skipped.contains(url.lastPathComponent) {
                walker.skipDescendants()
                continue
            }
            guard (try? url.resourceValues(forKeys: [.isRegularFileKey]).isRegularFile) == true else { continue }
            if endings.isEmpty || endings.contains(where: { url.path.hasSuffix($0) }) {
                found.append(String(url.standardizedFileURL.path.dropFirst(root.path.count + 1)))
            }
        }
        return found.sorted()
    }

    static func text(_ path: String) throws -> String {
        String(decoding: try Data(contentsOf: root.appendingPathComponent(path)), as: UTF8.self)
    }

    static func exists(_ path: String) -> Bool {
        FileManager.default.fileExists(atPath: root.appendingPathComponent(path).standardizedFileURL.path)
    }
}
