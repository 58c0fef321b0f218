import Groundwork

public struct OSLogType: RawRepresentable, Hashable, Sendable {
  public var rawValue: UInt8

  public init(rawValue: UInt8) {
    self.rawValue = rawValue
  }

  public init(_ rawValue: UInt8) {
    self.rawValue = rawValue
  }

  public static let `default` = OSLogType(0)
  public static let info = OSLogType(1)
  public static let debug = OSLogType(2)
  public static let error = OSLogType(16)
  public static let fault = OSLogType(17)

  var name: String {
    switch self {
    case .info: "info"
    case .debug: "debug"
    case .error: "error"
    case .fault: "fault"
    default: "notice"
    }
  }
}

open class OSLog: NSObject, @unchecked Sendable {
  let subsystem: String
  let category: String

  public init(subsystem: String, category: String) {
    (self.subsystem, self.category) = (subsystem, category)
    super.init()
  }

  public static let `default` = OSLog(subsystem: "", category: "")
  public static let disabled = OSLog(subsystem: "", category: "disabled")

  /// Writes a line to standard error.
  func write(_ type: OSLogType, _ text: String) {
    guard self !== Self.disabled else { return }
    let place = [subsystem, category].filter { !$0.isEmpty }.joined(separator: ":")
    FileHandle.standardError.write(Data("[\(place.isEmpty ? type.name : "\(place) \(type.name)")] \(text)\n".utf8))
  }
}

public func os_log(
  _ message: StaticString, dso: UnsafeRawPointer? = nil, log: OSLog = .default, type: OSLogType = .default, _ arguments: Any...
) {
  log.write(type, "\(message)".formatted(with: arguments))
}

public func os_log(_ type: OSLogType, dso: UnsafeRawPointer? = nil, log: OSLog = .default, _ message: StaticString, _ arguments: Any...) {
  log.write(type, "\(message)".formatted(with: arguments))
}

@_disfavoredOverload
public func os_log(_ message: OSLogMessage) {
  OSLog.default.write(.default, message.text)
}

@_disfavoredOverload
public func os_log(_ type: OSLogType, log: OSLog = .default, _ message: OSLogMessage) {
  log.write(type, message.text)
}

extension String {
  /// Replaces each conversion, such as `%{public}@` or `%.2f`, by its argument.
  func formatted(with arguments: [Any]) -> String {
    var result = ""
    var rest = self[...]
    var arguments = arguments[...]
    while let percent = rest.firstIndex(of: "%") {
      result += rest[..<percent]
      rest = rest[rest.index(after: percent)...]
      if rest.hasPrefix("%") {
        result += "%"
        rest = rest.dropFirst()
        continue
      }
      if rest.hasPrefix("{") { rest = rest.drop { $0 != "}" }.dropFirst() }
      let specifier = rest.prefix { !$0.isLetter && $0 != "@" }
      rest = rest.dropFirst(specifier.count)
      let length = rest.prefix { "hlqzjt".contains($0) }
      rest = rest.dropFirst(length.count)
      guard let conversion = rest.popFirst(), let argument = arguments.popFirst() else { continue }
      switch (conversion, argument) {
      case ("f", let number as Double): result += String(format: "%\(specifier)f", number)
      case ("f", let number as Float): result += String(format: "%\(specifier)f", Double(number))
      case ("x", let number as Int): result += String(format: "%\(specifier)lx", number)
      default: result += "\(argument)"
      }
    }
    return result + rest
  }
}

public struct Logger: Sendable {
  private let log: OSLog

  public init() {
    log = .default
  }

  public init(subsystem: String, category: String) {
    log = OSLog(subsystem: subsystem, category: category)
  }

  public init(_ log: OSLog) {
    self.log = log
  }

  public func log(_ message: OSLogMessage) { log.write(.default, message.text) }
  public func log(level: OSLogType, _ message: OSLogMessage) { log.write(level, message.text) }
  public func trace(_ message: OSLogMessage) { log.write(.debug, message.text) }
  public func debug(_ message: OSLogMessage) { log.write(.debug, message.text) }
  public func info(_ message: OSLogMessage) { log.write(.info, message.text) }
  public func notice(_ message: OSLogMessage) { log.write(.default, message.text) }
  public func warning(_ message: OSLogMessage) { log.write(.error, message.text) }
  public func error(_ message: OSLogMessage) { log.write(.error, message.text) }
  public func critical(_ message: OSLogMessage) { log.write(.fault, message.text) }
  public func fault(_ message: OSLogMessage) { log.write(.fault, message.text) }
}

/// A lock around a value.
public final class OSAllocatedUnfairLock<State>: @unchecked Sendable {
  fileprivate let mutex = NSLock()
  private var state: State

  public init(initialState: State) {
    state = initialState
  }

  public init(uncheckedState: State) {
    state = uncheckedState
  }

  public func withLock<Result>(_ body: (inout State) throws -> Result) rethrows -> Result {
    try mutex.withLock { try body(&state) }
  }

  public func withLockUnchecked<Result>(_ body: (inout State) throws -> Result) rethrows -> Result {
    try mutex.withLock { try body(&state) }
  }
}

extension OSAllocatedUnfairLock where State == Void {
  public convenience init() {
    self.init(initialState: ())
  }

  public func lock() { mutex.lock() }
  public func unlock() { mutex.unlock() }
}
