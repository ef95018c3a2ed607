private import Glibc

/// A system call that failed, with the call's name and `errno`.
public struct SystemFault: Error, Hashable, Sendable, CustomStringConvertible {
    public let call: String
    public let code: Int32

    public init(call: String, code: Int32) {
        self.call = call
        self.code = code
    }

    /// As `bind: Address already in use (errno 98)`.
    ///
    /// `strerror` keeps its text per thread since glibc 2.32.
    public var description: String { "\(call): \(String(cString: strerror(code))) (errno \(code))" }

    /// The fault of the call that just returned.
    public static func last(_ call: String) -> SystemFault {
        SystemFault(call: call, code: errno)
    }
}
