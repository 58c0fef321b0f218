/// An entity tag, and the evaluation of a request's conditions on it (RFC 9110, sections 13 and
/// 14).
struct EntityTag {
  /// The part of a representation with this tag that a request asks for.
  enum Condition: Equatable {
    case whole
    case notModified
    case part(Range<Int>)
    case unsatisfiable
  }

  private let text: String

  /// - Parameter text: the tag as in the header, including quotes and `W/`.
  init(_ text: String) {
    self.text = text
  }

  /// Evaluates the conditions of a request.
  ///
  /// - Parameter length: the representation's size in bytes.
  func condition(of request: RecordedRequest, length: Int) -> Condition {
    if let list = request.field("If-None-Match"), matches(list) { return .notModified }
    guard let range = request.field("Range") else { return .whole }
    if let validator = request.field("If-Range"), validator != text || text.hasPrefix("W/") { return .whole }
    return Self.part(range, length: length)
  }

  /// Returns whether the tag matches an entry of a list, by weak comparison.
  private func matches(_ list: String) -> Bool {
    list.split(separator: ",").map { Self.opaque($0) }.contains { $0 == "*" || $0 == Self.opaque(text[...]) }
  }

  private static func opaque(_ tag: Substring) -> Substring {
    let tag = tag.drop { $0 == " " }
    return (tag.hasPrefix("W/") ? tag.dropFirst(2) : tag).prefix { $0 != " " }
  }

  /// Parses a single byte range. Several ranges, or another unit, mean the whole representation.
  private static func part(_ field: String, length: Int) -> Condition {
    guard field.hasPrefix("bytes="), !field.contains(",") else { return .whole }
    let bounds = field.dropFirst(6).split(separator: "-", omittingEmptySubsequences: false)
    guard bounds.count == 2 else { return .whole }
    switch (Int(bounds[0]), Int(bounds[1])) {
    case (let first?, nil) where bounds[1].isEmpty: return part(from: first, to: length)
    case (let first?, let last?) where last >= first: return part(from: first, to: min(last, length - 1) + 1)
    case (nil, let suffix?) where bounds[0].isEmpty: return part(from: max(0, length - suffix), to: length)
    default: return .whole
    }
  }

  private static func part(from first: Int, to end: Int) -> Condition {
    first < end ? .part(first..<end) : .unsatisfiable
  }
}
