internal import Glibc

/// SIGTERM, SIGINT and SIGHUP, which ask a command to stop; a thread of its own takes them.
///
/// A signal that is ignored when the process starts stays ignored, as `nohup` and `command &` in a
/// shell script expect.
package enum StopSignals {
  /// The signals.
  package static let all = [SIGTERM, SIGINT, SIGHUP]

  /// Has the first of them end the process with status 75 until ``block()``. For commands that may
  /// wait for ever before that, such as to open a pipe without a reader.
  package static func endProcess() {
    for signal in all where !isIgnored(signal) {
      Glibc.signal(signal) { _ in _exit(ExitStatus.temporaryFailure) }
    }
  }

  /// Blocks them in this thread and in all that it starts. Call it before any thread is started,
  /// and after everything that may wait for ever, such as opening a pipe without a reader: until
  /// then a signal ends the process, with status 75 after ``endProcess()``.
  package static func block() {
    var signals = set
    unsafe pthread_sigmask(SIG_BLOCK, &signals, nil)
  }

  /// Calls the first action at the first signal, the second at the second, and so on. One signal
  /// more ends the process at once with status 75: the command waits for something that may never
  /// come, such as a reader of its output. Without a thread the process ends with status 70: it
  /// would take no signal.
  package static func onEach(_ actions: (@Sendable () -> Void)...) {
    let isStarted = CommandThread.start {
      var rest = actions[...]
      while true {
        var signals = set
        var signal: Int32 = 0
        guard unsafe sigwait(&signals, &signal) == 0 else { continue }
        guard let action = rest.popFirst() else { _exit(ExitStatus.temporaryFailure) }
        action()
      }
    }
    guard isStarted else { _exit(ExitStatus.software) }
  }

  /// Whether a signal is ignored. At the start of a process its parent decides.
  package static func isIgnored(_ signal: Int32) -> Bool {
    var action = sigaction()
    guard unsafe sigaction(signal, nil, &action) == 0 else { return false }
    return unsafe unsafeBitCast(action.__sigaction_handler.sa_handler, to: Int.self) == unsafeBitCast(SIG_IGN, to: Int.self)
  }

  private static var set: sigset_t {
    var signals = sigset_t()
    unsafe sigemptyset(&signals)
    for signal in all where !isIgnored(signal) { unsafe sigaddset(&signals, signal) }
    return signals
  }
}
