internal import FoundationEssentials

/// The source files of an extension: those that are compiled, and those of the same folder that are
/// added when the compiler misses a declaration.
struct ExtensionSources {
  /// The paths of the files to compile.
  private(set) var files: [String]
  /// The other files, with their text.
  private var others: [(path: String, text: String)]

  /// - Parameters:
  ///   - paths: Swift files, or folders with Swift files.
  ///   - kind: what the sources are to have.
  init(_ paths: [String], _ kind: ExtensionKind) throws(ExtensionBuildError) {
    var (files, others) = ([String](), [String]())
    for path in paths {
      var isFolder = false
      guard FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) else { throw .sources("\(path): no such file or folder") }
      if isFolder {
        others += Self.swiftFiles(in: path, isDeep: true)
      } else {
        guard path.hasSuffix(".swift") else { throw .sources("\(path): a source's name ends in .swift") }
        files.append(path)
        others += Self.swiftFiles(in: Self.folder(of: path), isDeep: false)
      }
    }
    let candidates = Set(others).subtracting(files).sorted().compactMap { path in
      StageFolder.bytes(at: path).map { (path: path, text: String(decoding: $0, as: UTF8.self)) }
    }
    self.others = candidates
    self.files = files
    let isSource = { (text: String) in text.contains(kind.apple) }
    // Beside a delegate's own file, that of the app is not needed.
    if files.isEmpty, !take(where: { isSource($0) && !Self.isSwiftUIApp($0) }) { take(where: isSource) }
    if let app = self.files.first(where: { Self.isSwiftUIApp(String(decoding: StageFolder.bytes(at: $0) ?? [], as: UTF8.self)) }) {
      throw .sources(
        "\(app) is the file of a SwiftUI app, and attache has no SwiftUI. Put the delegate's class into a file of its own, and name that file."
      )
    }
    guard !self.files.isEmpty else {
      throw .sources(
        "\(paths.joined(separator: " ")): no Swift file names \(kind.apple), so there is nothing to build")
    }
  }

  /// Whether a file has a SwiftUI app with a delegate.
  private static func isSwiftUIApp(_ text: String) -> Bool {
    text.contains("import SwiftUI") && text.contains("@UIApplicationDelegateAdaptor")
  }

  /// Returns the folder of a file.
  static func folder(of path: String) -> String {
    path.lastIndex(of: "/").map { String(path[..<$0]) } ?? "."
  }

  private static func swiftFiles(in folder: String, isDeep: Bool) -> [String] {
    let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
    return names.sorted().flatMap { name -> [String] in
      let path = "\(folder)/\(name)"
      var isFolder = false
      guard FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) else { return [] }
      if isFolder { return isDeep && !name.hasPrefix(".") ? swiftFiles(in: path, isDeep: true) : [] }
      return name.hasSuffix(".swift") && name != "Package.swift" && name != "main.swift" ? [path] : []
    }
  }

  /// Moves matching files to those that are compiled.
  ///
  /// - Returns: whether there were any.
  @discardableResult
  private mutating func take(where matches: (String) -> Bool) -> Bool {
    let found = others.filter { matches($0.text) }
    files += found.map(\.path)
    others.removeAll { other in found.contains { $0.path == other.path } }
    return !found.isEmpty
  }

  /// Adds a file for each declaration that the compiler did not find.
  ///
  /// - Parameter diagnostics: the compiler's messages.
  /// - Returns: whether a file was added, so that another attempt makes sense.
  mutating func addDeclarations(missingIn diagnostics: String) -> Bool {
    var isAdded = false
    let names =
      MissingModule.names(in: diagnostics, between: "cannot find '", and: "'")
      + MissingModule.names(in: diagnostics, between: "cannot find type '", and: "'")
    for name in names where takeBest(where: { Self.declares(name, $0) }) { isAdded = true }
    for member in MissingModule.names(in: diagnostics, between: "has no member '", and: "'") {
      let name = String(member.prefix { $0 != "(" })
      if takeBest(where: { $0.contains("extension ") && Self.declares(name, $0) }) { isAdded = true }
    }
    return isAdded
  }

  /// Moves the best of the matching files to those that are compiled: one that needs no module that
  /// is not there, and then the nearest. Two files of one module cannot have the same name.
  private mutating func takeBest(where matches: (String) -> Bool) -> Bool {
    let used = Set(files.map(Self.name))
    let found = others.filter { !used.contains(Self.name(of: $0.path)) && matches($0.text) }
    let ranked = found.map { (path: $0.path, missing: MissingModule.count(in: $0.text), distance: distance(to: $0.path)) }
    guard let best = ranked.min(by: { ($0.missing, $0.distance) < ($1.missing, $1.distance) }) else { return false }
    files.append(best.path)
    others.removeAll { $0.path == best.path }
    return true
  }

  private static func name(of path: String) -> Substring {
    path.split(separator: "/").last ?? ""
  }

  /// Returns the number of folders between a file and the first source.
  private func distance(to path: String) -> Int {
    let (from, to) = (Self.folder(of: files.first ?? "").split(separator: "/"), Self.folder(of: path).split(separator: "/"))
    let common = zip(from, to).prefix { $0 == $1 }.count
    return from.count + to.count - 2 * common
  }

  private static let keywords = ["class", "struct", "enum", "protocol", "actor", "typealias", "func", "let", "var", "case"]

  private static func declares(_ name: String, _ text: String) -> Bool {
    keywords.contains { keyword in
      text.ranges(of: "\(keyword) \(name)").contains { range in
        let after = range.upperBound < text.endIndex ? text[range.upperBound] : " "
        return !after.isLetter && !after.isNumber && after != "_"
      }
    }
  }
}
