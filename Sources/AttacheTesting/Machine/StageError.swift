internal import Attache
internal import Glibc

/// The reason why a scenario's environment could not be set up or failed.
package enum StageError: Error, Sendable, CustomStringConvertible {
  /// This machine or this user lacks what the scenario needs, so it is not played.
  case unavailable(String)
  case system(call: String, errno: Int32)
  case origin(OriginError)
  case dns(String)
  /// attache rejects the flags.
  case flags(String)
  /// A payload or a redirect leads to an address beyond loopback.
  case beyondLoopback(String)
  /// A queue command failed.
  case queue(String)
  /// A service extension cannot be rehearsed.
  case serviceExtension(String)

  init(_ error: SystemError) {
    self = .system(call: error.call, errno: error.number)
  }

  package var description: String {
    switch self {
    case .unavailable(let reason): reason
    case .system(let call, let number): "\(call): \(SystemError.text(number, of: call))"
    case .origin(let error): "an origin does not start: \(error)"
    case .dns(let reason): "the name server does not start: \(reason)"
    case .flags(let message): "the scenario's flags are wrong: \(message)"
    case .beyondLoopback(let place):
      "the scenario leads to \(place), but its network is loopback: nothing was sent there; write `network: isolated`, or remove it"
    case .queue(let message), .serviceExtension(let message): message
    }
  }
}
