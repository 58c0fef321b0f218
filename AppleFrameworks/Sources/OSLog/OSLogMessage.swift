import Groundwork

/// The text of a log message. Nothing is hidden: a rehearsal has no secrets of a user.
public struct OSLogMessage: ExpressibleByStringInterpolation {
  let text: String

  public init(stringLiteral value: String) {
    text = value
  }

  public init(stringInterpolation: OSLogInterpolation) {
    text = stringInterpolation.text
  }
}

public struct OSLogInterpolation: StringInterpolationProtocol {
  var text = ""

  public init(literalCapacity: Int, interpolationCount: Int) {
    text.reserveCapacity(literalCapacity)
  }

  public mutating func appendLiteral(_ literal: String) {
    text += literal
  }

  public mutating func appendInterpolation<Value>(
    _ value: @autoclosure () -> Value, align: OSLogStringAlignment = .none, privacy: OSLogPrivacy = .auto, attributes: String = ""
  ) {
    text += "\(value())"
  }

  public mutating func appendInterpolation<Value: CVarArg>(
    _ value: @autoclosure () -> Value, format: OSLogFormat, align: OSLogStringAlignment = .none, privacy: OSLogPrivacy = .auto,
    attributes: String = ""
  ) {
    text += format.text(value())
  }
}

public struct OSLogPrivacy: Sendable {
  public enum Mask: Sendable {
    case hash
    case none
  }

  public static let auto = OSLogPrivacy()
  public static let `public` = OSLogPrivacy()
  public static let `private` = OSLogPrivacy()
  public static let sensitive = OSLogPrivacy()

  public static func auto(mask: Mask) -> OSLogPrivacy { OSLogPrivacy() }
  public static func `private`(mask: Mask) -> OSLogPrivacy { OSLogPrivacy() }
  public static func sensitive(mask: Mask) -> OSLogPrivacy { OSLogPrivacy() }
}

public struct OSLogStringAlignment: Sendable {
  public static let none = OSLogStringAlignment()

  public static func left(columns: Int) -> OSLogStringAlignment { OSLogStringAlignment() }
  public static func right(columns: Int) -> OSLogStringAlignment { OSLogStringAlignment() }
}

public struct OSLogFormat: Sendable {
  private let specifier: String

  public static let decimal = OSLogFormat(specifier: "")
  public static let hex = OSLogFormat(specifier: "%lx")
  public static let octal = OSLogFormat(specifier: "%lo")
  public static let fixed = OSLogFormat(specifier: "%f")

  public static func fixed(precision: Int) -> OSLogFormat { OSLogFormat(specifier: "%.\(min(max(precision, 0), 99))f") }

  func text(_ value: any CVarArg) -> String {
    specifier.isEmpty ? "\(value)" : String(format: specifier, value)
  }
}
