/// The c-ares channels of a resolver, the newest last: only the newest takes look-ups, the others
/// wait for their last answers.
///
/// A channel is one source port a server, and an answer is believed for its port and its 16-bit
/// identifier. Another one takes over after ``maximumQueries`` or ``maximumAge``, so that no port
/// is in use for ever and a changed resolv.conf is read. The row is bounded: there are at most
/// ``maximumChannels`` UDP sockets a server, as many for TCP, and 16,384 names that nobody answers;
/// when more come, the oldest are given up as timed out.
struct ResolverChannelPool {
  static let maximumChannels = 16
  /// Two a name. Far below the 65,536 identifiers that a channel has to tell them apart.
  static let maximumQueries = 2048
  static let maximumAge = Duration.seconds(60)

  private var channels: [AresChannel] = []

  /// The channel that takes the next look-up; nil when it is time for a new one.
  func channelWithRoom(at now: MonotonicInstant) -> AresChannel? {
    guard let newest = channels.last, newest.asked + 2 <= Self.maximumQueries else { return nil }
    return newest.start.duration(to: now) < Self.maximumAge ? newest : nil
  }

  /// Adds the channel that takes look-ups from now on.
  mutating func append(_ channel: AresChannel) {
    if channels.count == Self.maximumChannels { channels.removeFirst().giveUp() }
    channels.append(channel)
  }

  /// Closes the channels that have nothing left to do and sets the others' timers; called at the
  /// end of every turn.
  mutating func tidy() {
    let newest = channels.last
    for channel in channels where channel !== newest && channel.waiting == 0 { channel.close() }
    channels.removeAll { $0 !== newest && $0.waiting == 0 }
    for channel in channels { channel.keepTime() }
  }

  /// Closes all; what waits has failed.
  mutating func close() {
    let all = channels
    channels = []
    for channel in all { channel.close() }
  }
}
