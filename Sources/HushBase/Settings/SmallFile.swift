private import Glibc

/// Files that are read whole: settings, keys.
public enum SmallFile {
    /// What is larger is not what was meant.
    public static let bytesMax = 1 << 20

    public static func read(_ path: String) throws(SystemFault) -> [UInt8] {
        let raw = open(path, O_RDONLY | O_CLOEXEC)
        guard raw >= 0 else { throw .last("open") }
        let file = Descriptor(owning: raw)
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 16 << 10)
        while true {
            let count = Glibc.read(file.raw, &chunk, chunk.count)
            if count == 0 { return bytes }
            guard count > 0 else {
                if errno == EINTR { continue }
                throw .last("read")
            }
            bytes += chunk[..<count]
            guard bytes.count <= bytesMax else { throw SystemFault(call: "read", code: EFBIG) }
        }
    }
}

extension SystemFault {
    /// Whether there is no such file.
    public var isNotFound: Bool { code == ENOENT }
}
