internal import Glibc

/// A system call that failed: its name and its errno, translated here and nowhere else.
public struct SystemError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The call, as its manual page is named.
  public var call: String
  /// The number that the call left in `errno`.
  public var number: Int32

  public init(call: String, number: Int32) {
    self.call = call
    self.number = number
  }

  public var description: String {
    "\(call): \(unsafe String(cString: strerror(number)))"
  }

  /// There is no memory, as under `ulimit -v`.
  static let noMemory = SystemError(call: "malloc", number: ENOMEM)

  /// Passes a result on, or throws the errno behind -1.
  package static func check<Value: FixedWidthInteger & SignedInteger>(_ call: String, _ result: Value) throws(SystemError) -> Value {
    guard result != -1 else { throw SystemError(call: call, number: errno) }
    return result
  }
}
