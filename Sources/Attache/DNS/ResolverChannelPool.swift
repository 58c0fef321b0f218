/// The c-ares channels of a resolver, the newest last. Only the newest channel takes lookups. The
/// others wait for their last answers.
///
/// A channel uses one source port per server, and c-ares accepts an answer by that port and a
/// 16-bit identifier. A new channel takes over after ``maximumQueries`` or ``maximumAge``, so that
/// no port stays in use forever and a changed resolv.conf is read. The pool is limited to
/// ``maximumChannels`` UDP sockets per server, the same number of TCP sockets, and 16,384
/// unanswered names. Beyond that, the queries of the oldest channel end with a timeout.
struct ResolverChannelPool {
  static let maximumChannels = 16
  /// Each name needs two queries. The limit is far below the 65,536 identifiers of a channel.
  static let maximumQueries = 2048
  static let maximumAge = Duration.seconds(60)

  private var channels: [AresChannel] = []

  /// Returns the channel for the next lookup, or nil when a new channel is needed.
  func channelWithRoom(at now: MonotonicInstant) -> AresChannel? {
    guard let newest = channels.last, newest.asked + 2 <= Self.maximumQueries else { return nil }
    return newest.start.duration(to: now) < Self.maximumAge ? newest : nil
  }

  /// Adds the channel that takes lookups from now on.
  mutating func append(_ channel: AresChannel) {
    if channels.count == Self.maximumChannels { channels.removeFirst().giveUp() }
    channels.append(channel)
  }

  /// Closes the old channels without pending queries and sets the timers of the others. Called at
  /// the end of every turn.
  mutating func tidy() {
    let newest = channels.last
    for channel in channels where channel !== newest && channel.waiting == 0 { channel.close() }
    channels.removeAll { $0 !== newest && $0.waiting == 0 }
    for channel in channels { channel.setTimer() }
  }

  /// Closes all channels. Pending queries fail.
  mutating func close() {
    let all = channels
    channels = []
    for channel in all { channel.close() }
  }
}
