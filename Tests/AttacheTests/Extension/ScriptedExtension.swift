import Synchronization

@testable import Attache

/// A service extension whose behaviour the test sets.
final class ScriptedExtension: ServiceExtension {
  /// What it does when it is called.
  struct Script: Sendable {
    var receive: @Sendable (NotificationRequest, ExtensionReply) throws -> Void = { _, _ in }
    /// Called with the same reply as ``receive``.
    var expire: @Sendable (ExtensionReply?) -> Void = { _ in }
    var cancel: @Sendable () -> Void = {}
  }

  private let script: Script
  private let answer = Mutex<ExtensionReply?>(nil)

  init(_ script: Script) {
    self.script = script
  }

  func didReceive(_ request: NotificationRequest, answer: ExtensionReply) throws {
    self.answer.withLock { $0 = answer }
    try script.receive(request, answer)
  }

  func timeWillExpire() {
    script.expire(answer.withLock { $0 })
  }

  func cancel() {
    script.cancel()
  }
}

/// The same as an extension whose calls return immediately.
final class PromptExtension: ServiceExtension {
  static let returnsAtOnce = true

  private let inner: ScriptedExtension

  init(_ script: ScriptedExtension.Script) {
    inner = ScriptedExtension(script)
  }

  func didReceive(_ request: NotificationRequest, answer: ExtensionReply) throws {
    try inner.didReceive(request, answer: answer)
  }

  func timeWillExpire() {
    inner.timeWillExpire()
  }

  func cancel() {
    inner.cancel()
  }
}
