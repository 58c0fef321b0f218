// swift-tools-version: 6.2
import PackageDescription

// libFuzzer over the parts of the filter that read what strangers send; `scripts/fuzz` builds and runs it.
let package = Package(
  name: "fuzz",
  dependencies: [.package(name: "attache", path: "..")],
  targets: [
    .systemLibrary(name: "CCurlURL", pkgConfig: "libcurl"),
    .executableTarget(
      name: "fuzz",
      dependencies: ["CCurlURL", .product(name: "Attache", package: "attache")],
      swiftSettings: [
        .enableUpcomingFeature("ExistentialAny"),
        .enableUpcomingFeature("InternalImportsByDefault"),
        .enableUpcomingFeature("MemberImportVisibility"),
        .strictMemorySafety(),
        .treatAllWarnings(as: .error),
      ]),
  ]
)
