/// Something that went otherwise than it must.
public struct Finding: Sendable, Hashable, CustomStringConvertible {
  /// What kind of promise or expectation was broken; the raw value is its name in reports.
  public enum Kind: String, Sendable, CaseIterable {
    // The promise, which every filter is asked for.
    /// A line of input has no line of output.
    case lost
    /// A line of input has more than one.
    case duplicated
    /// A line of output is neither an original nor holds an original's members.
    case altered
    /// A line of output breaks off.
    case torn
    /// Lines came in another order.
    case reordered
    /// A line came after its deadline.
    case late
    /// The filter ended before its input did, by a signal, or with a status that says failure.
    case crashed
    /// The filter did not end, or did not say anything.
    case hung
    // What the scenario expects.
    case outcome, reason, attachments, media, requests, connections, names, memory, descriptors
    case exitStatus = "exit"
    /// Something is other than it was in an earlier rehearsal.
    case baseline
    /// The two clocks decided differently.
    case disagreement
    /// The rehearsal itself could not be set up or run.
    case stage
  }

  public var kind: Kind
  /// The line of input, from 1.
  public var payload: Int?
  /// What was expected and what came.
  public var message: String

  public init(_ kind: Kind, payload: Int? = nil, _ message: String) {
    self.kind = kind
    self.payload = payload
    self.message = message
  }

  public var description: String {
    "\(kind.rawValue)\(payload.map { ", payload \($0)" } ?? ""): \(message)"
  }
}
