// swift-tools-version: 6.2
import PackageDescription

let strict: [SwiftSetting] = [
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("InternalImportsByDefault"),
  .enableUpcomingFeature("MemberImportVisibility"),
  .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
  .strictMemorySafety(),
  .treatAllWarnings(as: .error),
]

// Tests are not optimised in a build for release either: that takes longer than it saves. File by
// file, they are compiled on every core.
let tests = strict + [.unsafeFlags(["-Onone", "-no-whole-module-optimization", "-enable-batch-mode"], .when(configuration: .release))]

let package = Package(
  name: "attache",
  products: [
    .executable(name: "attache", targets: ["attache"]),
    .executable(name: "attache-tools", targets: ["attache-tools"]),
    .library(name: "Attache", targets: ["Attache"]),
    .library(name: "AttachePostgreSQL", targets: ["AttachePostgreSQL"]),
    .library(name: "AttacheQueue", targets: ["AttacheQueue"]),
    .library(name: "AttacheSenders", targets: ["AttacheSenders"]),
    .library(name: "AttacheTesting", targets: ["AttacheTesting"]),
  ],
  dependencies: [
    .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
    .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
    .package(url: "https://github.com/apple/swift-nio", from: "2.101.2"),
    .package(url: "https://github.com/apple/swift-nio-http2", from: "1.46.0"),
    .package(url: "https://github.com/apple/swift-nio-ssl", from: "2.37.6"),
    .package(url: "https://github.com/CoreOffice/XMLCoder", from: "0.18.2"),
    .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
    .package(url: "https://github.com/hummingbird-project/swift-mustache", from: "2.1.1"),
    .package(url: "https://github.com/jpsim/Yams", from: "6.2.2"),
  ],
  targets: [
    .systemLibrary(name: "CCurl", path: "Sources/C/CCurl", pkgConfig: "libcurl", providers: [.apt(["libcurl4-openssl-dev"])]),
    .systemLibrary(name: "CMagic", path: "Sources/C/CMagic", pkgConfig: "libmagic", providers: [.apt(["libmagic-dev"])]),
    .target(name: "CSandbox", path: "Sources/C/CSandbox", cSettings: [.define("_GNU_SOURCE")]),
    .target(name: "CChild", dependencies: ["CSandbox"], path: "Sources/C/CChild", cSettings: [.define("_GNU_SOURCE")]),
    .target(name: "CDetector", dependencies: ["CMagic", "CChild"], path: "Sources/C/CDetector", cSettings: [.define("_GNU_SOURCE")]),
    .target(name: "CConverter", dependencies: ["CChild"], path: "Sources/C/CConverter", cSettings: [.define("_GNU_SOURCE")]),
    .target(name: "CFetcher", dependencies: ["CChild", "CSandbox"], path: "Sources/C/CFetcher", cSettings: [.define("_GNU_SOURCE")]),
    .systemLibrary(name: "CZlib", path: "Sources/C/CZlib", pkgConfig: "zlib", providers: [.apt(["zlib1g-dev"])]),
    .systemLibrary(name: "CSQLite", path: "Sources/C/CSQLite", pkgConfig: "sqlite3", providers: [.apt(["libsqlite3-dev"])]),
    .systemLibrary(name: "CAres", path: "Sources/C/CAres", pkgConfig: "libcares", providers: [.apt(["libc-ares-dev"])]),
    .systemLibrary(name: "CNGHTTP2", path: "Sources/C/CNGHTTP2", pkgConfig: "libnghttp2", providers: [.apt(["libnghttp2-dev"])]),
    .systemLibrary(name: "COpenSSL", path: "Sources/C/COpenSSL", pkgConfig: "openssl", providers: [.apt(["libssl-dev"])]),
    .systemLibrary(name: "CLinux", path: "Sources/C/CLinux"),
    .target(name: "CDialects", path: "Sources/C/CDialects"),
    .target(name: "CPage", path: "Sources/C/CPage"),
    .target(name: "CPQ", path: "Sources/C/CPQ", linkerSettings: [.linkedLibrary("dl")]),
    .target(name: "CSimdJSON", path: "Sources/C/CSimdJSON", linkerSettings: [.linkedLibrary("simdjson")]),
    .target(
      name: "Attache",
      dependencies: [
        "CCurl", "CMagic", "CSandbox", "CChild", "CDetector", "CConverter", "CFetcher", "CZlib", "CSQLite", "CAres", "CLinux", "CDialects",
        "CSimdJSON", "COpenSSL",
      ],
      exclude: ["Dialects/dialects.json"],
      swiftSettings: strict),
    .target(name: "AttacheInspection", dependencies: ["Attache"], swiftSettings: strict),
    .target(
      name: "AttacheArguments",
      dependencies: [
        "Attache", "AttacheMetrics",
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
        .product(name: "Logging", package: "swift-log"),
      ],
      swiftSettings: strict),
    .target(name: "AttacheMetrics", dependencies: ["Attache", "CLinux"], swiftSettings: strict),
    .target(
      name: "AttacheQueue",
      dependencies: [
        "Attache", "AttacheMetrics", "CLinux",
        .product(name: "GRDB", package: "GRDB.swift"),
        .product(name: "GRDBSQLite", package: "GRDB.swift"),
      ],
      swiftSettings: strict),
    .target(name: "AttachePostgreSQL", dependencies: ["Attache", "AttacheQueue", "CPQ"], swiftSettings: strict),
    .target(
      name: "AttacheSenders",
      dependencies: ["Attache", "AttacheQueue", "CCurl", "CLinux", "CNGHTTP2", "COpenSSL"],
      swiftSettings: strict),
    .target(
      name: "AttacheTesting",
      dependencies: [
        "Attache", "CLinux", "COpenSSL",
        .product(name: "NIOCore", package: "swift-nio"),
        .product(name: "NIOPosix", package: "swift-nio"),
        .product(name: "NIOHTTP1", package: "swift-nio"),
        .product(name: "NIOHTTP2", package: "swift-nio-http2"),
        .product(name: "NIOSSL", package: "swift-nio-ssl"),
        .product(name: "Yams", package: "Yams"),
      ],
      swiftSettings: strict),
    .executableTarget(
      name: "attache",
      dependencies: [
        "Attache", "AttacheArguments", "AttacheInspection", "AttacheMetrics",
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
        .product(name: "Logging", package: "swift-log"),
      ],
      path: "Sources/AttacheCommand",
      swiftSettings: strict),
    .executableTarget(
      name: "attache-tools",
      dependencies: [
        "Attache", "AttacheArguments", "AttacheInspection", "AttacheMetrics", "AttachePostgreSQL", "AttacheQueue", "AttacheSenders",
        "AttacheTesting", "CPage",
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
        .product(name: "Logging", package: "swift-log"),
        .product(name: "Mustache", package: "swift-mustache"),
        .product(name: "XMLCoder", package: "XMLCoder"),
      ],
      path: "Sources/ToolsCommand",
      exclude: ["Preview/Page"],
      swiftSettings: strict),
    .target(name: "CTripwire", path: "Tests/CTripwire"),
    .target(
      name: "CFetcherProbe", dependencies: ["CFetcher", "CSandbox"], path: "Tests/CFetcherProbe", cSettings: [.define("_GNU_SOURCE")]),
    .target(name: "CPictureProbe", dependencies: ["CConverter"], path: "Tests/CPictureProbe"),
    .target(
      name: "CMisbehaviour", dependencies: ["CChild", "CConverter", "CMagic"], path: "Tests/CMisbehaviour",
      cSettings: [.define("_GNU_SOURCE")]),
    .target(
      name: "Tripwire", dependencies: ["Attache", "AttacheTesting", "CTripwire"], path: "Tests/Tripwire", swiftSettings: strict),
    .testTarget(
      name: "AttacheTests",
      dependencies: ["Attache", "AttacheTesting", "CFetcherProbe", "CMisbehaviour", "CPictureProbe", "CSandbox", "Tripwire"],
      exclude: ["URL/Vectors"],
      swiftSettings: tests),
    .testTarget(
      name: "AttacheInspectionTests", dependencies: ["Attache", "AttacheInspection", "AttacheTesting"], swiftSettings: tests),
    .testTarget(
      name: "AttacheQueueTests",
      dependencies: [
        "Attache", "AttacheMetrics", "AttachePostgreSQL", "AttacheQueue", "AttacheTesting", "Tripwire",
        .product(name: "GRDB", package: "GRDB.swift"),
      ],
      swiftSettings: tests),
    .testTarget(
      name: "AttacheSendersTests",
      dependencies: ["Attache", "AttacheQueue", "AttacheSenders", "AttacheTesting", "Tripwire"],
      swiftSettings: tests),
    .testTarget(
      name: "AttacheTestingTests",
      dependencies: [
        "Attache", "AttacheTesting", "Tripwire",
        .product(name: "NIOCore", package: "swift-nio"),
        .product(name: "NIOPosix", package: "swift-nio"),
        .product(name: "NIOHTTP1", package: "swift-nio"),
        .product(name: "NIOHTTP2", package: "swift-nio-http2"),
        .product(name: "NIOSSL", package: "swift-nio-ssl"),
      ],
      swiftSettings: tests),
    .testTarget(
      name: "CommandTests",
      dependencies: ["Attache", "AttacheInspection", "AttacheTesting", "COpenSSL", "Tripwire", "attache", "attache-tools"],
      swiftSettings: tests),
  ],
  cxxLanguageStandard: .cxx17
)
