/// A deviation from the promise or from an expectation.
public struct Finding: Sendable, Hashable, CustomStringConvertible {
  /// The kind of promise or expectation that was broken. The raw value is its name in reports.
  public enum Kind: String, Sendable, CaseIterable {
    // The promise that every filter must keep.
    /// A line of input has no line of output.
    case lost
    /// A line of input has more than one line of output.
    case duplicated
    /// A line of output is not an original and does not contain an original's members.
    case altered
    /// A line of output is incomplete.
    case torn
    /// Lines came in another order.
    case reordered
    /// A line came after its deadline.
    case late
    /// The filter ended before its input did, or by a signal, or with a failure status.
    case crashed
    /// The filter did not end, or wrote nothing.
    case hung
    // The expectations of the scenario.
    /// This value differs from the scenario's expectation.
    case outcome, reason, attachments, media, requests, connections, names, memory, descriptors
    /// The exit status differs from the scenario's expectation.
    case exitStatus = "exit"
    /// A result differs from an earlier rehearsal.
    case baseline
    /// The two clocks decided differently.
    case disagreement
    /// The rehearsal itself could not be set up or run.
    case stage
    // What an iOS service extension does wrong; ``ExtensionFinding`` explains each.
    case answerAtExpiry = "answer.at-expiry"
    case answerNever = "answer.never"
    case answerTwice = "answer.twice"
    case answerChangedAfter = "answer.changed-after"
    case answerEmpty = "answer.empty"
    case answerTemplate = "answer.template"
    case crash
    case blocks
    case attachErrorPage = "attach.error-page"
    case attachType = "attach.type"
    case attachRefused = "attach.refused"
    case attachMismatch = "attach.mismatch"
    case attachHint = "attach.hint"
    case attachFile = "attach.file"
    case fetchAfterExpiry = "fetch.after-expiry"
    case fetchUnbounded = "fetch.unbounded"
    case fetchStatus = "fetch.status"
    case fetchScheme = "fetch.scheme"
    case leak
    case filesLeft = "files.left"
    case imageTranscoded = "image.transcoded"
    case userInfoUnserialisable = "userinfo.unserialisable"
    case categoriesRace = "categories.race"
    // What an app's delegate does wrong with silent pushes.
    case silentNever = "silent.never"
    case silentTwice = "silent.twice"
    case silentNewData = "silent.new-data"
    case silentNoData = "silent.no-data"
    case silentAfter = "silent.after"
    case silentPriority = "silent.priority"
    case backgroundLost = "background.lost"
    case backgroundUnfinished = "background.unfinished"
    case backgroundHandler = "background.handler"
  }

  /// The kind of promise or expectation that was broken.
  public var kind: Kind
  /// The line of input, from 1; nil when the finding concerns the whole run.
  public var payload: Int?
  /// The expected and the actual result.
  public var message: String

  /// Creates a finding.
  public init(_ kind: Kind, payload: Int? = nil, _ message: String) {
    self.kind = kind
    self.payload = payload
    self.message = message
  }

  public var description: String {
    "\(kind.rawValue)\(payload.map { ", payload \($0)" } ?? ""): \(message)"
  }
}
