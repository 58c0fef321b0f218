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
  let ended: @Sendable (End) -> Void

  /// The process that has the request. Weak: the extension's host may keep a call, and a process that
  /// has ended must be released, so that the kernel forgets it.
  weak var process: ExtensionProcess?
  /// Whether the extension has answered, or the process has ended.
  var isEnded = false
  /// Whether the host needs no answer any more.
  var isFinished = false
  var transfers: [ExtensionTransfer] = []

  init(number: UInt64, identifier: String, payload: [UInt8], ended: @escaping @Sendable (End) -> Void) {
    (self.number, self.identifier, self.payload, self.ended) = (number, identifier, payload, ended)
  }

  /// Passes the end to the host, once.
  func end(_ end: End) {
    guard !isEnded else { return }
    isEnded = true
    ended(end)
  }
}
