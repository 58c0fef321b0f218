import Foundation
import OriginalFoundation

extension UserDefaults {
  private static let lock = NSLock()
  nonisolated(unsafe) private static var suites: Set<String> = []

  /// Opens the defaults of an app group.
  @_disfavoredOverload
  public convenience init?(suiteName: String?) {
    if let suiteName { Self.lock.withLock { _ = Self.suites.insert(suiteName) } }
    self.init(originalSuite: suiteName)
  }

  /// Writes what was set to the files. Foundation for Linux keeps it in the process, and a phone does not.
  package static func synchronizeAll() {
    standard.synchronize()
    for suite in lock.withLock({ suites }) { UserDefaults(originalSuite: suite)?.synchronize() }
  }

  /// Stores a URL, or removes it. Foundation's method never returns for `nil` on Linux, and the
  /// literal `nil` selects it.
  @_disfavoredOverload
  public func set(_ url: URL?, forKey key: String) {
    guard let url else { return removeObject(forKey: key) }
    set(url.isFileURL ? url.path : url.absoluteString, forKey: key)
  }

  public func value(forKey key: String) -> Any? {
    object(forKey: key)
  }

  public func setValue(_ value: Any?, forKey key: String) {
    if let value { set(value, forKey: key) } else { removeObject(forKey: key) }
  }
}

extension NSDictionary {
  public func value(forKey key: String) -> Any? {
    object(forKey: key)
  }

  /// Returns the value at the end of a path of keys, which are separated by dots.
  public func value(forKeyPath path: String) -> Any? {
    var value: Any? = self
    for key in path.split(separator: ".") {
      switch value {
      case let dictionary as NSDictionary: value = dictionary.object(forKey: String(key))
      case let dictionary as [AnyHashable: Any]: value = dictionary[String(key)]
      default: return nil
      }
    }
    return value
  }
}

extension NSMutableDictionary {
  public func setValue(_ value: Any?, forKey key: String) {
    if let value { setObject(value, forKey: key as NSString) } else { removeObject(forKey: key) }
  }
}

extension ProcessInfo {
  /// Always false: there is no battery.
  public var isLowPowerModeEnabled: Bool { false }
}

extension String {
  /// Returns the text for a key, from the bundle's tables of strings.
  public init(localized key: String, table: String? = nil, bundle: Bundle? = nil, comment: StaticString? = nil) {
    self = (bundle ?? .main).localizedString(forKey: key, value: nil, table: table)
  }
}
