extension Unicode.Scalar {
  /// Whether the scalar makes a text look like another on a terminal or in a log: a C0 or C1
  /// control, a line or paragraph separator, or a mark that turns the direction of writing (Unicode
  /// Standard Annex 9). Joiners stay: emoji are made with them.
  package var forgesText: Bool {
    if isASCII { return value < 0x20 || value == 0x7F }
    if properties.isBidiControl { return true }
    return switch properties.generalCategory {
    case .control, .lineSeparator, .paragraphSeparator: true
    default: false
    }
  }

  /// Whether no two systems need show the same for it: it is unassigned, for private use, or half a
  /// surrogate pair.
  package var isUndefined: Bool {
    switch properties.generalCategory {
    case .unassigned, .privateUse, .surrogate: true
    default: false
    }
  }
}
