/// One vendor's convention for naming media in a payload: a row of the table.
package struct Dialect: Sendable {
  /// When the engine reads a row, and which later rows it suppresses.
  enum Precedence: String, Sendable {
    /// The user named the place. The row is always read and suppresses no other row.
    case user
    /// A vendor's own keys. The row is always read; if it finds attachments, later rows of last
    /// resort are skipped.
    case vendor
    /// Keys that any sender might use. The row is read only if no vendor's row before it found
    /// attachments.
    case lastResort = "last-resort"

    /// The precedences that a dialect file may name.
    static let inForm = [Precedence.vendor, .lastResort]
  }

  static let maximumNameLength = 64

  /// The name in the report and in `--dialect`.
  package internal(set) var name = ""
  /// Further names that `--dialect` accepts.
  package internal(set) var aliases: [String] = []
  var precedence = Precedence.vendor
  /// Conditions that must all hold. If there are none, the row's places alone decide.
  var when: [Condition] = []
  /// The places of the media, in order. Of each list of alternatives, only the first that yields
  /// media is used.
  var media: [[MediaSource]] = []
  /// What the vendor's helper does with the text; nil if the row does not describe it or that part
  /// was not parsed.
  var texts: DialectTexts?
  /// A sentence about payloads that only the app can decrypt; nil if the row describes none.
  var encrypted: String?
  /// The file that defines the row, and the row's position in it; nil if no file defines it.
  var origin: DialectOrigin?
  /// Whether the row belongs to the built-in table and not to a user's file.
  var isBuiltIn = false

  /// A dialect for the places that the user names, in the user's order. A string that is not a URL
  /// still counts as a reference; the URL gate then rejects it.
  static func mediaKeys(_ paths: [JSONPointer]) -> Dialect {
    var dialect = Dialect()
    dialect.name = "media-key"
    dialect.precedence = .user
    dialect.media = paths.map { [.mediaKey($0)] }
    return dialect
  }

  /// Returns whether this dialect has the given name or alias.
  func isCalled(_ name: String) -> Bool {
    self.name == name || aliases.contains(name)
  }
}
