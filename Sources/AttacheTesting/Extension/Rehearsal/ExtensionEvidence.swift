internal import Attache

/// What a service extension did in a situation.
package struct ExtensionEvidence: Sendable {
  /// A transfer of the extension.
  struct Transfer: Sendable {
    var url: String
    var began: MonotonicInstant
    /// When it ended, and how; nil while it runs.
    var end: (at: MonotonicInstant, result: ExtensionTransfer)?
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
  }

  /// The end of a process that the rehearsal did not end.
  struct Death: Sendable {
    var end: ProcessEnd
    var isForMemory: Bool
    var peakMemory: Int
  }

  var requests: [Request] = []
  var transfers: [Transfer] = []
  var refusals: [(path: String, code: Int, message: String)] = []
  var notes: [(name: String, text: String)] = []
  var deaths: [Death] = []
  /// The files that were left, by their paths in the extension's folders.
  var filesLeft: [String] = []
  /// What the extension printed.
  var output = ""
}
