/// The reason why nothing can be sent as configured.
public struct SenderSetupError: Error, Hashable, Sendable, CustomStringConvertible {
  /// One sentence for the user.
  public let description: String

  package init(_ description: String) {
    self.description = description
  }
}
