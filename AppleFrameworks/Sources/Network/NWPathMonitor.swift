import Groundwork

public enum NWInterface {
  public enum InterfaceType: Hashable, Sendable {
    case other
    case wifi
    case cellular
    case wiredEthernet
    case loopback
  }
}

/// How the network is reached: by Wi-Fi, always.
public struct NWPath: Hashable, Sendable {
  public enum Status: Hashable, Sendable {
    case satisfied
    case unsatisfied
    case requiresConnection
  }

  public let status = Status.satisfied
  public let isExpensive = false
  public let isConstrained = false

  fileprivate init() {}

  public func usesInterfaceType(_ type: NWInterface.InterfaceType) -> Bool {
    type == .wifi
  }
}

/// Tells once how the network is reached.
public final class NWPathMonitor: @unchecked Sendable {
  private let lock = NSLock()
  private var handler: (@Sendable (NWPath) -> Void)?
  private var isCancelled = false

  public let currentPath = NWPath()

  public init() {}

  public var pathUpdateHandler: (@Sendable (NWPath) -> Void)? {
    get { lock.withLock { handler } }
    set { lock.withLock { handler = newValue } }
  }

  public func start(queue: DispatchQueue) {
    queue.async { [self] in
      let receive = lock.withLock { () -> (@Sendable (NWPath) -> Void)? in isCancelled ? nil : handler }
      receive?(currentPath)
    }
  }

  public func cancel() {
    lock.withLock { (handler, isCancelled) = (nil, true) }
  }
}
