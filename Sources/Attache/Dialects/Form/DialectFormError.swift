/// An error in a dialect file.
public struct DialectFormError: Error, Equatable, CustomStringConvertible {
  /// The file name as the user wrote it.
  public let file: String
  /// The line where the wrong value begins, counted from 1; nil if the file cannot be read at all.
  public let line: Int?
  /// The path of the wrong value, such as `dialects[3].media[0].url`; for text that is not JSON,
  /// its column.
  public let field: String
  /// What is wrong, and what to write instead.
  public let text: String

  /// The error in one line, in the format of compilers.
  public var description: String {
    let place = line.map { "\(file):\($0)" } ?? file
    return field.isEmpty ? "\(place): \(text)" : "\(place): \(field): \(text)"
  }
}
