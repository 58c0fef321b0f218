internal import Glibc

/// The machine that the process runs on: the monotonic clock, POSIX threads, eventfd and epoll.
package struct SystemMachine: Machine {
  package init() {}

  package var now: MonotonicInstant {
    .now
  }

  package var processors: Int {
    sysconf(Int32(_SC_NPROCESSORS_ONLN))
  }

  package var randomFraction: Double {
    .random(in: 0...1)
  }

  package func start(_ name: String, _ urgency: ThreadUrgency, _ body: @escaping @Sendable () -> Void) throws(SystemError)
    -> any StartedThread
  {
    try Thread.start(name, urgency, body)
  }

  package func makeWakeSignal() throws(SystemError) -> any WakeSignal {
    try EventFD()
  }

  package func makeInputGate() throws(SystemError) -> any InputGate {
    try InputPoll()
  }

  package func makePoller() throws(SystemError) -> any Poller {
    try Epoll()
  }

  package func makeStreams() throws(SystemError) -> (any ByteStream, any ByteStream) {
    let (one, other) = try SocketStream.pair()
    return (SocketStream(one), SocketStream(other))
  }
}
