internal import CDialects
internal import Glibc

/// The text of a dialect file: a JSON array of rows.
struct DialectForm: Sendable {
  /// The maximum length of a file: 1 MiB.
  static let maximumLength = 1 << 20

  /// The file name as the user wrote it.
  let name: String
  /// The text, followed by the padding that the parser may read.
  private let padded: [UInt8]

  var bytes: ArraySlice<UInt8> { padded.dropLast(JSONParser.padding) }

  init(name: String, bytes: some Collection<UInt8>) {
    self.name = name
    padded = JSONParser.padded(bytes)
  }

  /// Reads a file.
  ///
  /// - Throws: ``DialectFormError`` if the file cannot be read or is longer than ``maximumLength``.
  init(contentsOf path: String) throws(DialectFormError) {
    func unusable(_ text: String) -> DialectFormError { DialectFormError(file: path, line: nil, field: "", text: text) }
    let bytes: [UInt8]?
    do throws(SystemError) {
      bytes = try SmallFile.read(path, maximum: Self.maximumLength)
    } catch {
      throw unusable("the file cannot be read: \(SystemError.text(error.number))")
    }
    guard let bytes else { throw unusable("the file is longer than 1 MiB; leave out the dialects that are not used") }
    let hasMark = bytes.starts(with: [0xEF, 0xBB, 0xBF])
    self.init(name: path, bytes: bytes[(hasMark ? 3 : 0)...])
  }

  /// The built-in table.
  static let builtIn: DialectForm = {
    var length = 0
    let text = unsafe UnsafeRawBufferPointer(start: dialects_json(&length), count: length)
    return unsafe DialectForm(name: "dialects.json", bytes: text)
  }()

  /// Parses the rows, in order.
  ///
  /// - Parameters:
  ///   - isWhole: whether to parse also the parts that do not concern media.
  ///   - isBuiltIn: whether this is the built-in table.
  func rows(isWhole: Bool, isBuiltIn: Bool = false) throws(DialectFormError) -> [Dialect] {
    let parser = JSONParser(capacity: max(bytes.count, 1024))
    guard let root = parser.parse(padded: padded) else { throw mistake }
    do throws(FormFault) {
      if isWhole { try root.checkMembersAreDistinct() }
      var rows = try root.readElements { element throws(FormFault) in try Dialect(form: element, isWhole: isWhole) }
      for index in rows.indices {
        rows[index].origin = DialectOrigin(form: self, row: index)
        rows[index].isBuiltIn = isBuiltIn
      }
      if isWhole { try rows.checkNames(beside: isBuiltIn ? [] : Dialect.builtInMedia.map(\.name)) }
      return rows
    } catch {
      throw DialectFormError(file: name, line: line(of: error.steps, in: root), field: Self.field(error.steps), text: error.text)
    }
  }

  /// Returns the contents of the row at that index, for display.
  func entry(_ row: Int, of dialect: Dialect) -> DialectEntry? {
    let parser = JSONParser(capacity: max(bytes.count, 1024))
    guard let root = parser.parse(padded: padded) else { return nil }
    func text(_ names: String...) -> String? {
      let steps = [FormFault.Step.element(row)] + names.map { .member($0) }
      return range(of: steps, in: root, isWhole: true).map { String(decoding: bytes[$0], as: UTF8.self) }
    }
    func string(_ name: String) -> String? { root.child(JSONPointer.Token(String(row)))?.element.member(name)?.text?.string }
    guard let json = text() else { return nil }
    return DialectEntry(
      name: dialect.name, vendor: string("vendor"), aliases: dialect.aliases, source: string("source"), note: string("note"),
      isBuiltIn: dialect.isBuiltIn, json: json, sample: text("sample"), samplePayload: text("sample", "payload"))
  }

  private var mistake: DialectFormError {
    let offset = JSONScanner.errorOffset(in: bytes.span)
    let line = bytes[..<offset].lazy.filter { $0 == UInt8(ascii: "\n") }.count + 1
    let column = offset - (bytes[..<offset].lastIndex(of: UInt8(ascii: "\n")) ?? -1)
    let what = offset == bytes.endIndex ? "the text ends too early" : "this is not JSON"
    return DialectFormError(file: name, line: line, field: "column \(column)", text: "\(what); write an array of dialects, [{…}]")
  }

  /// Returns the line of the value that the steps lead to, or of its nearest existing container.
  /// The steps go from the inside out.
  private func line(of steps: [FormFault.Step], in root: JSONElement) -> Int {
    let start = range(of: steps.reversed(), in: root, isWhole: false)?.lowerBound ?? 0
    return bytes[..<start].lazy.filter { $0 == UInt8(ascii: "\n") }.count + 1
  }

  /// Returns the range of the value that the steps lead to.
  ///
  /// - Parameter isWhole: whether a missing value has no range; otherwise it has the range of its
  ///   nearest existing container.
  private func range(of steps: [FormFault.Step], in root: JSONElement, isWhole: Bool) -> Range<Int>? {
    var (value, places) = (root, [Int]())
    for step in steps {
      let token =
        switch step {
        case .member(let name): JSONPointer.Token(name)
        case .element(let index): JSONPointer.Token(String(index))
        }
      guard let child = value.child(token) else {
        if isWhole { return nil }
        break
      }
      places.append(child.place)
      value = child.element
    }
    return bytes.span.rangeOfValue(at: places)
  }

  private static func field(_ steps: [FormFault.Step]) -> String {
    steps.reversed().reduce("dialects") { field, step in
      switch step {
      case .member(let name): field + "." + name
      case .element(let index): field + "[\(index)]"
      }
    }
  }
}
