// swift-tools-version: 6.2
import PackageDescription

// A package that rehearses its own code with AttacheTesting. Outside this repository the dependency
// is a URL and a version.
let package = Package(
  name: "sample",
  dependencies: [.package(name: "attache", path: "../..")],
  targets: [
    // The example of README.md.
    .executableTarget(name: "Library", dependencies: [.product(name: "Attache", package: "attache")]),
    .testTarget(
      name: "SampleTests",
      dependencies: [
        .product(name: "Attache", package: "attache"),
        .product(name: "AttacheTesting", package: "attache"),
      ]),
  ]
)
