internal import Attache

/// What a service extension did in a situation.
package struct ExtensionEvidence: Sendable {
  /// A transfer of the extension.
  struct Transfer: Sendable {
    var url: String
    var began: MonotonicInstant
    /// Whether it belongs to a background session, so that the app does not run meanwhile.
    var isInBackground = false
    /// When it ended, and how; nil while it runs.
    var end: (at: MonotonicInstant, result: ExtensionTransfer)?
    /// Whether App Transport Security refused it.
    var isRefusedForScheme: Bool { end?.result.code == ExtensionTransfer.insecure }
  }

  /// An attachment of the first answer.
  struct Attached: Sendable {
    var attachment: AnsweredAttachment
    /// The file as its bytes show it, or why it cannot be attached.
    var file: Result<StoredFile, FetchFailure>
  }

  /// What happened to one notification.
  struct Request: Sendable {
    var payload: [UInt8]
    /// The background session of whose events the app is told; nil for a push.
    var session: UntrustedText?
    /// The bytes that its URL leads to; nil if it leads to no picture.
    var expected: [UInt8]?
    var began: MonotonicInstant?
    var returned: MonotonicInstant?
    /// When the content handler was called.
    var answers: [MonotonicInstant] = []
    var answer: ExtensionAnswer?
    /// What an app's delegate passed to its completion handler.
    var results: [String] = []
    var attached: [Attached] = []
    /// When the extension was told that its time will expire; nil if it answered before.
    var expired: MonotonicInstant?
    /// Whether it had not answered when its time was over.
    var isUnanswered = false
    var isAlive = false
    var isChangedAfter = false
    /// Whether the process ended before an answer.
    var isCrashed = false
    /// The payload as a phone shows it after the answer; nil for the original.
    var shown: [UInt8]?
  }

  /// The end of a process that the rehearsal did not end.
  struct Death: Sendable {
    var end: ProcessEnd
    var isForMemory: Bool
    var peakMemory: Int
  }

  var requests: [Request] = []
  var transfers: [Transfer] = []
  /// What happened to the downloads of background sessions, in order.
  var background: [BackgroundDownload] = []
  /// How many of these happened before the app was started again.
  var backgroundBeforeRestart = 0
  /// The URL of plain http that the rehearsal put into a payload that names none.
  var rehearsedHTTP: String?
  var refusals: [(path: String, code: Int, message: String)] = []
  var notes: [(name: String, text: String)] = []
  var deaths: [Death] = []
  /// The files that were left, by their paths in the extension's folders.
  var filesLeft: [String] = []
  /// The files that ``Request/shown`` names, by their names in the store.
  var media: [String: [UInt8]] = [:]
  /// What the extension printed.
  var output = ""

  /// The downloads of background sessions that were under way when the app ended.
  var outlivingDownloads: [BackgroundDownload] {
    let before = background.prefix(backgroundBeforeRestart)
    return before.filter { download in
      download.event == .started && !before.contains { $0.event == .cancelled && $0.isSameDownload(as: download) }
    }
  }
}

extension BackgroundDownload {
  /// Whether two events belong to one download.
  func isSameDownload(as other: BackgroundDownload) -> Bool {
    session == other.session && task == other.task
  }
}
