extension Unicode.Scalar {
  /// Whether the scalar can make a text look different on a terminal or in a log: a C0 or C1
  /// control, a line or paragraph separator, or a mark that changes the writing direction (Unicode
  /// Standard Annex 9). Joiners are not included, because emoji contain them.
  package var forgesText: Bool {
    if isASCII { return value < 0x20 || value == 0x7F }
    if properties.isBidiControl { return true }
    return switch properties.generalCategory {
    case .control, .lineSeparator, .paragraphSeparator: true
    default: false
    }
  }

  /// Whether different systems may show the scalar differently: it is unassigned, for private use,
  /// or half of a surrogate pair.
  package var isUndefined: Bool {
    switch properties.generalCategory {
    case .unassigned, .privateUse, .surrogate: true
    default: false
    }
  }
}
