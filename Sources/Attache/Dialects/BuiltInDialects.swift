extension Dialect {
  /// The rows that attache knows, in the order in which they are asked.
  static let builtIn: [Dialect] = read(isWhole: false)

  /// What the built-in rows say of texts, which is read when somebody asks.
  private static let builtInTexts: [String: DialectTexts] = {
    let rows = read(isWhole: true).compactMap { row in row.texts.map { (row.name, $0) } }
    return Dictionary(rows) { first, _ in first }
  }()

  /// What this row says of texts, when it is a built-in one.
  var builtInTexts: DialectTexts? {
    isBuiltIn ? Self.builtInTexts[name] : nil
  }

  /// The table is part of the build, whose tests read it: it follows the form.
  private static func read(isWhole: Bool) -> [Dialect] {
    (try? DialectForm.builtIn.rows(isWhole: isWhole, isBuiltIn: true)) ?? []
  }
}
