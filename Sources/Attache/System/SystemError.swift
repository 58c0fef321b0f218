internal import Glibc

/// A failed system call: its name and its errno.
public struct SystemError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The name of the call, as in its manual page.
  public var call: String
  /// The value of `errno` after the call.
  public var number: Int32

  /// Makes an error from the name of a call and the value of `errno`.
  public init(call: String, number: Int32) {
    self.call = call
    self.number = number
  }

  public var description: String {
    "\(call): \(unsafe String(cString: strerror(number)))"
  }

  /// Memory is exhausted, for example because of `ulimit -v`.
  static let noMemory = SystemError(call: "malloc", number: ENOMEM)

  /// Returns `result`, or throws the current `errno` if it is -1.
  package static func check<Value: FixedWidthInteger & SignedInteger>(_ call: String, _ result: Value) throws(SystemError) -> Value {
    guard result != -1 else { throw SystemError(call: call, number: errno) }
    return result
  }
}
