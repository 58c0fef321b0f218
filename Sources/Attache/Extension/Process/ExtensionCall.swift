/// A request to the processes of a service extension.
///
/// `@unchecked Sendable`: only the loop of its ``ExtensionProcesses`` accesses the variables; the
/// other properties are constant and `Sendable`.
package final class ExtensionCall: @unchecked Sendable {
  /// How a call ended for its host.
  package enum End: Sendable {
    /// The extension answered.
    ///
    /// - Parameter transfers: the transfers of the process since the call began, in the order of
    ///   their ends.
    case answered(ExtensionAnswer, transfers: [ExtensionTransfer])
    /// The extension gave no answer, and will give none.
    case failed(Reason)
  }

  /// Identifies the request in the frames.
  package let number: UInt64
  let identifier: String
  let payload: [UInt8]
  /// Called once. It is released then: it holds the extension that holds this call.
  private var ended: (@Sendable (End) -> Void)?

  /// The process that has the request. Weak: a process that has ended must be released, so that the
  /// kernel forgets it, and its calls may live longer.
  weak var process: ExtensionProcess?
  /// Whether the extension has answered, or the process has ended.
  var isEnded = false
  /// Whether the host needs no answer any more.
  var isFinished = false
  /// Whether the extension must be told that time will expire, as soon as it has the request.
  var isExpired = false
  var transfers: [ExtensionTransfer] = []

  init(number: UInt64, identifier: String, payload: [UInt8], ended: @escaping @Sendable (End) -> Void) {
    (self.number, self.identifier, self.payload, self.ended) = (number, identifier, payload, ended)
  }

  /// Passes the end to the host, once.
  func end(_ end: End) {
    guard !isEnded else { return }
    isEnded = true
    ended.take()?(end)
  }

  /// Ends the call for a host that has decided without it.
  func abandon() {
    (isEnded, isFinished, ended) = (true, true, nil)
  }
}
