internal import Attache

/// The class of every question and record (RFC 1035, 3.2.4).
private let internetClass: UInt16 = 1

extension DNSMessage {
  /// The message in wire format. A repeated name is encoded as a pointer to its first occurrence.
  /// The records must fit into 64 KiB; the caller must ensure it.
  public var bytes: [UInt8] {
    var encoder = Encoder()
    encoder.put(identifier)
    // The flags always include "recursion desired", and "recursion available" in answers. Opcode 0
    // is a standard query.
    encoder.put((isResponse ? 0x8080 : 0) | (isTruncated ? 0x0200 : 0) | 0x0100 | UInt16(responseCode.rawValue))
    for count in [questions.count, answers.count, 0, 0] { encoder.put(UInt16(count)) }
    for question in questions {
      encoder.put(name: question.name)
      encoder.put(question.type.rawValue)
      encoder.put(internetClass)
    }
    for record in answers { encoder.put(record) }
    return encoder.bytes
  }

  private struct Encoder {
    var bytes: [UInt8] = []
    private var offsets: [String: UInt16] = [:]

    mutating func put<Number: FixedWidthInteger>(_ number: Number) {
      for shift in stride(from: Number.bitWidth - 8, through: 0, by: -8) {
        bytes.append(UInt8(truncatingIfNeeded: number >> shift))
      }
    }

    mutating func put(name: String) {
      if let offset = offsets[name] { return put(0xC000 | offset) }
      if bytes.count < 0x4000 { offsets[name] = UInt16(bytes.count) }
      for label in name.split(separator: ".") {
        bytes.append(UInt8(label.utf8.count))
        bytes += label.utf8
      }
      bytes.append(0)
    }

    mutating func put(_ record: Record) {
      put(name: record.name)
      put(record.data.type.rawValue)
      put(internetClass)
      put(record.ttl)
      put(UInt16(0))
      let start = bytes.count
      switch record.data {
      case .address(.v4(let bits)): put(bits)
      case .address(.v6(let bits)): put(bits)
      case .alias(let name): put(name: name)
      case .other(_, let data): bytes += data
      }
      let length = UInt16(bytes.count - start)
      bytes[start - 2] = UInt8(length >> 8)
      bytes[start - 1] = UInt8(length & 0xFF)
    }
  }
}
