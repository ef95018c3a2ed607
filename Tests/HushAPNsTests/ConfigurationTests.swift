import Foundation
import HushAPNs
import Testing

@Suite struct ConfigurationTests {
    let directory: TestDirectory

    init() throws {
        directory = try TestDirectory()
    }

    private func fault(_ change: (inout APNsConfiguration) throws -> Void) throws -> String {
        var configuration = Sender.configuration(directory, port: 443)
        try change(&configuration)
        do {
            _ = try APNsClient(configuration)
            return "none"
        } catch let fault as APNsConfigurationFault {
            return fault.description.replacingOccurrences(of: directory.path, with: "DIR")
        }
    }

    private func write(_ name: String, _ text: String) throws -> String {
        let path = directory.path + "/" + name
        try Data(text.utf8).write(to: URL(fileURLWithPath: path))
        return path
    }

    private func token(_ path: String) -> APNsConfiguration.Credential {
        .token(keyFile: path, keyID: "HUSHTEST01", teamID: "TEAM123456")
    }

    @Test("a key file is named with what is wrong about it")
    func keyFiles() throws {
        #expect(
            try fault { $0.routes[0].credential = token(directory.path + "/none.p8") }
                == "the token key DIR/none.p8: there is no such file: give the path of the .p8 file from Apple's "
                + "developer site")
        #expect(
            try fault { $0.routes[0].credential = token(try write("text.p8", "hello")) }
                == "the token key DIR/text.p8 is not a private key in PEM: use the .p8 file as Apple gave it, not a "
                + "certificate")
        #expect(
            try fault { $0.routes[0].credential = token(directory.certificates.certificateFile) }
                == "the token key DIR/server.pem is not a private key in PEM: use the .p8 file as Apple gave it, not a "
                + "certificate")
        #expect(
            try fault { $0.routes[0].credential = token(try write("ed25519.p8", Self.ed25519)) }
                == "the token key DIR/ed25519.p8 is not a P-256 elliptic curve key: APNs signs with ES256 only; use "
                + "Apple's .p8 file")
    }

    @Test("a provider certificate that has expired or is none is named")
    func certificates() throws {
        let old = try TestDirectory(validFor: -60)
        let files = old.certificates
        #expect(
            try fault {
                $0.routes[0].credential = .certificate(certificateFile: files.certificateFile, keyFile: files.keyFile)
            }.hasSuffix("/server.pem has expired: renew it and put the new file in its place"))
        #expect(
            try fault {
                $0.routes[0].credential = .certificate(
                    certificateFile: directory.certificates.keyFile, keyFile: directory.certificates.keyFile)
            } == "the provider certificate DIR/server-key.pem is not a certificate in PEM: convert it with openssl x509"
        )
        #expect(
            try fault {
                $0.routes[0].credential = .certificate(
                    certificateFile: directory.certificates.certificateFile,
                    keyFile: directory.certificates.tokenKeyFile)
            }.contains("AuthKey_HUSHTEST01.p8"))
    }

    @Test("a CA file that is missing is named")
    func trust() throws {
        #expect(
            try fault { $0.routes[0].trust = .file(directory.path + "/ca-none.pem") }
                == "the CA file DIR/ca-none.pem cannot be read: there is no such file")
    }

    @Test("numbers out of range and impossible names are refused")
    func numbers() throws {
        #expect(try fault { $0.connectionsPerRoute = 0 } == "connections per route must be 1 to 64")
        #expect(try fault { $0.streamsPerConnection = 0 } == "streams per connection must be 1 to 10000")
        #expect(try fault { $0.queueCapacity = 0 } == "the queue's capacity must be 1 to 1000000")
        #expect(try fault { $0.requestDeadline = .zero } == "the request deadline must be 1 ms to 1 day")
        #expect(
            try fault { $0.routes[0].host = "https://api.push.apple.com" }
                == "route 0: host \"https://api.push.apple.com\" must be a host name without scheme or port")
        #expect(
            try fault { $0.routes = [] } == "no route: name at least one APNs endpoint and its credential")
        #expect(
            try fault {
                $0.routes[0].credential = .token(
                    keyFile: directory.certificates.tokenKeyFile, keyID: "a\"b", teamID: "TEAM123456")
            } == "the key id \"a\"b\" is not Apple's: it has letters and digits only, ten of them")
    }

    /// A private key on another curve (RFC 8410 §10.3).
    private static let ed25519 = """
        -----BEGIN PRIVATE KEY-----
        MC4CAQAwBQYDK2VwBCIEINTuctv5E1hK1bbY8fdp+K06/nwoy/HU++CXqI9EdVhC
        -----END PRIVATE KEY-----

        """
}
