// swift-tools-version: 6.2
import PackageDescription

// A package of its own: SwiftPM puts all modules of a build into one folder. Beside attache's
// targets, a target `os` would make `canImport(os)` true in every dependency of attache.

/// Extensions are compiled in this mode too, unless their author says otherwise.
let settings: [SwiftSetting] = [.swiftLanguageMode(.v5)]

/// The modules that an extension imports, each with the modules under it.
let modules: [(name: String, dependencies: [Target.Dependency])] = [
  ("AppleFoundation", ["CExtensionRuntime", "OriginalFoundation"]),
  ("UserNotifications", ["AppleFoundation"]),
  ("CoreGraphics", ["CExtensionRuntime", "AppleFoundation"]),
  ("UniformTypeIdentifiers", ["AppleFoundation"]),
  ("MobileCoreServices", ["AppleFoundation", "UniformTypeIdentifiers"]),
  ("UIKit", ["CExtensionRuntime", "AppleFoundation", "CoreGraphics", "UniformTypeIdentifiers", "UserNotifications"]),
  ("ImageIO", ["CExtensionRuntime", "AppleFoundation", "CoreGraphics"]),
  ("Intents", ["AppleFoundation", "UserNotifications"]),
  ("OSLog", ["AppleFoundation"]),
  ("Security", ["AppleFoundation"]),
  ("SystemConfiguration", ["AppleFoundation"]),
  ("WidgetKit", ["AppleFoundation"]),
  ("Network", ["AppleFoundation"]),
  ("CommonCrypto", ["CExtensionRuntime", "AppleFoundation"]),
  ("CryptoKit", ["CExtensionRuntime", "AppleFoundation"]),
  ("VendorMedia", ["AppleFoundation", "UserNotifications"]),
  ("FirebaseMessaging", ["AppleFoundation", "UserNotifications", "VendorMedia"]),
  ("Firebase", ["FirebaseMessaging"]),
  ("OneSignalExtension", ["AppleFoundation", "UserNotifications", "VendorMedia"]),
  ("OneSignal", ["OneSignalExtension"]),
  ("CTNotificationService", ["AppleFoundation", "UserNotifications", "VendorMedia"]),
  ("CleverTapSDK", ["AppleFoundation"]),
  ("BackgroundTasks", ["AppleFoundation"]),
  ("ExtensionRuntime", ["CExtensionRuntime", "AppleFoundation", "UserNotifications"]),
  ("DelegateRuntime", ["ExtensionRuntime", "AppleFoundation", "UIKit"]),
]

let package = Package(
  name: "AppleFrameworks",
  products: [.library(name: "AppleFrameworks", targets: modules.map(\.name))],
  targets: [
    .target(name: "CExtensionRuntime", cSettings: [.define("_GNU_SOURCE")]),
    .target(name: "OriginalFoundation", swiftSettings: settings),
  ] + modules.map { .target(name: $0.name, dependencies: $0.dependencies, swiftSettings: settings) }
)
