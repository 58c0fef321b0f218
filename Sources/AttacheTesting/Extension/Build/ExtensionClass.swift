/// The classes of a module that are service extensions, from the compiler's symbol graph.
struct ExtensionClasses {
  /// `UNNotificationServiceExtension`, as the symbol graph identifies it.
  private static let base = "s:17UserNotifications30UNNotificationServiceExtensionC"

  /// The names of the classes, sorted.
  let names: [String]

  /// - Parameter graph: the symbol graph, as JSON.
  /// - Returns: nil if it is not a symbol graph.
  init?(graph: [UInt8]) {
    guard let root = try? JSONReader.read(graph[...]), case .array(let symbols)? = root.value(at: ["symbols"]),
      case .array(let relationships)? = root.value(at: ["relationships"])
    else { return nil }
    var titles: [String: String] = [:]
    for symbol in symbols {
      guard let identifier = symbol.text(at: ["identifier", "precise"]), case .array(let path)? = symbol.value(at: ["pathComponents"])
      else { continue }
      titles[identifier] = path.compactMap(\.text).joined(separator: ".")
    }
    var parents: [String: String] = [:]
    for relationship in relationships where relationship.text(at: ["kind"]) == "inheritsFrom" {
      guard let source = relationship.text(at: ["source"]), let target = relationship.text(at: ["target"]) else { continue }
      parents[source] = target
    }
    var extensions = parents.keys.filter { Self.isExtension($0, parents) }
    // A class that others inherit from is there for them.
    let inherited = Set(extensions.compactMap { parents[$0] })
    extensions.removeAll(where: inherited.contains)
    names = extensions.compactMap { titles[$0] }.sorted()
  }

  private static func isExtension(_ name: String, _ parents: [String: String]) -> Bool {
    var name = name
    // A program has no cycle of classes, but a file might.
    for _ in 0..<parents.count {
      guard let parent = parents[name] else { return false }
      if parent == base { return true }
      name = parent
    }
    return false
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
