/// A user's own dialects, read from a file in the form of the built-in table.
public struct DialectFile: Sendable {
  let rows: [Dialect]

  /// - Throws: what names the file, the line and the field.
  public init(contentsOf path: String) throws(DialectFormError) {
    rows = try DialectForm(contentsOf: path).rows(isWhole: true)
  }

  /// - Parameters:
  ///   - name: stands for the file's in errors.
  ///   - json: what the file would hold.
  package init(name: String, json: String) throws(DialectFormError) {
    rows = try DialectForm(name: name, bytes: json.utf8).rows(isWhole: true)
  }
}
