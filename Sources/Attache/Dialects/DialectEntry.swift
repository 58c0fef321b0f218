/// A dialect as people read of it: what its row in the table says.
package struct DialectEntry: Sendable {
  package let name: String
  package let vendor: String?
  package let aliases: [String]
  /// Where the vendor's code or documentation is.
  package let source: String?
  package let note: String?
  /// Whether the row is attache's own, and not of a file of the user's.
  package let isBuiltIn: Bool
  /// The row as it is written, in JSON.
  package let json: String
  /// Its sample as it is written, in JSON: a payload, and the media in it.
  package let sample: String?
  /// The sample's payload alone.
  package let samplePayload: String?
}

extension DialectTable {
  /// What the rows say, in the table's order; the user's media keys are none.
  package var entries: [DialectEntry] {
    rows.compactMap(\.entry)
  }
}

extension Dialect {
  fileprivate var entry: DialectEntry? {
    origin.flatMap { $0.form.entry($0.row, of: self) }
  }
}
