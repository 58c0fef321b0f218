/// A message for the user about the fetcher processes.
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

  /// What has happened when the process that starts fetchers has ended.
  private static let breakage = "the process that starts fetchers has ended (`dmesg` says if memory was short)"

  /// What this machine cannot enforce on a fetcher (``unconfined(without:)``); nil for nothing. A
  /// child process tries. Call it while the process has one thread.
  package static var ofThisMachine: FetcherNotice? { FetcherBounds.Missing.onThisMachine().notice }

  package var description: String {
    switch self {
    case .replaced(let how):
      "a fetcher \(how); another one replaces it and fetches again what was in flight (later ones are not reported)"
    case .parentReplaced:
      "\(Self.breakage); another one replaces it and its fetchers, and fetches again what was in flight (later ones are not reported)"
    case .unconfined(let missing):
      "fetchers run \(missing); the kernel or the container refuses it (SECURITY.md says what a compromised fetcher can do)"
    case .broken: "\(Self.breakage), and no other one replaces it: no more media are fetched until this command is run again"
    }
  }
}
