internal import Attache

/// A resolver that reports each answer and its delay to a recorder.
final class RecordingResolver: Resolver {
  /// An answer within this time counts as immediate.
  private static let atOnce = Duration.milliseconds(5)

  private let resolver: any Resolver
  private let recorder: Recorder
  private let machine: any Machine

  init(_ resolver: any Resolver, recorder: Recorder, machine: any Machine) {
    self.resolver = resolver
    self.recorder = recorder
    self.machine = machine
  }

  func resolve(_ name: String, _ completion: @escaping (Result<[IPAddress], DNSFailure>) -> Void) {
    let start = machine.now
    resolver.resolve(name) { [recorder, machine] result in
      let delay = start.duration(to: machine.now)
      recorder.note(
        NameScript.Turn(.init(result), delay: delay < Self.atOnce ? .zero : .milliseconds(delay.nanoseconds / 1_000_000)), of: name)
      completion(result)
    }
  }

  func shutdown() {
    resolver.shutdown()
  }
}

extension NameScript.Answer {
  fileprivate init(_ result: Result<[IPAddress], DNSFailure>) {
    switch result {
    case .success(let addresses): self = .addresses(addresses)
    case .failure(.notFound): self = .none
    case .failure(.failed), .failure(.refused): self = .failure
    case .failure(.timeout): self = .stall
    }
  }
}
