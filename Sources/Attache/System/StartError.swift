/// Why an engine could not be started, in words for its user.
public struct StartError: Error, Hashable, Sendable, CustomStringConvertible {
  public var description: String

  public init(_ description: String) {
    self.description = description
  }
}
