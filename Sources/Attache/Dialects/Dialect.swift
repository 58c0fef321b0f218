/// One vendor's way of naming media in a payload: a row of the table.
package struct Dialect: Sendable {
  /// When a row is asked.
  enum Precedence: String, Sendable {
    /// The user named the place: it is asked, and what it finds holds nobody else back.
    case user
    /// A vendor's own keys: asked; what it finds holds the rows of last resort back.
    case vendor
    /// Keys that anybody might use: asked only when no vendor's row before it found media.
    case lastResort = "last-resort"

    /// Those that a form may say.
    static let inForm = [Precedence.vendor, .lastResort]
  }

  static let maximumNameLength = 64

  /// The name in the report and in `--dialect`.
  package internal(set) var name = ""
  /// Further names that `--dialect` takes.
  package internal(set) var aliases: [String] = []
  var precedence = Precedence.vendor
  /// All of them must hold; none means that the places speak for themselves.
  var when: [Condition] = []
  /// Where the media stand, in order; of each list of alternatives the first is taken that names
  /// any.
  var media: [[MediaSource]] = []
  /// What the vendor's helper does with the text; nil when the row says nothing, or it was not
  /// read.
  var texts: DialectTexts?
  /// What a payload is that nobody but the app can read.
  var encrypted: String?
  /// The file that the row is written in, and its place there; nil for what no file has.
  var origin: DialectOrigin?
  /// Given when nothing else of the row was read: see ``whole``.
  var outline: DialectOutline?
  /// Whether the row is attache's own, and not of a file of the user's.
  var isBuiltIn = false

  /// The places that the user names, in the user's order. A string that is no URL is a reference
  /// all the same: the URL gate says so.
  static func mediaKeys(_ paths: [JSONPointer]) -> Dialect {
    var dialect = Dialect()
    dialect.name = "media-key"
    dialect.precedence = .user
    dialect.media = paths.map { [.mediaKey($0)] }
    return dialect
  }

  /// Whether this is the dialect of that name.
  func isCalled(_ name: String) -> Bool {
    self.name == name || aliases.contains(name)
  }
}
