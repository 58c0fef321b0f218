import CExtensionRuntime
@_exported import Groundwork

public typealias CC_LONG = UInt32

public let CC_MD5_DIGEST_LENGTH: Int32 = 16
public let CC_SHA1_DIGEST_LENGTH: Int32 = 20
public let CC_SHA256_DIGEST_LENGTH: Int32 = 32
public let CC_SHA512_DIGEST_LENGTH: Int32 = 64

private func digest(
  _ name: String, _ data: UnsafeRawPointer?, _ count: CC_LONG, _ output: UnsafeMutablePointer<UInt8>?
) -> UnsafeMutablePointer<UInt8>? {
  guard let output else { return nil }
  var bytes = [UInt8](repeating: 0, count: 64)
  let length = runtime_digest(name, data, Int(count), &bytes)
  precondition(length > 0, "OpenSSL 3 has no \(name); install libssl3")
  for index in 0..<length { output[index] = bytes[index] }
  return output
}

@discardableResult
public func CC_MD5(_ data: UnsafeRawPointer?, _ len: CC_LONG, _ md: UnsafeMutablePointer<UInt8>?) -> UnsafeMutablePointer<UInt8>? {
  digest("MD5", data, len, md)
}

@discardableResult
public func CC_SHA1(_ data: UnsafeRawPointer?, _ len: CC_LONG, _ md: UnsafeMutablePointer<UInt8>?) -> UnsafeMutablePointer<UInt8>? {
  digest("SHA1", data, len, md)
}

@discardableResult
public func CC_SHA256(_ data: UnsafeRawPointer?, _ len: CC_LONG, _ md: UnsafeMutablePointer<UInt8>?) -> UnsafeMutablePointer<UInt8>? {
  digest("SHA256", data, len, md)
}

@discardableResult
public func CC_SHA512(_ data: UnsafeRawPointer?, _ len: CC_LONG, _ md: UnsafeMutablePointer<UInt8>?) -> UnsafeMutablePointer<UInt8>? {
  digest("SHA512", data, len, md)
}
