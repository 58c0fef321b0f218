/// What happens on a stage while a scenario is played, as its watcher hears of it; to be heard
/// without waiting for anything.
package enum StageEvent: Sendable, Hashable {
  /// A whole request has reached an origin.
  /// - Parameter path: `PATH`, or `NAME/PATH` for an origin that is not named `origin`.
  case request(path: String)
  /// An origin has sent so many bytes of a body.
  case sent(path: String, bytes: Int)
}
