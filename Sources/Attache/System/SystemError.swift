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
    "\(call): \(Self.text(number, of: call))"
  }

  /// Returns an errno in words, and what to do if a resource is short.
  ///
  /// - Parameter call: the call that failed with it.
  package static func text(_ number: Int32, of call: String = "") -> String {
    let text = unsafe String(cString: strerror(number))
    return Shortage(number, of: call).map { "\(text); \($0)" } ?? text
  }

  /// Memory is exhausted, for example because of `ulimit -v`.
  package static let noMemory = SystemError(call: "malloc", number: ENOMEM)

  /// Returns `result`, or throws the current `errno` if it is -1.
  package static func check<Value: FixedWidthInteger & SignedInteger>(_ call: String, _ result: Value) throws(SystemError) -> Value {
    guard result != -1 else { throw SystemError(call: call, number: errno) }
    return result
  }
}
