/// What is wrong with a scenario file, and where.
public struct ScenarioError: Error, Hashable, Sendable, CustomStringConvertible {
  /// As it was named.
  public var file: String
  /// From 1; nil when the whole file is meant.
  public var line: Int?
  /// From 1, in Unicode scalars.
  public var column: Int?
  /// The way to the field, such as `origin./photo.jpg[1].at`; empty for the whole file.
  public var field: String
  /// What is wrong, and what to write.
  public var message: String

  public init(file: String, line: Int? = nil, column: Int? = nil, field: String = "", message: String) {
    self.file = file
    self.line = line
    self.column = column
    self.field = field
    self.message = message
  }

  /// `FILE:LINE:COLUMN: FIELD: MESSAGE`, as compilers and editors have it; control characters are
  /// written as `\u{1b}`.
  public var description: String {
    let place = [file] + [line, column].compactMap { $0.map(String.init) }
    return ((place.joined(separator: ":") + ": " + (field.isEmpty ? "" : "\(field): ")) + message).printable
  }
}
