@_exported import Groundwork

public struct SCNetworkReachabilityFlags: OptionSet, Sendable {
  public let rawValue: UInt32

  public init(rawValue: UInt32) {
    self.rawValue = rawValue
  }

  public static let transientConnection = SCNetworkReachabilityFlags(rawValue: 1 << 0)
  public static let reachable = SCNetworkReachabilityFlags(rawValue: 1 << 1)
  public static let connectionRequired = SCNetworkReachabilityFlags(rawValue: 1 << 2)
  public static let connectionOnTraffic = SCNetworkReachabilityFlags(rawValue: 1 << 3)
  public static let interventionRequired = SCNetworkReachabilityFlags(rawValue: 1 << 4)
  public static let isWWAN = SCNetworkReachabilityFlags(rawValue: 1 << 18)
}

/// Whether a host can be reached. Here, every host can: a rehearsal fails the requests instead.
public final class SCNetworkReachability: Sendable {}

public func SCNetworkReachabilityCreateWithName(_ allocator: AnyObject?, _ name: UnsafePointer<CChar>) -> SCNetworkReachability? {
  SCNetworkReachability()
}

public func SCNetworkReachabilityCreateWithAddress<Address>(
  _ allocator: AnyObject?, _ address: UnsafePointer<Address>
) -> SCNetworkReachability? {
  SCNetworkReachability()
}

public func SCNetworkReachabilityGetFlags(_ target: SCNetworkReachability, _ flags: UnsafeMutablePointer<SCNetworkReachabilityFlags>)
  -> Bool
{
  flags.pointee = .reachable
  return true
}
