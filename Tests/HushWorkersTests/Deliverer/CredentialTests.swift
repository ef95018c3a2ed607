import HushAPNs
import HushBase
import HushCore
import Testing

@testable import HushStream
@testable import HushWorkers

@Suite("Credentials of the deliverer")
struct CredentialTests {
    /// Two apps with a credential each.
    private static let routes = [
        DelivererConfiguration.Route(
            app: "com.example.app", environment: .production, index: 0, credential: "one"),
        DelivererConfiguration.Route(app: "com.example.shop", environment: .production, index: 1, credential: "two"),
    ]

    private func standing(_ rig: DelivererRig) -> [String] {
        rig.application.configuration.board.standing.map { "\($0.place): \($0.reason ?? "works")" }
    }

    @Test("a refusal pauses its credential alone, and the board and the metrics say so until it is mended")
    func pausesAlone() throws {
        let rig = try DelivererRig(routes: Self.routes)
        try rig.bind("aa11")
        try rig.bind("bb22", app: "com.example.shop")
        try rig.create("1", "aa11")
        try rig.commit()
        rig.transport.refuse(403, "InvalidProviderToken")
        try rig.turn()
        #expect(standing(rig) == ["one/production: 403 InvalidProviderToken", "two/production: works"])
        let paused = #"hush_credential_paused{credential="one",environment="production"} "#
        #expect(rig.application.configuration.metrics.render().contains(paused + "1"))
        try rig.create("2", "aa11")
        try rig.create("1", "bb22", app: "com.example.shop")
        try rig.commit()
        #expect(rig.transport.sent.map(\.route) == [1])
        rig.transport.accept()
        try rig.pass(40)
        try rig.commit()
        #expect(rig.transport.sent.map(\.route) == [0])
        rig.transport.accept()
        try rig.turn()
        #expect(standing(rig) == ["one/production: works", "two/production: works"])
        #expect(rig.application.configuration.metrics.render().contains(paused + "0"))
    }

    @Test("new files of a paused credential are tried at once, and all that waited follows")
    func mended() throws {
        let rig = try DelivererRig()
        for name in ["aa11", "bb22", "cc33"] { try rig.bind(name) }
        try rig.create("1", "aa11")
        try rig.commit()
        rig.transport.refuse(403, "InvalidProviderToken")
        try rig.turn()
        for name in ["bb22", "cc33"] { try rig.create("1", name) }
        try rig.commit()
        try rig.pass(3)
        try rig.commit()
        #expect(rig.transport.sent.isEmpty)
        rig.transport.credentialVersions = [1]
        try rig.turn()
        try rig.commit()
        #expect(rig.transport.sent.count == 1)
        rig.transport.accept()
        try rig.pass(4)
        try rig.commit()
        #expect(rig.transport.sent.count == 2)
    }

    @Test("\"too many token updates\" pauses the credential and loses nothing")
    func tooManyTokens() throws {
        let rig = try DelivererRig()
        try rig.bind()
        try rig.create("1")
        try rig.commit()
        rig.transport.refuse(429, "TooManyProviderTokenUpdates")
        try rig.turn()
        #expect(standing(rig) == ["default/production: 429 TooManyProviderTokenUpdates"])
        #expect(try rig.commit().contains { $0.contains(#""outcome":"retry""#) })
        try rig.pass(40)
        try rig.commit()
        #expect(rig.left().count == 1)
    }

    @Test("\"too many requests\" delays its device alone")
    func tooManyRequests() throws {
        let rig = try DelivererRig()
        for name in ["aa11", "bb22"] { try rig.bind(name) }
        try rig.create("1", "aa11")
        try rig.commit()
        rig.transport.refuse(429, "TooManyRequests")
        try rig.turn()
        #expect(standing(rig) == ["default/production: works"])
        try rig.create("1", "bb22")
        try rig.commit()
        #expect(rig.transport.sent.map(\.token) == [Array("bb22".utf8)])
    }

    @Test("29: many tokens that do not fit stop the credential with a reason: their ops stay, no device is dropped")
    func misfits() throws {
        let rig = try DelivererRig()
        let names = (10..<50).map { "aa\($0)" }
        for name in names {
            try rig.bind(name)
            try rig.create("1", name)
        }
        try rig.commit()
        #expect(rig.transport.sent.count == 40)
        for _ in names { rig.transport.refuse(400, "BadDeviceToken") }
        try rig.turn()
        let lines = try rig.commit()
        #expect(lines.count { $0.contains(#""outcome":"rejected""#) } == 20)
        #expect(lines.count { $0.contains(#""outcome":"retry""#) } == 20)
        #expect(
            standing(rig) == [
                "default/production: 400 BadDeviceToken: most tokens do not fit, compare their environment and topic"
            ])
        #expect(try rig.commit(.devices).isEmpty)
        // One that fits shows that the tokens were meant for here; the others had their hour of rest.
        try rig.bind("bb22")
        try rig.create("1", "bb22")
        try rig.pass(40)
        try rig.commit()
        #expect(rig.transport.sent.map(\.token) == [Array("bb22".utf8)])
        rig.transport.accept()
        try rig.turn()
        #expect(standing(rig) == ["default/production: works"])
        try rig.pass(3600)
        try rig.commit()
        #expect(rig.transport.sent.count == 20)
    }

    @Test("a few tokens that do not fit among many that do stop nothing")
    func fewMisfits() {
        var breaker = CredentialBreaker()
        let now = Timestamp(millis: 0)
        let misfit = PushResult.answered(status: 400, reason: "BadDeviceToken", retryAfter: nil, timestamp: nil)
        let good = PushResult.answered(status: 200, reason: "", retryAfter: nil, timestamp: nil)
        var opened = 0
        for number in 0..<15_000 where breaker.took(number % 3 == 0 ? misfit : good, isRefused: false, now) {
            opened += 1
        }
        #expect(opened == 0 && breaker.isClosed)
    }

    @Test("17: 200 failures in a row open the breaker for 1 s, doubling to a minute; one good answer closes it")
    func outage() {
        var breaker = CredentialBreaker()
        var now = Timestamp(millis: 0)
        let bad = PushResult.answered(status: 503, reason: "ServiceUnavailable", retryAfter: nil, timestamp: nil)
        let good = PushResult.answered(status: 200, reason: "", retryAfter: nil, timestamp: nil)
        // Whether it opened the breaker.
        func took(_ result: PushResult) -> Bool { breaker.took(result, isRefused: false, now) }
        for _ in 0..<199 { #expect(!took(.unknown)) }
        #expect(!took(good) && breaker.isClosed)
        for _ in 0..<199 { #expect(!took(bad)) }
        #expect(took(.notSent))
        #expect(breaker.reason(of: .notSent) == "no answers")
        for pause in [1, 2, 4, 8, 16, 32, 60, 60] {
            let end = now + .seconds(Int64(pause))
            #expect(!breaker.allows(end - .milliseconds(1)) && breaker.nextAt(now) == end)
            now = end
            #expect(breaker.allows(now))
            breaker.left(now)
            // One tries at a time.
            #expect(!breaker.allows(now))
            #expect(took(bad))
        }
        now = now + .seconds(60)
        breaker.left(now)
        #expect(!took(good) && breaker.isClosed && breaker.allows(now))
    }

    @Test("17: an outage of APNs writes no held line, parks what is there and pauses the partition beyond the limit")
    func outageOfAPNs() throws {
        var policy = Policy()
        policy.opsParkedMax = 250
        let rig = try DelivererRig(policy: policy)
        let names = (1000..<1300).map { "aa\($0)" }
        for name in names.prefix(200) {
            try rig.bind(name)
            try rig.create("1", name)
        }
        var lines = try rig.commit()
        var failures = 0
        for _ in 0..<100 where failures < 200 {
            while failures < 200, !rig.transport.sent.isEmpty {
                rig.transport.refuse(503, "ServiceUnavailable")
                failures += 1
            }
            try rig.turn()
            lines += try rig.commit()
        }
        #expect(failures == 200)
        #expect(standing(rig) == ["default/production: 503 ServiceUnavailable"])
        for name in names.suffix(100) {
            try rig.bind(name)
            try rig.create("1", name)
        }
        lines += try rig.commit()
        #expect(rig.application.isSaturated)
        for _ in 0..<20 {
            try rig.pass(60)
            lines += try rig.commit()
            if !rig.transport.sent.isEmpty { rig.transport.refuse(503, "ServiceUnavailable") }
        }
        #expect(lines.contains { $0.contains(#""outcome":"retry""#) })
        #expect(!lines.contains { $0.contains(#""outcome":"held""#) })
        // It is over: all that waited leaves, and nothing of it is lost.
        var sent: Set<[UInt8]> = []
        for _ in 0..<40 {
            while let next = rig.transport.sent.first {
                sent.insert(next.token)
                rig.transport.accept()
            }
            try rig.pass(60)
            try rig.commit()
        }
        #expect(sent.count == 300 && !rig.application.isSaturated)
    }

    @Test("ops for an app that no credential leads to are rejected with that reason, and nothing waits for ever")
    func noCredential() throws {
        let rig = try DelivererRig(routes: Self.routes)
        try rig.bind("aa11", app: "com.example.other")
        try rig.create("1", "aa11", app: "com.example.other")
        let lines = try rig.commit()
        #expect(
            lines.contains {
                $0.contains(#""outcome":"rejected","final":true"#) && $0.contains(#""reason":"no_credential""#)
            })
        #expect(rig.task.parkedOps == 0 && rig.left().isEmpty)
        try rig.restart()
        #expect(try rig.commit().allSatisfy { !$0.contains("outcome") })
    }
}

@Suite("Credentials as they are set")
struct APNsRoutesTests {
    private func routes(_ arguments: [String: String]) throws -> APNsRoutes {
        var loader = SettingsLoader(table: HushSettings.table)
        for (key, value) in arguments { loader.addArgument(key, value) }
        return try APNsRoutes(try loader.load())
    }

    private func problems(_ arguments: [String: String]) -> [String] {
        do {
            _ = try routes(arguments)
            return []
        } catch let fault as SettingsFault {
            return fault.problems
        } catch {
            return ["\(error)"]
        }
    }

    private static let single = ["apns.key.file": "/k.p8", "apns.key.id": "ABC123DEFG", "apns.team.id": "TEAM123456"]

    @Test("the single form is one credential for every app, with a route for each environment")
    func single() throws {
        let made = try routes(Self.single)
        #expect(
            made.routes == [
                .init(environment: .production, index: 0), .init(environment: .sandbox, index: 1),
            ])
        #expect(made.apns.routes.map(\.host) == ["api.push.apple.com", "api.sandbox.push.apple.com"])
        let token = APNsConfiguration.Credential.token(keyFile: "/k.p8", keyID: "ABC123DEFG", teamID: "TEAM123456")
        #expect(made.apns.routes.map(\.credential) == [token, token])
    }

    @Test("credentials by name have topics, environments and a host of their own beside the default")
    func named() throws {
        let made = try routes(
            Self.single.merging([
                "apns.credential.shop.certificate.file": "/shop.pem",
                "apns.credential.shop.certificate.key.file": "/shop-key.pem",
                "apns.credential.shop.topics": "com.example.shop,com.example.shop.voip",
                "apns.credential.shop.environments": "sandbox", "apns.credential.shop.host": "tunnel.example:2197",
            ]) { $1 })
        #expect(
            made.routes[2...] == [
                .init(app: "com.example.shop", environment: .sandbox, index: 2, credential: "shop"),
                .init(app: "com.example.shop.voip", environment: .sandbox, index: 2, credential: "shop"),
            ])
        #expect(made.apns.routes.count == 3)
        #expect(made.apns.routes[2].host == "tunnel.example" && made.apns.routes[2].port == 2197)
        #expect(
            made.apns.routes[2].credential == .certificate(certificateFile: "/shop.pem", keyFile: "/shop-key.pem"))
        let configuration = DelivererConfiguration(build: "test", routes: made.routes)
        #expect(configuration.route("com.example.shop", .sandbox) == 2)
        #expect(configuration.route("com.example.shop", .production) == 0)
        #expect(configuration.route("com.example.app", .sandbox) == 1)
    }

    @Test("named credentials alone need no default, and an app that none names has no way")
    func namedAlone() throws {
        let made = try routes([
            "apns.credential.a.key.file": "/AuthKey_ABC123DEFG.p8", "apns.credential.a.team.id": "TEAM123456",
            "apns.credential.a.topics": "com.example.a",
        ])
        let configuration = DelivererConfiguration(build: "test", routes: made.routes)
        #expect(configuration.route("com.example.a", .production) == 0)
        #expect(configuration.route("com.example.b", .production) == nil)
    }

    @Test(
        "what is missing or contradicts is told with its keys",
        arguments: [
            (
                ["apns.credential.a.key.id": "X"],
                [
                    "apns.credential.a.key.file is not set: the deliver stage needs it to sign in at APNs",
                    "apns.credential.a.team.id is not set: the deliver stage needs it to sign in at APNs",
                ]
            ),
            (
                ["apns.certificate.file": "/c.pem", "apns.team.id": "T"],
                [
                    "apns.certificate.key.file is not set: the deliver stage needs it to sign in at APNs",
                    "apns.team.id and apns.certificate.file are both set: a credential is a token key or a certificate",
                ]
            ),
            (
                [
                    "apns.credential.a.key.file": "/a.p8", "apns.credential.a.team.id": "A",
                    "apns.credential.a.topics": "x", "apns.credential.b.key.file": "/b.p8",
                    "apns.credential.b.team.id": "B", "apns.credential.b.topics": "x",
                    "apns.credential.b.environments": "sandbox",
                ],
                [
                    "the credentials a and b both name x in sandbox: give each topic to one of them by "
                        + "apns.credential.NAME.topics"
                ]
            ),
        ])
    func contradictions(arguments: [String: String], expected: [String]) {
        #expect(problems(arguments) == expected)
    }
}
