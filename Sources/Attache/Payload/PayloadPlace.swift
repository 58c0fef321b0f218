/// Where a payload stands that is not its whole line, and where the line takes the answer.
struct PayloadPlace {
  /// A JSON string that holds the next text.
  struct Level {
    let text: JSONText
    /// The string less its quotes.
    let string: Range<Int>
    /// Another string of the same text that says the same, and takes the same changes.
    var twin: Range<Int>?
  }

  /// From the line inwards; none when the object stands in the line itself.
  var levels: [Level] = []
  /// The innermost text, when it stands in a string.
  var text: JSONText?
  /// The object that takes the member, in the innermost text.
  var object: Range<Int>
  var isEmptyObject = false
  /// The member of that object that is made to hold the member.
  var wrapper: String?
  /// The bytes of the payload as APNs gets it; nil when they are those of the object.
  var payloadCount: Int?
  /// Where the innermost text takes other words; nil when there is no such place.
  var alert: AlertPlace?

  /// Where a line takes the member.
  ///
  /// - Parameter start: where the outermost text starts in the line.
  func splice(from start: Int) -> Splice {
    let outer = outward(object) { $0.string }
    var splice = Splice(payload: start + outer.lowerBound..<start + outer.upperBound, isEmptyObject: isEmptyObject && wrapper == nil)
    let brace = object.upperBound - 1
    splice.offset = start + outward(brace..<brace) { $0.string }.lowerBound
    if hasTwin { splice.twin = start + outward(brace..<brace) { $0.twin ?? $0.string }.lowerBound }
    splice.payloadCount = payloadCount ?? object.count
    splice.depth = levels.count
    splice.wrapper = wrapper
    return splice
  }

  /// Changes of the innermost text as changes of the line.
  func lineEdits(_ edits: [LineEdit], from start: Int) -> [LineEdit] {
    edits.flatMap { edit in
      var bytes = edit.bytes
      for _ in levels { bytes = JSONString.escaped(bytes) }
      var ranges = [outward(edit.range) { $0.string }]
      if hasTwin { ranges.append(outward(edit.range) { $0.twin ?? $0.string }) }
      return ranges.map { LineEdit(start + $0.lowerBound..<start + $0.upperBound, bytes) }
    }
  }

  private var hasTwin: Bool { levels.contains { $0.twin != nil } }

  /// A range of the innermost text as one of the outermost.
  private func outward(_ range: Range<Int>, through string: (Level) -> Range<Int>) -> Range<Int> {
    levels.reversed().reduce(range) { range, level in
      let (span, string) = (level.text.bytes.span, string(level))
      let start = JSONString.place(of: range.lowerBound, in: span, string)
      return start..<(range.isEmpty ? start : JSONString.place(of: range.upperBound, in: span, string))
    }
  }
}

/// Where the texts of an alert stand in a text.
struct AlertPlace {
  /// The object that holds the alert.
  var holder: Range<Int>
  /// The alert's name in it; nil when the texts are its own members.
  var name: String? = "alert"
  /// What is shown where the alert does not say it: name and string as it is written, quotes
  /// included.
  var given: [(name: String, source: [UInt8])] = []
}
