// swift-tools-version: 6.2
import PackageDescription

/// What every Swift target is built with: the language's sixth mode is the tools version's default, a warning is an error.
let strict: [SwiftSetting] = [
    .treatAllWarnings(as: .error),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
]

func system(_ name: String, pkgConfig: String, apt: String) -> Target {
    .systemLibrary(name: name, pkgConfig: pkgConfig, providers: [.apt([apt])])
}

func module(_ name: String, _ dependencies: [Target.Dependency]) -> Target {
    .target(name: name, dependencies: dependencies, swiftSettings: strict)
}

func tests(_ name: String, _ dependencies: [Target.Dependency], resources: [Resource]? = nil) -> Target {
    .testTarget(name: name, dependencies: dependencies, resources: resources, swiftSettings: strict)
}

let package = Package(
    name: "hush",
    products: [
        .executable(name: "hush", targets: ["hush"]),
        .library(name: "HushKit", targets: ["HushKit"]),
    ],
    targets: [
        system("CRdKafka", pkgConfig: "rdkafka", apt: "librdkafka-dev"),
        system("CNghttp2", pkgConfig: "libnghttp2", apt: "libnghttp2-dev"),
        system("COpenSSL", pkgConfig: "openssl", apt: "libssl-dev"),
        system("CRocksDB", pkgConfig: "rocksdb", apt: "librocksdb-dev"),
        system("CLibevent", pkgConfig: "libevent", apt: "libevent-dev"),
        system("CSQLite", pkgConfig: "sqlite3", apt: "libsqlite3-dev"),
        .target(name: "CLinux"),
        .target(name: "CSimdjson", linkerSettings: [.linkedLibrary("simdjson")]),

        module("HushCore", []),
        module("HushKit", ["HushCore"]),
        module("HushBase", ["CLinux"]),
        module("HushStream", ["HushBase", "CLinux", "CRdKafka", "CRocksDB"]),
        module("HushAPNs", ["HushBase", "CLinux", "CNghttp2", "COpenSSL"]),
        module(
            "HushWorkers",
            ["HushCore", "HushBase", "HushStream", "HushAPNs", "CSimdjson", "CLibevent", "CLinux"]),
        module(
            "HushSimulator",
            ["HushCore", "HushBase", "HushKit", "HushAPNs", "HushStream", "HushWorkers", "CLinux"]),
        module("HushAudit", ["HushCore", "HushBase", "HushStream", "HushAPNs", "HushWorkers", "CSQLite", "CLinux"]),
        module(
            "HushLoad", ["HushCore", "HushBase", "HushKit", "HushStream", "HushWorkers", "HushSimulator", "CLinux"]),
        .executableTarget(
            name: "hush",
            dependencies: [
                "HushCore", "HushBase", "HushStream", "HushWorkers", "HushSimulator", "HushAudit", "HushLoad",
            ],
            swiftSettings: strict),
        .executableTarget(
            name: "hush-benchmarks",
            dependencies: [
                "HushCore", "HushBase", "HushStream", "HushAPNs", "HushWorkers", "HushSimulator", "HushAudit", "CLinux",
            ],
            path: "Benchmarks", swiftSettings: strict),

        tests("HushCoreTests", ["HushCore"]),
        tests("HushKitTests", ["HushKit", "HushCore"]),
        tests("HushBaseTests", ["HushBase", "CLinux"]),
        tests("HushStreamTests", ["HushStream", "HushBase"]),
        tests("HushAPNsTests", ["HushAPNs", "HushBase"]),
        tests("HushWorkersTests", ["HushWorkers", "HushCore", "HushBase", "HushStream", "HushAPNs"]),
        tests("HushSimulatorTests", ["HushSimulator", "HushCore", "HushKit", "HushBase", "HushAPNs", "HushWorkers"]),
        tests(
            "HushAuditTests", ["HushAudit", "HushWorkers", "HushCore", "HushBase", "HushStream", "HushAPNs"]),
        tests(
            "HushLoadTests", ["HushLoad", "HushSimulator", "HushWorkers", "HushCore", "HushBase", "HushStream"]),
        tests(
            "PipelineTests",
            [
                "HushSimulator", "HushKit", "HushWorkers", "HushAudit", "HushCore", "HushBase", "HushStream",
                "HushAPNs",
            ]),
        tests("CommandTests", ["hush"]),
        tests("StyleTests", []),
    ],
    swiftLanguageModes: [.v6],
    cxxLanguageStandard: .cxx17
)
