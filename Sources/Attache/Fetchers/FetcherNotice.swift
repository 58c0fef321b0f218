/// A message for the user about the fetcher processes and the origins.
package enum FetcherNotice: Sendable, CustomStringConvertible {
  /// A process has ended, as the text describes, and another takes its place. Reported once in a
  /// run.
  case replaced(String)
  /// The process that starts fetchers has ended, and they with it. Others take their places.
  /// Reported once in a run.
  case parentReplaced
  /// The kernel or the container refuses some of the limits. Reported once in a run.
  case unconfined(without: String)
  /// No process can be started any more.
  case broken
  /// The circuit of an origin has opened. Reported at most ``BreakerLedger/openingsPerMinute`` times a
  /// minute.
  case originFails(String, failures: Int, seconds: Int64)
  /// An origin whose circuit was reported as open has answered.
  case originAnswers(String)

  /// What has happened when the process that starts fetchers has ended.
  private static let breakage = "the process that starts fetchers has ended (`dmesg` says if memory was short)"

  /// What this machine cannot enforce on a fetcher (``unconfined(without:)``); nil for nothing. A
  /// child process tries. Call it while the process has one thread.
  package static var ofThisMachine: FetcherNotice? { FetcherBounds.Missing.onThisMachine().notice }

  init(_ change: BreakerChange, of origin: String) {
    self =
      switch change {
      case .opened(let failures, let duration): .originFails(origin, failures: failures, seconds: duration.components.seconds)
      case .closed: .originAnswers(origin)
      }
  }

  package var description: String {
    switch self {
    case .replaced(let how):
      "a fetcher \(how); another one replaces it and fetches again what was in flight (later ones are not reported)"
    case .parentReplaced:
      "\(Self.breakage); another one replaces it and its fetchers, and fetches again what was in flight (later ones are not reported)"
    case .unconfined(let missing):
      "fetchers run \(missing); the kernel or the container refuses it (SECURITY.md says what a compromised fetcher can do)"
    case .originFails(let origin, let failures, let seconds):
      "\(origin) has answered nothing for \(seconds) s, in \(failures) requests in a row: it gets few requests until it answers (policy.breaker)"
    case .originAnswers(let origin): "\(origin) answers again: it gets all requests"
    case .broken: "\(Self.breakage), and no other one replaces it: no more media are fetched until this command is run again"
    }
  }
}
