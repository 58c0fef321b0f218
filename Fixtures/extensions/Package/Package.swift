// swift-tools-version: 6.0
import PackageDescription

// A service extension as a package, with a package that it depends on.
let package = Package(
  name: "NotificationService",
  dependencies: [.package(path: "Greetings")],
  targets: [
    .executableTarget(
      name: "NotificationService", dependencies: [.product(name: "Greetings", package: "Greetings")],
      swiftSettings: [.swiftLanguageMode(.v5)])
  ]
)
