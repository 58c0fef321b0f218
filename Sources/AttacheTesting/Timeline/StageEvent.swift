/// An event on a stage while a scenario is played. The watcher must not block.
package enum StageEvent: Sendable, Hashable {
  /// A whole request has reached an origin.
  case request
  /// An origin has sent a piece of a body.
  case sent
}
