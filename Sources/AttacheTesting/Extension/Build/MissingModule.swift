/// Says what a module is that an extension imports and that is not there.
enum MissingModule {
  /// Frameworks of Apple's platforms that have no counterpart here.
  private static let frameworks: Set<String> = [
    "AVFoundation", "AVKit", "ActivityKit", "AppKit", "CallKit", "CloudKit", "Combine", "Contacts", "CoreData", "CoreImage",
    "CoreLocation", "CoreMedia", "CoreTelephony", "CoreText", "EventKit", "LocalAuthentication", "MapKit", "MediaPlayer",
    "MessageUI", "PassKit", "Photos", "PushKit", "QuartzCore", "StoreKit", "SwiftData", "SwiftUI", "UserNotificationsUI",
    "WatchConnectivity", "WebKit",
  ]
  /// SDKs that are distributed as binaries or in Objective-C, by the beginnings of their modules'
  /// names.
  private static let sdks = [
    "Airship", "Batch", "Braze", "CIO", "CTNotification", "CleverTap", "Customer", "Firebase", "Flutter", "IterableAppExtensions",
    "Klaviyo",
    "Leanplum", "MoEngage", "Notificare", "OneSignal", "Pushwoosh", "React", "SFMC", "Sentry", "WebEngage", "Infobip", "Kumulos",
    "Optimove",
  ]

  /// Returns one sentence for each module that the compiler did not find, in the compiler's order.
  static func advice(_ diagnostics: String) -> [String] {
    var advice: [String] = []
    for name in names(in: diagnostics, between: "no such module '", and: "'") {
      let sentence = sentence(name)
      if !advice.contains(sentence) { advice.append(sentence) }
    }
    return advice
  }

  /// Returns the number of imports in a source that attache knows to be missing.
  static func count(in source: String) -> Int {
    source.split(separator: "\n").count { line in
      let words = line.split(separator: " ")
      guard words.first == "import", let module = words.last.map(String.init) else { return false }
      return frameworks.contains(module) || sdks.contains { module.hasPrefix($0) }
    }
  }

  private static func sentence(_ module: String) -> String {
    if frameworks.contains(module) {
      return
        "\(module) is a framework of Apple's platforms, which attache does not have. Move what uses it into a file that is not part of this build."
    }
    if sdks.contains(where: { module.hasPrefix($0) }) {
      return
        "\(module) belongs to a vendor's SDK for Apple's platforms, which does not run on Linux. Rehearse the code around it without the import."
    }
    return
      "\(module) is not a module of attache's extension library. If it is a Swift package, make the extension a package that depends on it."
  }

  /// Returns the texts between two markers, each once, in order.
  static func names(in text: String, between start: String, and end: String) -> [String] {
    var names: [String] = []
    var rest = text[...]
    while let found = rest.firstRange(of: start) {
      rest = rest[found.upperBound...]
      guard let close = rest.firstRange(of: end) else { break }
      let name = String(rest[..<close.lowerBound])
      if !names.contains(name) { names.append(name) }
      rest = rest[close.upperBound...]
    }
    return names
  }
}
