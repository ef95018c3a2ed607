private import Glibc

/// The one owner of a file descriptor: closes it when it goes.
public struct Descriptor: ~Copyable, Sendable {
    public let raw: Int32

    /// Takes over an open descriptor that nobody else will close.
    public init(owning raw: Int32) {
        self.raw = raw
    }

    deinit {
        // A failed close leaves nothing to do: on Linux the descriptor is gone in any case, even after EINTR.
        _ = close(raw)
    }
}
