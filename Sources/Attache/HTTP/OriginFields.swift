/// The header fields that the operator adds to requests, by origin (`--header-file`).
///
/// Each line of the file has an origin, a colon and a field: `https://cdn.example: Authorization: Bearer …`. Empty lines
/// and lines that begin with `#` are ignored. No message quotes a value.
package struct OriginFields: Sendable {
  /// The largest sum of an origin's lines, in bytes. With a URL, they fit into one frame.
  static let maximumBytes = 6_000
  /// The maximum number of fields of an origin.
  private static let maximumFields = 32

  /// The header lines, by the key of the origin.
  private var lines: [String: [String]] = [:]

  package init() {}

  /// Reads a file that only its owner may read.
  ///
  /// - Throws: ``StartError`` when the file cannot be used.
  package init(contentsOf path: String) throws(StartError) {
    let bytes = try PrivateFile.read(path, of: "--header-file").bytes
    try self.init(bytes, path: path)
  }

  /// - Parameter path: the name of the file, for messages.
  init(_ bytes: [UInt8], path: String) throws(StartError) {
    for (number, line) in bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).enumerated() {
      let text = Self.trimmed(line)
      guard let first = text.first, first != UInt8(ascii: "#") else { continue }
      do throws(Mistake) { try add(text) } catch { throw StartError("--header-file: line \(number + 1) of \(path) \(error.text)") }
    }
  }

  package var isEmpty: Bool { lines.isEmpty }

  /// The header lines for an origin, as ``CheckedURL/origin`` names it.
  subscript(origin: String) -> [String] {
    lines.isEmpty ? [] : lines[origin] ?? []
  }

  /// What is wrong with a line, to follow its number.
  private struct Mistake: Error {
    var text: String
  }

  private mutating func add(_ line: ArraySlice<UInt8>) throws(Mistake) {
    guard let colon = line.indices.first(where: { line[$0] == UInt8(ascii: ":") && line[($0 + 1)...].first?.isBlank == true }) else {
      throw Mistake(text: "is not an origin, a colon, a space and a field, such as https://cdn.example: Authorization: Bearer …")
    }
    let origin = try Self.origin(line[..<colon])
    let field = Self.trimmed(line[(colon + 1)...])
    let name = field.prefix { $0 != UInt8(ascii: ":") }
    guard name.count < field.count else { throw Mistake(text: "has no field after its origin; write Name: value") }
    // What is no name may be a secret in the wrong place, so the message does not quote it.
    guard RequestField.isName(name) else { throw Mistake(text: "has a field without a valid name; a name has letters, digits and hyphens") }
    let (shown, value) = (String(decoding: name, as: UTF8.self), Self.trimmed(field[(name.endIndex + 1)...]))
    guard !RequestField.isReserved(shown) else {
      throw Mistake(text: "has the field '\(shown)', which cannot be added: attache or its connection sets it")
    }
    if let mistake = RequestField.mistake(inValue: value) { throw Mistake(text: "has the field '\(shown)', which \(mistake)") }
    try add("\(shown): \(String(decoding: value, as: UTF8.self))", named: shown, to: origin)
  }

  private mutating func add(_ line: String, named name: String, to origin: String) throws(Mistake) {
    let others = lines[origin, default: []]
    let start = name.lowercased() + ":"
    guard !others.contains(where: { $0.lowercased().hasPrefix(start) }) else {
      throw Mistake(text: "gives the origin the field '\(name)' again; keep one")
    }
    guard others.count < Self.maximumFields, others.reduce(line.utf8.count, { $0 + $1.utf8.count }) <= Self.maximumBytes else {
      throw Mistake(text: "gives the origin more than \(Self.maximumFields) fields or \(Self.maximumBytes) bytes")
    }
    lines[origin] = others + [line]
  }

  /// Returns the key of an origin that is written as the start of a URL.
  private static func origin(_ bytes: ArraySlice<UInt8>) throws(Mistake) -> String {
    let parts = URLReference(bytes)
    guard let scheme = parts.scheme.flatMap({ CheckedURL.Scheme(rawValue: String(decoding: $0.map(\.lowercasedASCII), as: UTF8.self)) }),
      let written = parts.authority, !written.isEmpty, parts.query == nil, parts.fragment == nil,
      parts.path.isEmpty || parts.path.elementsEqual("/".utf8)
    else {
      throw Mistake(text: "does not begin with an origin: https:// and a host, with its port if it is not 443, and no path")
    }
    let authority: Authority
    do throws(Refusal) { authority = try Authority(written) } catch {
      throw Mistake(text: "does not begin with an origin: the host or the port is not valid")
    }
    var address: IPAddress?
    if case .address(let literal) = authority.host { address = literal }
    return CheckedOrigin(
      scheme: scheme, host: authority.host.text, port: authority.port ?? scheme.defaultPort, address: address, portIsAllowed: true,
      written: []
    ).key
  }

  private static func trimmed(_ text: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
    let start = text.drop(while: \.isBlank)
    return start[..<(start.lastIndex { !$0.isBlank }.map { $0 + 1 } ?? start.startIndex)]
  }
}
