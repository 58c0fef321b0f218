// swift-tools-version: 6.2
import PackageDescription

// libFuzzer over what reads strangers' bytes, and the answers of senders; `scripts/fuzz` builds and
// runs it.
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
        .product(name: "AttacheQueue", package: "attache"),
        .product(name: "AttacheSenders", package: "attache"),
      ],
      swiftSettings: [
        .enableUpcomingFeature("ExistentialAny"),
        .enableUpcomingFeature("InternalImportsByDefault"),
        .enableUpcomingFeature("MemberImportVisibility"),
        .strictMemorySafety(),
        .treatAllWarnings(as: .error),
      ]),
  ]
)
