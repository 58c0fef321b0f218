/// An event on a stage while a scenario is played. The watcher must not block.
package enum StageEvent: Sendable, Hashable {
  /// A whole request has reached an origin.
  /// - Parameter path: `PATH`, or `NAME/PATH` for an origin with a name other than `origin`.
  case request(path: String)
  /// An origin has sent this many bytes of a body.
  case sent(path: String, bytes: Int)
}
