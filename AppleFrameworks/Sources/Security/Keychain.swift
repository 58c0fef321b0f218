@_exported import Groundwork

public let errSecSuccess: OSStatus = 0
public let errSecParam: OSStatus = -50
public let errSecItemNotFound: OSStatus = -25300
public let errSecDuplicateItem: OSStatus = -25299

public let kSecClass: CFString = "class"
public let kSecClassGenericPassword: CFString = "genp"
public let kSecClassInternetPassword: CFString = "inet"
public let kSecClassKey: CFString = "keys"
public let kSecAttrAccount: CFString = "acct"
public let kSecAttrService: CFString = "svce"
public let kSecAttrGeneric: CFString = "gena"
public let kSecAttrLabel: CFString = "labl"
public let kSecAttrAccessGroup: CFString = "agrp"
public let kSecAttrSynchronizable: CFString = "sync"
public let kSecAttrSynchronizableAny: CFString = "syna"
public let kSecAttrAccessible: CFString = "pdmn"
public let kSecAttrAccessibleAfterFirstUnlock: CFString = "ck"
public let kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly: CFString = "cku"
public let kSecAttrAccessibleWhenUnlocked: CFString = "ak"
public let kSecAttrAccessibleWhenUnlockedThisDeviceOnly: CFString = "aku"
public let kSecValueData: CFString = "v_Data"
public let kSecReturnData: CFString = "r_Data"
public let kSecReturnAttributes: CFString = "r_Attributes"
public let kSecMatchLimit: CFString = "m_Limit"
public let kSecMatchLimitOne: CFString = "m_LimitOne"
public let kSecMatchLimitAll: CFString = "m_LimitAll"
public let kSecUseDataProtectionKeychain: CFString = "nleg"

/// The keychain of the simulated phone: a property list beside the folders of the app groups, so
/// that an app and its extension share it.
private enum Keychain {
  private static let lock = NSLock()
  private static let queryNames: Set<String> = ["v_Data", "r_Data", "r_Attributes", "m_Limit", "nleg", "pdmn"]

  private static var file: URL {
    let environment = ProcessInfo.processInfo.environment
    let folder = environment["ATTACHE_GROUPS"] ?? NSHomeDirectory()
    return URL(fileURLWithPath: folder, isDirectory: true).appendingPathComponent("Keychain.plist")
  }

  /// Reads the items, lets `body` change them, and writes them if they have changed.
  static func change<Result>(_ body: (inout [[String: Any]]) -> Result) -> Result {
    lock.withLock {
      let data = try? Data(contentsOf: file)
      var items = data.flatMap { try? PropertyListSerialization.propertyList(from: $0, format: nil) } as? [[String: Any]] ?? []
      let before = items as NSArray
      let result = body(&items)
      if !before.isEqual(to: items), let data = try? PropertyListSerialization.data(fromPropertyList: items, format: .xml, options: 0) {
        try? data.write(to: file, options: .atomic)
      }
      return result
    }
  }

  /// Whether an item has the attributes of a query.
  static func matches(_ item: [String: Any], _ query: [String: Any]) -> Bool {
    query.allSatisfy { name, value in
      queryNames.contains(name) || (value as? String) == "syna"
        || item[name].map { ([$0] as NSArray).isEqual(to: [value]) } ?? (name == "sync")
    }
  }

  static func isSame(_ left: [String: Any], _ right: [String: Any]) -> Bool {
    ["class", "acct", "svce", "agrp"].allSatisfy { name in
      (left[name] as? String) == (right[name] as? String)
    }
  }
}

private func attributes(_ dictionary: CFDictionary) -> [String: Any]? {
  guard let attributes = dictionary as? [String: Any] else { return nil }
  // A property list has no Swift classes of the caller's.
  return PropertyListSerialization.propertyList(attributes, isValidFor: .xml) ? attributes : nil
}

public func SecItemAdd(_ attributes_: CFDictionary, _ result: UnsafeMutablePointer<CFTypeRef?>?) -> OSStatus {
  guard let item = attributes(attributes_), item["class"] is String else { return errSecParam }
  return Keychain.change { items in
    guard !items.contains(where: { Keychain.isSame($0, item) }) else { return errSecDuplicateItem }
    items.append(item.filter { !$0.key.hasPrefix("r_") && !$0.key.hasPrefix("m_") })
    return errSecSuccess
  }
}

public func SecItemCopyMatching(_ query: CFDictionary, _ result: UnsafeMutablePointer<CFTypeRef?>?) -> OSStatus {
  guard let query = attributes(query) else { return errSecParam }
  let found = Keychain.change { items in items.filter { Keychain.matches($0, query) } }
  guard let first = found.first else { return errSecItemNotFound }
  func value(_ item: [String: Any]) -> CFTypeRef {
    (query["r_Attributes"] as? Bool) == true ? item as NSDictionary : (item["v_Data"] as? Data ?? Data()) as NSData
  }
  result?.pointee = (query["m_Limit"] as? String) == "m_LimitAll" ? found.map(value) as NSArray : value(first)
  return errSecSuccess
}

public func SecItemUpdate(_ query: CFDictionary, _ changes: CFDictionary) -> OSStatus {
  guard let query = attributes(query), let changes = attributes(changes) else { return errSecParam }
  return Keychain.change { items in
    let places = items.indices.filter { Keychain.matches(items[$0], query) }
    for place in places { items[place].merge(changes) { _, new in new } }
    return places.isEmpty ? errSecItemNotFound : errSecSuccess
  }
}

public func SecItemDelete(_ query: CFDictionary) -> OSStatus {
  guard let query = attributes(query) else { return errSecParam }
  return Keychain.change { items in
    let count = items.count
    items.removeAll { Keychain.matches($0, query) }
    return items.count == count ? errSecItemNotFound : errSecSuccess
  }
}

public final class SecRandom: Sendable {}
public let kSecRandomDefault: SecRandom? = nil

public func SecRandomCopyBytes(_ random: SecRandom?, _ count: Int, _ bytes: UnsafeMutableRawPointer) -> Int32 {
  var generator = SystemRandomNumberGenerator()
  for index in 0..<count { bytes.storeBytes(of: UInt8.random(in: .min ... .max, using: &generator), toByteOffset: index, as: UInt8.self) }
  return errSecSuccess
}

public func SecCopyErrorMessageString(_ status: OSStatus, _ reserved: UnsafeMutableRawPointer?) -> CFString? {
  "error \(status)" as NSString
}
