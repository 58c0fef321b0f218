/// An error in a scenario file, with its location.
public struct ScenarioError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The file as given.
  public var file: String
  /// The line, from 1; nil when the error concerns the whole file.
  public var line: Int?
  /// The column, from 1, in Unicode scalars; nil when it is unknown.
  public var column: Int?
  /// The path of the field, such as `origin./photo.jpg[1].at`; empty for the whole file.
  public var field: String
  /// The error, and how to correct it.
  public var message: String

  /// Creates an error; without a line, it concerns the whole file.
  public init(file: String, line: Int? = nil, column: Int? = nil, field: String = "", message: String) {
    self.file = file
    self.line = line
    self.column = column
    self.field = field
    self.message = message
  }

  /// `FILE:LINE:COLUMN: FIELD: MESSAGE`, the format of compilers and editors. Control characters
  /// are written as `\u{1b}`.
  public var description: String {
    let place = [file] + [line, column].compactMap { $0.map(String.init) }
    return ((place.joined(separator: ":") + ": " + (field.isEmpty ? "" : "\(field): ")) + message).printable
  }
}
