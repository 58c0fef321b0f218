/// The contents of the frames that a host sends to a process of a service extension.
enum ExtensionFrame {
  /// The longest frame that a process may send, in bytes.
  static let maximumBytes = 1 << 20

  /// Appends the rules of the network, as JSON.
  static func appendSettings(_ json: [UInt8], to bytes: inout [UInt8]) {
    bytes.append(1)
    bytes += json
  }

  /// Appends a request.
  ///
  /// - Parameters:
  ///   - isReused: whether the instance of an earlier request serves it.
  ///   - payload: the payload's JSON.
  static func appendRequest(_ number: UInt64, isReused: Bool, identifier: String, payload: [UInt8], to bytes: inout [UInt8]) {
    let name = identifier.utf8.prefix(Int(UInt16.max))
    bytes.append(2)
    bytes.put(number)
    bytes.append(isReused ? 1 : 0)
    bytes.put(UInt16(name.count))
    bytes += name
    bytes += payload
  }

  /// Appends the notice that a request's time will expire.
  static func appendExpire(_ number: UInt64, to bytes: inout [UInt8]) {
    bytes.append(3)
    bytes.put(number)
  }

  /// Appends the notice that a request is decided.
  static func appendFinish(_ number: UInt64, to bytes: inout [UInt8]) {
    bytes.append(4)
    bytes.put(number)
  }
}
