import Foundation

/// Finds links and addresses of mail in a text.
open class NSDataDetector: NSObject, @unchecked Sendable {
  /// A link with a scheme, one that begins with `www`, and an address of mail.
  private static let pattern =
    #"(?<url>\bhttps?://[^\s<>"]+)|(?<host>\bwww\.[a-z0-9-]+(?:\.[a-z0-9-]+)+[^\s<>"]*)|(?<mail>\b[a-z0-9._%+-]+@[a-z0-9-]+(?:\.[a-z0-9-]+)+)"#
  /// The prefix of the URL for each kind of link.
  private static let prefixes = [("url", ""), ("host", "http://"), ("mail", "mailto:")]

  public let checkingTypes: NSTextCheckingTypes
  private let expression: NSRegularExpression

  /// - Throws: an error for types without `link`: no other type is found.
  public init(types checkingTypes: NSTextCheckingTypes) throws {
    guard checkingTypes & NSTextCheckingResult.CheckingType.link.rawValue != 0 else {
      throw CocoaError(.featureUnsupported)
    }
    self.checkingTypes = checkingTypes
    expression = try NSRegularExpression(pattern: Self.pattern, options: .caseInsensitive)
    super.init()
  }

  open func matches(
    in string: String, options: NSRegularExpression.MatchingOptions = [], range: NSRange
  ) -> [NSTextCheckingResult] {
    expression.matches(in: string, options: options, range: range).compactMap { Self.link($0, in: string as NSString) }
  }

  open func firstMatch(
    in string: String, options: NSRegularExpression.MatchingOptions = [], range: NSRange
  ) -> NSTextCheckingResult? {
    matches(in: string, options: options, range: range).first
  }

  open func numberOfMatches(in string: String, options: NSRegularExpression.MatchingOptions = [], range: NSRange) -> Int {
    matches(in: string, options: options, range: range).count
  }

  open func enumerateMatches(
    in string: String, options: NSRegularExpression.MatchingOptions = [], range: NSRange,
    using block: (NSTextCheckingResult?, NSRegularExpression.MatchingFlags, UnsafeMutablePointer<ObjCBool>) -> Void
  ) {
    var stops = ObjCBool(false)
    for match in matches(in: string, options: options, range: range) where !stops.boolValue { block(match, [], &stops) }
  }

  private static func link(_ match: NSTextCheckingResult, in string: NSString) -> NSTextCheckingResult? {
    // A sentence's punctuation does not belong to its link.
    let text = string.substring(with: match.range)
    let end = text.lastIndex { !".,;:!?)]}'".contains($0) }
    guard let end, let prefix = prefixes.first(where: { match.range(withName: $0.0).location != NSNotFound })?.1,
      let url = URL(string: prefix + text[...end])
    else { return nil }
    return LinkResult(NSRange(location: match.range.location, length: text[...end].utf16.count), url)
  }
}

/// A link in a text.
private final class LinkResult: NSTextCheckingResult {
  private let place: NSRange
  let link: URL

  init(_ place: NSRange, _ link: URL) {
    (self.place, self.link) = (place, link)
    super.init()
  }

  required init?(coder: NSCoder) {
    nil
  }

  override var resultType: CheckingType { .link }
  override var range: NSRange { place }
  override var numberOfRanges: Int { 1 }

  override func range(at index: Int) -> NSRange {
    place
  }
}

public typealias NSTextCheckingTypes = UInt64

extension NSTextCheckingResult.CheckingType {
  public static let link = NSTextCheckingResult.CheckingType(rawValue: 1 << 5)
}

extension NSTextCheckingResult {
  /// The link, if this is one.
  public var url: URL? { (self as? LinkResult)?.link }
}
