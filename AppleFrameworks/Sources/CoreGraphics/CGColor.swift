import Groundwork

/// A colour of sRGB.
public final class CGColor: Hashable, Sendable {
  /// Red, green, blue and alpha, from 0 to 1.
  package let parts: [Double]

  public init(red: CGFloat, green: CGFloat, blue: CGFloat, alpha: CGFloat) {
    parts = [red, green, blue, alpha].map { $0.isFinite ? min(max(Double($0), 0), 1) : 0 }
  }

  public convenience init(gray: CGFloat, alpha: CGFloat) {
    self.init(red: gray, green: gray, blue: gray, alpha: alpha)
  }

  public var alpha: CGFloat { CGFloat(parts[3]) }
  public var components: [CGFloat]? { parts.map { CGFloat($0) } }
  public var numberOfComponents: Int { 4 }

  public static func == (left: CGColor, right: CGColor) -> Bool {
    left.parts == right.parts
  }

  public func hash(into hasher: inout Hasher) {
    hasher.combine(parts)
  }
}

/// A colour space. All pictures here have sRGB.
public final class CGColorSpace: Sendable {
  public static let sRGB = "kCGColorSpaceSRGB" as CFString

  fileprivate init() {}

  /// - Returns: nil for another space than sRGB.
  public init?(name: CFString) {
    guard name == Self.sRGB else { return nil }
  }
}

public func CGColorSpaceCreateDeviceRGB() -> CGColorSpace {
  CGColorSpace()
}

/// Where the alpha of a pixel is. It says nothing about what is drawn.
public enum CGImageAlphaInfo: UInt32, Sendable {
  case none = 0
  case premultipliedLast = 1
  case premultipliedFirst = 2
  case last = 3
  case first = 4
  case noneSkipLast = 5
  case noneSkipFirst = 6
  case alphaOnly = 7
}

public struct CGBitmapInfo: OptionSet, Sendable {
  public let rawValue: UInt32

  public init(rawValue: UInt32) {
    self.rawValue = rawValue
  }

  public static let byteOrder32Little = CGBitmapInfo(rawValue: 2 << 12)
  public static let byteOrder32Big = CGBitmapInfo(rawValue: 4 << 12)
}

public enum CGInterpolationQuality: Int32, Sendable {
  case `default` = 0
  case none = 1
  case low = 2
  case high = 3
  case medium = 4
}

/// How what is drawn covers what is there.
public enum CGBlendMode: Int32, Sendable {
  case normal = 0
}
