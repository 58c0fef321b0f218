/// Why a file of dialects cannot be used.
public struct DialectFormError: Error, Equatable, CustomStringConvertible {
  /// The file as its user names it.
  public let file: String
  /// Where the wrong value begins, counted from 1; nil when the file cannot be read at all.
  public let line: Int?
  /// The wrong value's place, such as `dialects[3].media[0].url`; what is no JSON has a column
  /// instead.
  public let field: String
  /// What is wrong and what to write instead.
  public let text: String

  /// In one line, as compilers write it.
  public var description: String {
    let place = line.map { "\(file):\($0)" } ?? file
    return field.isEmpty ? "\(place): \(text)" : "\(place): \(field): \(text)"
  }
}
