/// A user's own dialects, read from a file in the format of the built-in table.
public struct DialectFile: Sendable {
  let rows: [Dialect]

  /// Reads a file of at most 1 MiB that holds a JSON array of dialects.
  ///
  /// - Parameter path: the path of the file.
  /// - Throws: ``DialectFormError`` with the file, the line and the field, if the file cannot be
  ///   read or is not valid.
  public init(contentsOf path: String) throws(DialectFormError) {
    rows = try DialectForm(contentsOf: path).rows(isWhole: true)
  }

  /// Parses the text of a dialect file.
  ///
  /// - Parameters:
  ///   - name: the file name to use in errors.
  ///   - json: the contents of the file.
  package init(name: String, json: String) throws(DialectFormError) {
    rows = try DialectForm(name: name, bytes: json.utf8).rows(isWhole: true)
  }
}
