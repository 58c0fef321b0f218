extension Dialect {
  /// The rows of the built-in table, in the order in which the engine reads them.
  ///
  /// The table is compiled into the program and its tests check it, so it always parses.
  static let builtIn: [Dialect] = (try? DialectForm.builtIn.rows(isWhole: true, isBuiltIn: true)) ?? []

  /// The same rows with only what concerns media, which is parsed faster.
  static let builtInMedia: [Dialect] = (try? DialectForm.builtIn.rows(isWhole: false, isBuiltIn: true)) ?? []

  private static let builtInByName = Dictionary(builtIn.map { ($0.name, $0) }) { first, _ in first }

  /// The complete row. The first call parses the whole built-in table.
  var whole: Dialect {
    isBuiltIn ? Self.builtInByName[name] ?? self : self
  }
}
