import Dispatch
import Foundation

// What code asks about the device.

extension ProcessInfo {
  public enum ThermalState: Int, Sendable {
    case nominal = 0
    case fair = 1
    case serious = 2
    case critical = 3
  }

  /// Always `nominal`.
  public var thermalState: ThermalState { .nominal }
  public var isiOSAppOnMac: Bool { false }
  public var isMacCatalystApp: Bool { false }

  /// Runs `block` on another queue. It is not told that it must end: the host ends the process.
  public func performExpiringActivity(withReason reason: String, using block: @escaping @Sendable (Bool) -> Void) {
    DispatchQueue.global().async { block(false) }
  }
}

extension Bundle {
  /// Where an app from the App Store has its receipt. There is no file.
  public var appStoreReceiptURL: URL? { bundleURL.appendingPathComponent("StoreKit/receipt") }
}

extension DispatchSource {
  public struct MemoryPressureEvent: OptionSet, Sendable {
    public let rawValue: UInt

    public init(rawValue: UInt) {
      self.rawValue = rawValue
    }

    public static let normal = MemoryPressureEvent(rawValue: 1)
    public static let warning = MemoryPressureEvent(rawValue: 2)
    public static let critical = MemoryPressureEvent(rawValue: 4)
    public static let all: MemoryPressureEvent = [.normal, .warning, .critical]
  }

  /// Creates a source that never has an event: the host ends a process that needs too much memory, without a warning.
  public class func makeMemoryPressureSource(
    eventMask: MemoryPressureEvent, queue: DispatchQueue? = nil
  ) -> any DispatchSourceMemoryPressure {
    MemoryPressureSource(eventMask, queue)
  }
}

public protocol DispatchSourceMemoryPressure: AnyObject {
  var data: DispatchSource.MemoryPressureEvent { get }
  var mask: DispatchSource.MemoryPressureEvent { get }
  var isCancelled: Bool { get }
  func setEventHandler(qos: DispatchQoS, flags: DispatchWorkItemFlags, handler: (@convention(block) () -> Void)?)
  func setCancelHandler(qos: DispatchQoS, flags: DispatchWorkItemFlags, handler: (@convention(block) () -> Void)?)
  func activate()
  func resume()
  func suspend()
  func cancel()
}

extension DispatchSourceMemoryPressure {
  public func setEventHandler(handler: (@convention(block) () -> Void)?) {
    setEventHandler(qos: .unspecified, flags: [], handler: handler)
  }

  public func setCancelHandler(handler: (@convention(block) () -> Void)?) {
    setCancelHandler(qos: .unspecified, flags: [], handler: handler)
  }
}

/// A source to which nobody adds.
private final class MemoryPressureSource: DispatchSourceMemoryPressure {
  let mask: DispatchSource.MemoryPressureEvent
  private let source: any DispatchSourceUserDataAdd

  init(_ mask: DispatchSource.MemoryPressureEvent, _ queue: DispatchQueue?) {
    self.mask = mask
    source = DispatchSource.makeUserDataAddSource(queue: queue)
  }

  var data: DispatchSource.MemoryPressureEvent { [] }
  var isCancelled: Bool { source.isCancelled }

  func setEventHandler(qos: DispatchQoS, flags: DispatchWorkItemFlags, handler: (@convention(block) () -> Void)?) {
    source.setEventHandler(qos: qos, flags: flags, handler: handler)
  }

  func setCancelHandler(qos: DispatchQoS, flags: DispatchWorkItemFlags, handler: (@convention(block) () -> Void)?) {
    source.setCancelHandler(qos: qos, flags: flags, handler: handler)
  }

  func activate() { source.activate() }
  func resume() { source.resume() }
  func suspend() { source.suspend() }
  func cancel() { source.cancel() }
}
