internal import Attache

/// The `apns-id` of a payload. It is the same for each try, so that Apple and a log can distinguish
/// a second try from another payload.
struct PushIdentifier: Hashable {
  /// A UUID in its canonical form, in lower case.
  let text: String

  /// Creates a UUID of version 8 (RFC 9562, 5.8) from 122 bits of the SHA-256 of the queue's name
  /// and the payload's number.
  init(queue: String, payload number: Int64) {
    var hash = SHA256()
    hash.update(Array("attache apns-id\0\(queue)\0\(number)".utf8))
    var bytes = Array(hash.finish().bytes.prefix(16))
    bytes[6] = bytes[6] & 0x0F | 0x80
    bytes[8] = bytes[8] & 0x3F | 0x80
    let digits = Array("0123456789abcdef".utf8)
    var form: [UInt8] = []
    form.reserveCapacity(36)
    for (index, byte) in bytes.enumerated() {
      if index == 4 || index == 6 || index == 8 || index == 10 { form.append(UInt8(ascii: "-")) }
      form.append(digits[Int(byte >> 4)])
      form.append(digits[Int(byte & 0xF)])
    }
    text = String(decoding: form, as: UTF8.self)
  }
}
