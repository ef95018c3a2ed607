import HushBase
import Synchronization

/// Looks after the files of one credential: what changed is read again, and what is no good is told and not used.
///
/// Of one thread, which may block.
struct CredentialWatch {
    enum Change: Hashable {
        case renewed(String)
        case bad(String)
    }

    /// The places of the routes that sign in with it.
    let routes: [Int]
    private let credential: APNsConfiguration.Credential
    private let contexts: [RouteContext]
    private var known: [UInt8]

    /// One for each credential, as its files are now.
    static func all(_ contexts: [RouteContext]) -> [CredentialWatch] {
        var places: [APNsConfiguration.Credential: [Int]] = [:]
        for (index, context) in contexts.enumerated() { places[context.route.credential, default: []].append(index) }
        return places.values.map { routes in
            CredentialWatch(
                routes: routes, credential: contexts[routes[0]].route.credential, contexts: routes.map { contexts[$0] })
        }
    }

    private init(routes: [Int], credential: APNsConfiguration.Credential, contexts: [RouteContext]) {
        self.routes = routes
        self.credential = credential
        self.contexts = contexts
        known = Self.digest(credential)
    }

    /// Reads the files; nil where they are as they were.
    mutating func look(atSeconds now: Int64) -> Change? {
        let seen = Self.digest(credential)
        if seen == known { return nil }
        known = seen
        do throws(APNsConfigurationFault) {
            try reload(atSeconds: now)
        } catch {
            return .bad("\(error); the one that was read before stays in use")
        }
        for context in contexts { context.credentialVersion.add(1, ordering: .releasing) }
        return .renewed(Self.files(credential).joined(separator: ", "))
    }

    private func reload(atSeconds now: Int64) throws(APNsConfigurationFault) {
        switch credential {
        case .token(let keyFile, let keyID, _):
            let (key, keyID) = try RouteContext.signing(keyFile: keyFile, keyID: keyID)
            // Routes of one credential share its token.
            try contexts.first?.token?.replace(key: key, keyID: keyID, atSeconds: now)
        case .certificate:
            var secured: [TLSContext] = []
            for context in contexts {
                secured.append(try RouteContext.secured(context.route, atSeconds: now))
            }
            for (context, tls) in zip(contexts, secured) { context.replace(tls) }
        }
    }

    private static func files(_ credential: APNsConfiguration.Credential) -> [String] {
        switch credential {
        case .token(let keyFile, _, _): [keyFile]
        case .certificate(let certificateFile, let keyFile): [certificateFile, keyFile]
        }
    }

    /// Of names and contents, for a link may lead elsewhere; a file that cannot be read has none.
    private static func digest(_ credential: APNsConfiguration.Credential) -> [UInt8] {
        let digest = SHA256Digest()
        for file in files(credential) {
            let bytes = (try? SmallFile.read(file)) ?? []
            digest.update(Array("\(CertificateFile.target(of: file)) \(bytes.count) ".utf8))
            digest.update(bytes)
        }
        return digest.finish()
    }
}
