internal import ArgumentParser
internal import Attache

/// A number of bytes as a user writes it: `4096`, `500KB` or `64KiB`.
package struct ByteCountArgument: ExpressibleByArgument, CustomStringConvertible {
  package var bytes: Int64
  package let description: String

  package init(_ bytes: Int64, as text: String) {
    self.bytes = bytes
    description = text
  }

  package init?(argument: String) {
    guard let bytes = WrittenByteCount.bytes(argument) else { return nil }
    self.init(bytes, as: argument)
  }

  package static var allValueStrings: [String] { [] }
}
