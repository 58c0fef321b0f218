/// The reason why an engine could not start, as a message for the user.
public struct StartError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The message for the user.
  public var description: String

  /// Makes an error with a message for the user.
  public init(_ description: String) {
    self.description = description
  }
}
