extension Dialect {
  /// The rows that attache knows, in the order in which they are asked.
  ///
  /// The table is part of the build, whose tests read it: it follows the form.
  static let builtIn: [Dialect] = (try? DialectForm.builtIn.rows(isWhole: true, isBuiltIn: true)) ?? []

  /// The same in outline: hundreds of places are not read before a payload has something for them.
  static let builtInOutlines: [Dialect] = DialectForm.builtIn.outlines()

  private static let builtInByName = Dictionary(builtIn.map { ($0.name, $0) }) { first, _ in first }

  /// The row with all that it says; an outline has the whole table read.
  var whole: Dialect {
    outline == nil ? self : Self.builtInByName[name] ?? self
  }

  /// The row with all that media come from; an outline has this row read.
  var withMedia: Dialect {
    guard outline != nil, let origin, let range = origin.range else { return self }
    return origin.form.row(in: range) ?? self
  }
}
