private import COpenSSL

/// A streaming SHA-256 made by OpenSSL, for what is hashed per record: the chains of the ledger.
///
/// One context is reused: `finish()` leaves it ready for the next digest.
package final class SHA256Digest {
    /// The bytes of a digest.
    package static let byteCount = 32

    private let context: OpaquePointer

    package init() {
        guard let context = EVP_MD_CTX_new(), EVP_DigestInit_ex(context, EVP_sha256(), nil) == 1 else {
            preconditionFailure("OpenSSL has no SHA-256: \(OpenSSLErrors.drain())")
        }
        self.context = context
    }

    deinit {
        EVP_MD_CTX_free(context)
    }

    package func update(_ bytes: UnsafeRawBufferPointer) {
        guard let start = bytes.baseAddress, bytes.count > 0 else { return }
        let done = EVP_DigestUpdate(context, start, bytes.count)
        precondition(done == 1, "SHA-256 update failed")
    }

    package func update(_ bytes: [UInt8]) {
        bytes.withUnsafeBytes { update($0) }
    }

    /// The 32 bytes of the digest of all updates since the last one; starts the next.
    package func finish() -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: Self.byteCount) { buffer, count in
            count = Self.byteCount
            finish(into: UnsafeMutableRawBufferPointer(buffer))
        }
    }

    /// As `finish()`, into a place of at least 32 bytes.
    package func finish(into output: UnsafeMutableRawBufferPointer) {
        precondition(output.count >= Self.byteCount, "a digest needs \(Self.byteCount) bytes")
        let start = output.baseAddress?.assumingMemoryBound(to: UInt8.self)
        let done = EVP_DigestFinal_ex(context, start, nil)
        // A null type keeps the algorithm that was fetched at first: this is what makes a reset cheap.
        let ready = EVP_DigestInit_ex(context, nil, nil)
        precondition(done == 1 && ready == 1, "SHA-256 finish failed")
    }
}
