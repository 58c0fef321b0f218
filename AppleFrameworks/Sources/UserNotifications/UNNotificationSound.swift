import Groundwork

public struct UNNotificationSoundName: RawRepresentable, Hashable, Sendable {
  public var rawValue: String

  public init(_ rawValue: String) {
    self.rawValue = rawValue
  }

  public init(rawValue: String) {
    self.rawValue = rawValue
  }
}

/// The sound of a notification. Two sounds are equal if they sound the same.
open class UNNotificationSound: NSObject, NSCopying, @unchecked Sendable {
  private let name: String
  private let isCritical: Bool
  private let volume: Float?

  private init(_ name: String, isCritical: Bool = false, volume: Float? = nil) {
    (self.name, self.isCritical, self.volume) = (name, isCritical, volume)
    super.init()
  }

  /// - Parameter payload: the value of `aps.sound`.
  convenience init?(payload: Any?) {
    switch payload {
    case let name as String: self.init(name)
    case let sound as [String: Any]:
      guard let name = sound["name"] as? String else { return nil }
      let volume = (sound["volume"] as? NSNumber)?.floatValue
      self.init(name, isCritical: (sound["critical"] as? NSNumber)?.boolValue ?? false, volume: volume)
    default: return nil
    }
  }

  public convenience init(named name: UNNotificationSoundName) {
    self.init(name.rawValue)
  }

  open class var `default`: UNNotificationSound { UNNotificationSound("default") }
  open class var defaultCritical: UNNotificationSound { UNNotificationSound("default", isCritical: true) }
  open class var defaultRingtone: UNNotificationSound { UNNotificationSound("default") }

  open class func defaultCriticalSound(withAudioVolume volume: Float) -> UNNotificationSound {
    UNNotificationSound("default", isCritical: true, volume: volume)
  }

  open class func criticalSoundNamed(_ name: UNNotificationSoundName) -> UNNotificationSound {
    UNNotificationSound(name.rawValue, isCritical: true)
  }

  open class func criticalSoundNamed(_ name: UNNotificationSoundName, withAudioVolume volume: Float) -> UNNotificationSound {
    UNNotificationSound(name.rawValue, isCritical: true, volume: volume)
  }

  open class func ringtoneSoundNamed(_ name: UNNotificationSoundName) -> UNNotificationSound {
    UNNotificationSound(name.rawValue)
  }

  /// The value of `aps.sound`.
  var payload: Any {
    guard isCritical else { return name }
    var payload: [String: Any] = ["critical": 1, "name": name]
    if let volume, volume.isFinite { payload["volume"] = Double(min(max(volume, 0), 1)) }
    return payload
  }

  open func copy(with zone: NSZone? = nil) -> Any {
    self
  }

  open override func isEqual(_ object: Any?) -> Bool {
    guard let other = object as? UNNotificationSound else { return false }
    return name == other.name && isCritical == other.isCritical && volume == other.volume
  }

  open override var hash: Int { name.hashValue }
}
