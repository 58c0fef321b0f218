internal import CChild
internal import CFetcher
internal import Glibc

/// The detector and the converters of a fetcher, which their parent starts: a confined fetcher starts
/// no process. The fetcher's requests are those of a stranger. It has few processes of each kind, and
/// the parent reads its requests at a limited rate.
struct FetcherHelpers {
  enum Kind: Int, CaseIterable {
    case detector, converter

    /// How many processes of this kind a fetcher has at most: those of `ConverterQueue`, and one
    /// detector.
    var maximum: Int {
      switch self {
      case .detector: 1
      case .converter: 2
      }
    }
  }

  /// The parent's end of the socket for requests.
  let socket: Int32
  /// The processes of each kind, from the oldest to the newest.
  private var running: [[pid_t]] = Kind.allCases.map { _ in [] }
  /// The processes that end because the fetcher has asked for it.
  private var ending: [pid_t: Kind] = [:]
  /// The latest child that has ended, of each kind, and its signal.
  private var ended: [(child: pid_t, signal: Int32)?] = Kind.allCases.map { _ in nil }
  /// The request that waits for the end of a child.
  private var awaited: (serial: UInt32, child: pid_t)?
  private var pace = RequestPace()

  /// - Parameter socket: belongs to this value, until ``close()``.
  init(_ socket: Int32) {
    self.socket = socket
  }

  /// The processes that are running.
  var children: [pid_t] { running.flatMap(\.self) + ending.keys }

  /// How long the next request must wait; zero if it may be read.
  func pause(at now: MonotonicInstant) -> Duration { pace.pause(at: now) }

  /// Carries out one request.
  ///
  /// - Parameter start: starts a child, and returns its socket and process ID.
  /// - Returns: false when the fetcher has closed its end, or its request is invalid.
  mutating func carryOut(at now: MonotonicInstant, start: (Kind) throws(SystemError) -> (socket: Int32, child: pid_t)) -> Bool {
    var request = child_request()
    switch unsafe child_take(socket, &request) {
    case 0: return true
    case 1: break
    default: return false
    }
    pace.note(at: now)
    guard request.order != child_end else {
      end(request)
      return true
    }
    let kind = request.order == child_start_detector ? Kind.detector : .converter
    if running[kind.rawValue].count == kind.maximum { kill(running[kind.rawValue].removeFirst(), SIGKILL) }
    do throws(SystemError) {
      let (end, child) = try start(kind)
      defer { Glibc.close(end) }
      running[kind.rawValue].append(child)
      child_answer(socket, request.serial, child, end)
    } catch {
      child_answer(socket, request.serial, -error.number, -1)
    }
    return true
  }

  private mutating func end(_ request: child_request) {
    if let end = ended.compactMap(\.self).first(where: { $0.child == request.child }) {
      child_answer(socket, request.serial, end.signal, -1)
    } else if let kind = Kind.allCases.first(where: { running[$0.rawValue].contains(request.child) }) {
      // A child that is dying keeps the signal that it dies of.
      kill(request.child, SIGKILL)
      running[kind.rawValue].removeAll { $0 == request.child }
      ending[request.child] = kind
      awaited = (request.serial, request.child)
    } else {
      child_answer(socket, request.serial, 0, -1)
    }
  }

  /// Records the end of a process.
  ///
  /// - Returns: whether it was one of these.
  mutating func hasEnded(_ child: pid_t, signal: Int32) -> Bool {
    guard let kind = ending.removeValue(forKey: child) ?? Kind.allCases.first(where: { running[$0.rawValue].contains(child) }) else {
      return false
    }
    running[kind.rawValue].removeAll { $0 == child }
    ended[kind.rawValue] = (child, signal)
    if let awaited, awaited.child == child {
      child_answer(socket, awaited.serial, signal, -1)
      self.awaited = nil
    }
    return true
  }

  /// Ends the processes.
  func close() {
    for child in children { kill(child, SIGKILL) }
    Glibc.close(socket)
  }
}

/// The rate of requests that a parent takes from a fetcher: ``burst`` at once, then one in each
/// ``interval``. A start takes 0.5 ms. Each crash of a detector needs two requests. A pure value.
struct RequestPace {
  static let burst = 64
  static let interval = Duration.milliseconds(5)

  /// When the requests so far would have been due at an even rate.
  private var due = MonotonicInstant.distantPast

  func pause(at now: MonotonicInstant) -> Duration {
    max(.zero, now.duration(to: due) - Self.interval * (Self.burst - 1))
  }

  mutating func note(at now: MonotonicInstant) {
    due = max(due, now).advanced(by: Self.interval)
  }
}
