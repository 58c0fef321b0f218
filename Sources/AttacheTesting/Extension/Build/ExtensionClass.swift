/// What a program runs.
package enum ExtensionKind: Sendable {
  case serviceExtension
  /// The delegate of an app, which receives silent pushes.
  case appDelegate

  /// The type of Apple's that the class has.
  var apple: String {
    switch self {
    case .serviceExtension: "UNNotificationServiceExtension"
    case .appDelegate: "UIApplicationDelegate"
    }
  }
}

/// The classes of a module that are service extensions or app delegates, from the compiler's symbol
/// graph.
struct ExtensionClasses {
  /// The base classes of service extensions, and the protocol of delegates, as the symbol graph names classes of other modules.
  private static let bases: Set<String> = [
    "UserNotifications.UNNotificationServiceExtension", "CTNotificationService.CTNotificationServiceExtension",
    "UIKit.UIApplicationDelegate",
  ]

  /// The names of the classes, sorted.
  let names: [String]

  /// - Parameter graph: the symbol graph, as JSON.
  /// - Returns: nil if it is not a symbol graph.
  init?(graph: [UInt8], _ kind: ExtensionKind) {
    guard let root = try? JSONReader.read(graph[...]), case .array(let symbols)? = root.value(at: ["symbols"]),
      case .array(let relationships)? = root.value(at: ["relationships"])
    else { return nil }
    var titles: [String: String] = [:]
    for symbol in symbols {
      guard let identifier = symbol.text(at: ["identifier", "precise"]), case .array(let path)? = symbol.value(at: ["pathComponents"])
      else { continue }
      titles[identifier] = path.compactMap(\.text).joined(separator: ".")
    }
    var parents: [String: [String]] = [:]
    var bases: Set<String> = []
    for relationship in relationships where relationship.text(at: ["kind"]) == kind.relationship {
      guard let source = relationship.text(at: ["source"]), let target = relationship.text(at: ["target"]) else { continue }
      parents[source, default: []].append(target)
      if let name = relationship.text(at: ["targetFallback"]), Self.bases.contains(name) { bases.insert(target) }
    }
    var found = parents.keys.filter { Self.leads($0, to: bases, parents) }
    // A class that others inherit from is there for them.
    let inherited = Set(found.flatMap { parents[$0] ?? [] })
    found.removeAll(where: inherited.contains)
    names = found.compactMap { titles[$0] }.sorted()
  }

  /// Whether a class has a base, by way of other classes of the module or directly.
  private static func leads(_ name: String, to bases: Set<String>, _ parents: [String: [String]]) -> Bool {
    var (seen, rest) = (Set<String>(), [name])
    while let next = rest.popLast() {
      // A program has no cycle of classes, but a file might.
      for parent in parents[next] ?? [] where seen.insert(parent).inserted {
        if bases.contains(parent) { return true }
        rest.append(parent)
      }
    }
    return false
  }
}

extension ExtensionKind {
  /// The relationship of a class to ``apple``, as the symbol graph names it.
  fileprivate var relationship: String {
    switch self {
    case .serviceExtension: "inheritsFrom"
    case .appDelegate: "conformsTo"
    }
  }
}

extension JSONValue {
  /// The text of a string; nil for any other value.
  var text: String? {
    if case .string(let bytes) = self { String(decoding: bytes, as: UTF8.self) } else { nil }
  }

  /// Returns the text of the string at a path.
  func text(at path: [String]) -> String? {
    value(at: path)?.text
  }
}
