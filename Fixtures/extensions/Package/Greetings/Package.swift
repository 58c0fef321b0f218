// swift-tools-version: 6.0
import PackageDescription

let package = Package(
  name: "Greetings",
  products: [.library(name: "Greetings", targets: ["Greetings"])],
  targets: [.target(name: "Greetings")]
)
