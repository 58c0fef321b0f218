/// What a vendor's own helper would make of a payload's text: other words for the alert, and
/// buttons.
public struct DialectText: Hashable, Sendable {
  /// A button under the notification.
  public struct Action: Hashable, Sendable {
    public var identifier: UntrustedText?
    public var title: UntrustedText
    public var url: UntrustedText?
    /// The name of its icon.
    public var icon: UntrustedText?
    public var isDestructive = false

    public init(identifier: UntrustedText? = nil, title: UntrustedText) {
      self.identifier = identifier
      self.title = title
    }
  }

  /// A text that the helper puts in the place of another.
  public struct Override: Hashable, Sendable {
    /// What it replaces, such as `title`, `subtitle`, `body`, `badge` or `category`.
    public var name: String
    public var value: UntrustedText

    public init(name: String, value: UntrustedText) {
      self.name = name
      self.value = value
    }
  }

  /// The dialect that says so.
  public var dialect: String
  /// In the table's order.
  public var overrides: [Override] = []
  /// What the helper shows when it has no media.
  public var onFailure: [Override] = []
  public var actions: [Action] = []
  /// What the actions stand in, as a JSON pointer.
  package var actionsPath: UntrustedText?

  public init(dialect: String) {
    self.dialect = dialect
  }
}
