// swift-tools-version: 6.2
import PackageDescription

// libFuzzer over what reads strangers' bytes, and the answers of senders; `scripts/fuzz` builds and
// runs it. The targets `answers` and `replies` need GRDB, which takes long to build. They are built only
// when this variable is set.
let hasSenders = Context.environment["ATTACHE_FUZZ_SENDERS"] != nil

let package = Package(
  name: "fuzz",
  dependencies: [.package(name: "attache", path: "..")],
  targets: [
    .systemLibrary(name: "CCurlURL", pkgConfig: "libcurl"),
    .executableTarget(
      name: "fuzz",
      dependencies: [
        "CCurlURL",
        .product(name: "Attache", package: "attache"),
      ]
        + (hasSenders ? [.product(name: "AttacheQueue", package: "attache"), .product(name: "AttacheSenders", package: "attache")] : []),
      exclude: hasSenders ? [] : ["AnswersTarget.swift", "RepliesTarget.swift"],
      swiftSettings: [
        .enableUpcomingFeature("ExistentialAny"),
        .enableUpcomingFeature("InternalImportsByDefault"),
        .enableUpcomingFeature("MemberImportVisibility"),
        .strictMemorySafety(),
        .treatAllWarnings(as: .error),
      ] + (hasSenders ? [.define("SENDERS")] : [])),
  ]
)
