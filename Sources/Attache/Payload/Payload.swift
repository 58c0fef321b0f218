/// A candidate: what a payload shows, the media that it names, and where its line takes the answer.
/// A line may hold several. The line's bytes stay where they are.
public struct Payload: Hashable, Sendable {
  /// What is shown, still without attachments.
  public var content: NotificationContent
  /// The media to fetch, in the order of the dialects, each URL once.
  public var references: [MediaReference]
  /// How many references more the payload names than are kept here.
  public var omitted = 0
  /// The name of the dialect that named the first reference.
  public var dialect: String?
  /// Where the line takes the member.
  public var splice: Splice
  /// What else changes in the line when it takes the member; mostly nothing.
  public var edits: [LineEdit] = []

  public init(content: NotificationContent, references: [MediaReference], dialect: String?, splice: Splice) {
    self.content = content
    self.references = references
    self.dialect = dialect
    self.splice = splice
  }
}
