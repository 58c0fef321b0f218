/// Which dialects are asked, and in which order.
///
/// The user's media keys come first. Then the dialects, in the table's order or the user's: what several of them name is taken together,
/// each URL once, under the first that named it. A specific dialect beats the generic keys: these are asked only when no other dialect
/// before them found media. Media keys hold them back as little as they hold back a vendor: a user adds to what the dialects find.
public struct DialectTable: Sendable {
  package let rows: [Dialect]

  /// All dialects in their own order.
  ///
  /// - Parameter mediaKeys: further places to look for a URL; they come first.
  public init(mediaKeys: [JSONPointer] = []) {
    self.init(rows: [.mediaKeys(mediaKeys)] + Dialect.builtIn)
  }

  /// Only the named dialects, in this order; a name that comes again counts once.
  ///
  /// - Parameters:
  ///   - names: some of ``knownNames``.
  ///   - mediaKeys: further places to look for a URL; they come first whatever the names say.
  public init(names: [String], mediaKeys: [JSONPointer] = []) throws(DialectTableError) {
    var chosen: [Dialect] = []
    for name in names where !chosen.contains(where: { $0.name == name }) {
      guard let row = Dialect.builtIn.first(where: { $0.name == name }) else { throw .unknown(name) }
      chosen.append(row)
    }
    self.init(rows: [.mediaKeys(mediaKeys)] + chosen)
  }

  package init(rows: [Dialect]) {
    self.rows = rows
  }

  /// The names that `--dialect` takes, in the table's order.
  public static var knownNames: [String] {
    Dialect.builtIn.map(\.name)
  }
}

/// Why a list of names makes no table.
public enum DialectTableError: Error, Equatable, CustomStringConvertible {
  case unknown(String)

  /// What is wrong and what to write instead.
  public var description: String {
    switch self {
    case .unknown(let name):
      "there is no dialect “\(name)”; the dialects are \(DialectTable.knownNames.joined(separator: ", ")) (for a key of your own, use --media-key)"
    }
  }
}
