/// The dialects that the reader applies, and their order.
///
/// The user's media keys come first, then the user's own dialects, then the built-in ones. The
/// order is the table's or the one the user gives. The media of several dialects are combined: each
/// URL counts once, under the first dialect that named it.
///
/// A specific dialect takes precedence over the generic keys, which are read only if no vendor's
/// dialect before them found attachments. Media keys suppress neither the generic keys nor a
/// vendor's dialect: they add to what the dialects find.
public struct DialectTable: Sendable {
  package let rows: [Dialect]
  /// Whether to skip media that the vendor's own helper would not load.
  package let isStrict: Bool

  /// Creates a table of all built-in dialects in their own order.
  ///
  /// - Parameter mediaKeys: further places to look for a URL; they come first.
  public init(mediaKeys: [JSONPointer] = []) {
    rows = [.mediaKeys(mediaKeys)] + Dialect.builtInMedia
    isStrict = false
  }

  /// Creates a table of the built-in dialects and the user's own. A user's dialect with the name of
  /// a built-in one replaces it; the others come before the built-in ones.
  ///
  /// - Parameters:
  ///   - names: the dialects to use, by name or alias, in this order; nil uses all. A repeated name
  ///     counts once.
  ///   - mediaKeys: further places to look for a URL. They always come first, whatever `names`
  ///     contains.
  ///   - files: the user's dialects. If two have the same name, the later one is used.
  ///   - isStrict: whether to refuse media that the vendor's own helper would not load: media without
  ///     a type hint that the helper requires, or at a plain http URL that the helper does not
  ///     accept.
  /// - Throws: ``DialectTableError/unknown(_:nearest:)`` for a name that no dialect has.
  public init(
    names: [String]? = nil, mediaKeys: [JSONPointer] = [], files: [DialectFile] = [], isStrict: Bool = false
  ) throws(DialectTableError) {
    var rows = Dialect.builtInMedia
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

  /// Returns the name of the first dialect that looks for media in a top-level member of the
  /// payload; nil if none does.
  package func dialect(reading member: String) -> String? {
    rows.first { row in
      DialectNeeds(row).needs.joined().contains { $0.first?.utf8.elementsEqual(member.utf8) == true }
    }?.name
  }

  init(rows: [Dialect], isStrict: Bool = false) {
    self.rows = rows
    self.isStrict = isStrict
  }

  /// The names that `--dialect` accepts without a user's file, in the table's order.
  public static var knownNames: [String] {
    Dialect.builtInMedia.map(\.name)
  }
}

extension [Dialect] {
  /// Returns the rows with these names or aliases, in the order of `names`. A name takes precedence
  /// over an alias.
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

/// An error in a list of dialect names.
public enum DialectTableError: Error, Equatable, CustomStringConvertible {
  /// No dialect has this name or alias. `nearest` is the known name with the closest spelling, if
  /// one is close enough.
  case unknown(String, nearest: String?)

  /// What is wrong, and what to write instead.
  public var description: String {
    switch self {
    case .unknown(let name, let nearest):
      "there is no dialect “\(name)”\(nearest.map { "; did you mean \($0)?" } ?? ";") `attache dialects` lists them (for a key of your own, use --media-key)"
    }
  }
}

extension DialectTable {
  /// The entries of all rows, in the table's order. The user's media keys have no entry.
  package var entries: [DialectEntry] {
    rows.compactMap { row in row.origin.flatMap { $0.form.entry($0.row, of: row) } }
  }
}
