/// Which dialects are asked, and in which order.
///
/// The user's media keys come first, then the user's own dialects, then the built-in ones, in the
/// table's order or the user's: what several of them name is taken together, each URL once, under
/// the first that named it. A specific dialect beats the generic keys: these are asked only when no
/// other dialect before them found media. Media keys hold them back as little as they hold back a
/// vendor: a user adds to what the dialects find.
public struct DialectTable: Sendable {
  package let rows: [Dialect]
  /// Whether media are passed over that the vendor's own helper would not load.
  package let isStrict: Bool

  /// All built-in dialects in their own order.
  ///
  /// - Parameter mediaKeys: further places to look for a URL; they come first.
  public init(mediaKeys: [JSONPointer] = []) {
    rows = [.mediaKeys(mediaKeys)] + Dialect.builtInOutlines
    isStrict = false
  }

  /// The built-in dialects and the user's own: those of a known name take its place, others come
  /// before the built-in ones.
  ///
  /// - Parameters:
  ///   - names: which dialects are asked, by name or alias, in this order; nil for all. A name that
  ///     comes again counts once.
  ///   - mediaKeys: further places to look for a URL; they come first whatever the names say.
  ///   - files: the user's dialects; of two of one name the later counts.
  ///   - isStrict: whether media are passed over that the vendor's own helper would not load:
  ///     without the hint at the type that it needs,
  ///     or from a plain http URL when it takes none.
  public init(
    names: [String]? = nil, mediaKeys: [JSONPointer] = [], files: [DialectFile] = [], isStrict: Bool = false
  ) throws(DialectTableError) {
    var rows = Dialect.builtInOutlines
    var own: [Dialect] = []
    for row in files.lazy.flatMap(\.rows) {
      if let index = rows.firstIndex(where: { $0.name == row.name }) {
        rows[index] = row
      } else if let index = own.firstIndex(where: { $0.name == row.name }) {
        own[index] = row
      } else {
        own.append(row)
      }
    }
    rows = own + rows
    if let names { rows = try rows.chosen(by: names) }
    self.rows = [.mediaKeys(mediaKeys)] + rows
    self.isStrict = isStrict
  }

  /// The name of a dialect that looks for media in a member of the payload's top level; nil when
  /// none does.
  package func dialect(reading member: String) -> String? {
    rows.first { row in
      (row.outline ?? DialectOutline(row)).needs.joined().contains { $0.first?.utf8.elementsEqual(member.utf8) == true }
    }?.name
  }

  init(rows: [Dialect], isStrict: Bool = false) {
    self.rows = rows
    self.isStrict = isStrict
  }

  /// The names that `--dialect` takes without a file of the user's, in the table's order.
  public static var knownNames: [String] {
    Dialect.builtInOutlines.map(\.name)
  }
}

extension [Dialect] {
  /// The rows of these names or aliases, in the names' order; a name beats an alias.
  fileprivate func chosen(by names: [String]) throws(DialectTableError) -> [Dialect] {
    var chosen: [Dialect] = []
    for name in names {
      guard let row = first(where: { $0.name == name }) ?? first(where: { $0.isCalled(name) }) else {
        throw .unknown(name, nearest: Spelling.nearest(to: name, of: flatMap { [$0.name] + $0.aliases }))
      }
      if !chosen.contains(where: { $0.name == row.name }) { chosen.append(row) }
    }
    return chosen
  }
}

/// Why a list of names makes no table.
public enum DialectTableError: Error, Equatable, CustomStringConvertible {
  case unknown(String, nearest: String?)

  /// What is wrong and what to write instead.
  public var description: String {
    switch self {
    case .unknown(let name, let nearest):
      "there is no dialect “\(name)”\(nearest.map { "; did you mean \($0)?" } ?? ";") `attache dialects` lists them (for a key of your own, use --media-key)"
    }
  }
}
