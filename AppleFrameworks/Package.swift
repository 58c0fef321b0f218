// swift-tools-version: 6.2
import PackageDescription

// A package of its own: SwiftPM puts all modules of a build into one folder. Beside attache's
// targets, a target `os` would make `canImport(os)` true in every dependency of attache.

/// Extensions are compiled in this mode too, unless their author says otherwise.
let settings: [SwiftSetting] = [.swiftLanguageMode(.v5)]

/// The modules that an extension imports, each with the modules under it.
let modules: [(name: String, dependencies: [Target.Dependency])] = [
  ("Groundwork", ["CExtensionRuntime", "OriginalFoundation"]),
  ("UserNotifications", ["Groundwork"]),
  ("CoreGraphics", ["CExtensionRuntime", "Groundwork"]),
  ("UniformTypeIdentifiers", ["Groundwork"]),
  ("MobileCoreServices", ["Groundwork", "UniformTypeIdentifiers"]),
  ("UIKit", ["CExtensionRuntime", "Groundwork", "CoreGraphics", "UniformTypeIdentifiers", "UserNotifications"]),
  ("ImageIO", ["CExtensionRuntime", "Groundwork", "CoreGraphics"]),
  ("Intents", ["Groundwork", "UserNotifications"]),
  ("OSLog", ["Groundwork"]),
  ("Security", ["Groundwork"]),
  ("SystemConfiguration", ["Groundwork"]),
  ("WidgetKit", ["Groundwork"]),
  ("Network", ["Groundwork"]),
  ("CommonCrypto", ["CExtensionRuntime", "Groundwork"]),
  ("CryptoKit", ["CExtensionRuntime", "Groundwork"]),
  ("VendorMedia", ["Groundwork", "UserNotifications"]),
  ("FirebaseMessaging", ["Groundwork", "UserNotifications", "VendorMedia"]),
  ("Firebase", ["FirebaseMessaging"]),
  ("OneSignalExtension", ["Groundwork", "UserNotifications", "VendorMedia"]),
  ("OneSignal", ["OneSignalExtension"]),
  ("CTNotificationService", ["Groundwork", "UserNotifications", "VendorMedia"]),
  ("CleverTapSDK", ["Groundwork"]),
  ("BackgroundTasks", ["Groundwork"]),
  ("ExtensionRuntime", ["CExtensionRuntime", "Groundwork", "UserNotifications"]),
  ("DelegateRuntime", ["ExtensionRuntime", "Groundwork", "UIKit"]),
]

let package = Package(
  name: "AppleFrameworks",
  products: [.library(name: "AppleFrameworks", targets: modules.map(\.name))],
  targets: [
    .target(name: "CExtensionRuntime", cSettings: [.define("_GNU_SOURCE")]),
    .target(name: "OriginalFoundation", swiftSettings: settings),
  ] + modules.map { .target(name: $0.name, dependencies: $0.dependencies, swiftSettings: settings) }
)
