/// The changes that a vendor's own helper would make to a payload's text: replaced alert texts, and
/// buttons.
public struct DialectText: Hashable, Sendable {
  /// A button below the notification.
  public struct Action: Hashable, Sendable {
    /// The button's identifier; nil if the payload gives none.
    public var identifier: UntrustedText?
    /// The button's label.
    public var title: UntrustedText
    /// The URL that the button opens, not validated; nil if the payload gives none.
    public var url: UntrustedText?
    /// The name of the button's icon; nil if the payload gives none.
    public var icon: UntrustedText?
    /// Whether the button is marked as destructive.
    public var isDestructive = false

    /// Creates a button without URL or icon that is not destructive.
    public init(identifier: UntrustedText? = nil, title: UntrustedText) {
      self.identifier = identifier
      self.title = title
    }
  }

  /// A text that the helper puts in the place of another.
  public struct Override: Hashable, Sendable {
    /// The field that it replaces, such as `title`, `subtitle`, `body`, `badge` or `category`.
    public var name: String
    /// The new text.
    public var value: UntrustedText

    /// Creates a replacement of the field `name` by `value`.
    public init(name: String, value: UntrustedText) {
      self.name = name
      self.value = value
    }
  }

  /// The name of the dialect that defines the changes.
  public var dialect: String
  /// The replaced texts, in the order of the dialect's row.
  public var overrides: [Override] = []
  /// The texts that the helper shows if it has no media.
  public var onFailure: [Override] = []
  /// The buttons, in the payload's order.
  public var actions: [Action] = []
  /// The JSON pointer of the value that contains the actions.
  package var actionsPath: UntrustedText?

  /// Creates an empty set of changes for the dialect with this name.
  public init(dialect: String) {
    self.dialect = dialect
  }
}
