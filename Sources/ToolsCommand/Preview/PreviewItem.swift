/// A notification as the page's script reads it.
struct PreviewItem: Encodable {
  /// What a notification shows.
  struct Card: Encodable {
    var title = ""
    var subtitle = ""
    var body = ""
    /// Whether a text is a key of the app's own string table.
    var titleIsKey = false
    var subtitleIsKey = false
    var bodyIsKey = false
    var badge: Int?
    var sound: String?
    var category: String?
    var thread: String?
    /// The interruption level, and the relevance score as the payload has it.
    var level: String?
    var relevance: Double?
    var actions: [Action] = []
    /// The names of the attachments in the page's table of files.
    var media: [String] = []
  }

  struct Action: Encodable {
    var title: String
    var destructive = false
    var authentication = false
    var input = false
    var icon: String?
  }

  /// A URL that was tried.
  struct Tried: Encodable {
    var url: String
    var reason: String?
    var explanation: String?
    var status: Int?
    var bytes: Int?
    var type: String?
    /// In milliseconds.
    var total: Double?
  }

  struct Finding: Encodable {
    var code: String
    var severity: String
    var text: String
    var path: String
    var advice: String
  }

  var line: Int
  /// The name of ``Inspection/Kind``.
  var kind: String
  /// Why nothing is shown, if nothing is.
  var why: String?
  var outcome: String?
  var reason: String?
  var dialect: String?
  /// In milliseconds: how long it waited for its place in the run, and how long it was there.
  var placeWait: Double?
  var elapsed: Double?
  /// Of a rehearsal: the scenario, what it expects in words, and what differs from that.
  var scenario: String?
  var expected: String?
  var deviations: [String] = []
  var before: Card
  var after: Card
  var media: [Tried] = []
  var findings: [Finding] = []
}
