/// A dialect as shown to the user: the contents of its row in the table.
package struct DialectEntry: Sendable {
  package let name: String
  package let vendor: String?
  package let aliases: [String]
  /// The address of the vendor's code or documentation.
  package let source: String?
  package let note: String?
  /// Whether the row belongs to the built-in table and not to a user's file.
  package let isBuiltIn: Bool
  /// The JSON source of the row.
  package let json: String
  /// The JSON source of its sample: a payload, and the media in it.
  package let sample: String?
  /// The JSON source of the sample's payload alone.
  package let samplePayload: String?
}
