internal import Attache
internal import FoundationEssentials
internal import Glibc

/// Compiles the unchanged source of a service extension to a program.
package struct ExtensionBuilder: Sendable {
  /// How an extension is built.
  package struct Options: Sendable {
    /// What the sources have.
    package var kind = ExtensionKind.serviceExtension
    /// The class to run, if the sources have several.
    package var className: String?
    /// The language mode of the sources.
    package var swiftVersion = "5"
    /// The compilation conditions (`-D`).
    package var conditions: [String] = []
    /// A folder whose contents become the bundle's, such as pictures and tables of strings.
    package var bundle: String?
    /// Whether the program contains Swift's own libraries, if the toolchain has them for static linking. It starts about 10 ms
    /// sooner and has 72 MB. A package's program never does.
    package var isStandalone = false

    package init() {}
  }

  /// The name of the program in the bundle's folder.
  package static let programName = "Extension"
  /// The module of the sources. No class has this name.
  private static let module = "NotificationExtension"

  /// The linker's flags with which Foundation's calls of libcurl come to the program's own functions.
  static let exports = ["curl_multi_add_handle", "curl_multi_info_read", "curl_multi_remove_handle"].map { "--export-dynamic-symbol=\($0)" }

  private let compiler: SwiftCompiler
  private let library: ExtensionLibrary
  private let cache: String

  /// Finds the compiler and the library. The library is compiled if this compiler has not compiled
  /// it yet.
  ///
  /// - Parameters:
  ///   - cache: the folder for what is compiled.
  ///   - announce: called before the library is compiled, which takes up to a minute.
  package init(cache: String, announce: () -> Void) throws(ExtensionBuildError) {
    compiler = try SwiftCompiler()
    library = try ExtensionLibrary(compiler, cache: cache, announce: announce)
    self.cache = cache
  }

  /// The folder for what is compiled: `$XDG_CACHE_HOME/attache-extension`, else in `~/.cache`.
  package static var standardCache: String {
    let environment = ProcessInfo.processInfo.environment
    let caches = environment["XDG_CACHE_HOME"].flatMap { $0.hasPrefix("/") ? $0 : nil } ?? "\(environment["HOME"] ?? "/tmp")/.cache"
    return "\(caches)/attache-extension"
  }

  /// Builds an extension.
  ///
  /// - Parameters:
  ///   - paths: Swift files, or folders with Swift files; or the folder of a Swift package.
  ///   - output: the folder of the extension's bundle. An older one is replaced.
  /// - Returns: the path of the program.
  @discardableResult
  package func build(_ paths: [String], to output: String, _ options: Options = Options()) throws(ExtensionBuildError) -> String {
    try ExtensionBundle.checkReplaceable(output)
    if let path = paths.first, paths.count == 1, let package = ExtensionPackage(path) {
      let scratch = "\(cache)/package-\(SHA256.hash(Array(Self.absolute(path).utf8)).hexadecimal(8))"
      let program = try package.build(library, scratch: scratch)
      return try ExtensionBundle(sources: ["\(path)/Package.swift"], folder: options.bundle).write(program: program, to: output)
    }
    let folder: StageFolder
    do throws(StageError) {
      folder = try StageFolder()
    } catch {
      throw .output("\(error)")
    }
    defer { folder.remove() }
    var sources = try ExtensionSources(paths, options.kind)
    while true {
      let run = try compile(sources.files, in: folder, options)
      if run.isSuccess { break }
      guard sources.addDeclarations(missingIn: run.output) else {
        throw .compilation(diagnostics: run.output, advice: MissingModule.advice(run.output))
      }
    }
    let name = try className(in: folder, sources.files, options)
    try link(name, options, in: folder)
    let bundle = ExtensionBundle(sources: sources.files, folder: options.bundle)
    return try bundle.write(program: folder["program"], to: output)
  }

  private func compile(_ files: [String], in folder: StageFolder, _ options: Options) throws(ExtensionBuildError) -> SwiftCompiler.Run {
    let paths = files.map(Self.absolute)
    try write(Self.overlay(paths, in: folder), to: "overlay.yaml", in: folder)
    var words = ["-c", "-wmo", "-enable-testing", "-parse-as-library", "-module-name", Self.module, "-swift-version", options.swiftVersion]
    words += ["-emit-module", "-emit-module-path", folder["\(Self.module).swiftmodule"], "-o", folder["extension.o"]]
    words += ["-emit-symbol-graph", "-emit-symbol-graph-dir", folder.path, "-symbol-graph-minimum-access-level", "private"]
    words += ["-Xfrontend", "-import-module", "-Xfrontend", "UserNotifications", "-vfsoverlay", folder["overlay.yaml"]]
    words += options.conditions.flatMap { ["-D", $0] }
    return try compiler.compile(words + library.flags + staticFlags(options) + paths)
  }

  /// Writes the changed text of each source, and returns the overlay that puts it in the place of
  /// the source.
  private static func overlay(_ paths: [String], in folder: StageFolder) throws(ExtensionBuildError) -> [UInt8] {
    var roots = JSONWriter()
    roots.beginObject()
    roots.key("version")
    roots.integer(0)
    roots.key("use-external-names")
    roots.boolean(false)
    roots.key("roots")
    roots.beginArray()
    for (index, path) in paths.enumerated() {
      guard let source = StageFolder.bytes(at: path) else { throw .sources("\(path): cannot be read") }
      do throws(StageError) {
        try folder.write(SourceOverlay.text(source), to: "\(index).swift")
      } catch {
        throw .output("\(error)")
      }
      roots.beginObject()
      for (key, value) in [("name", path), ("type", "file"), ("external-contents", folder["\(index).swift"])] {
        roots.key(key)
        roots.string(UntrustedText(value))
      }
      roots.endObject()
    }
    roots.endArray()
    roots.endObject()
    return roots.bytes
  }

  private static func absolute(_ path: String) -> String {
    path.hasPrefix("/") ? path : "\(FileManager.default.currentDirectoryPath)/\(path)"
  }

  private func write(_ bytes: [UInt8], to name: String, in folder: StageFolder) throws(ExtensionBuildError) {
    do throws(StageError) {
      try folder.write(bytes, to: name)
    } catch {
      throw .output("\(error)")
    }
  }

  private func className(in folder: StageFolder, _ files: [String], _ options: Options) throws(ExtensionBuildError) -> String {
    guard let graph = folder.bytes("\(Self.module).symbols.json"), let classes = ExtensionClasses(graph: graph, options.kind) else {
      throw .unavailable("the compiler wrote no symbol graph")
    }
    let names = classes.names
    if let wanted = options.className {
      guard names.contains(wanted) else { throw .sources("--class \(wanted): the classes are: \(Self.list(names))") }
      return wanted
    }
    if names.count > 1, let wanted = ExtensionBundle.principalClass(beside: files), names.contains(wanted) { return wanted }
    guard names.count < 2 else {
      throw .sources("the sources have several classes that could run: \(Self.list(names)). Choose one with --class NAME.")
    }
    guard let name = names.first else {
      throw .sources(
        "no class of \(files.joined(separator: " ")) is a \(options.kind.apple)\(Self.hint(files))")
    }
    return name
  }

  private static func list(_ names: [String]) -> String {
    names.isEmpty ? "none" : names.joined(separator: ", ")
  }

  /// Names the conditions of the sources, since a class may be under one that does not hold.
  private static func hint(_ files: [String]) -> String {
    let conditions = files.flatMap { path in
      String(decoding: StageFolder.bytes(at: path) ?? [], as: UTF8.self).split(separator: "\n")
        .map { $0.drop { $0 == " " || $0 == "\t" } }.filter { $0.hasPrefix("#if ") }.map { String($0.dropFirst(4)) }
    }
    return conditions.isEmpty ? "." : ". The sources have the conditions \(list(conditions)): -D NAME makes one hold."
  }

  private func staticFlags(_ options: Options) -> [String] {
    options.isStandalone ? library.staticFlags : []
  }

  private func link(_ className: String, _ options: Options, in folder: StageFolder) throws(ExtensionBuildError) {
    let runtime = options.kind == .serviceExtension ? "Extension" : "Delegate"
    let main = """
      import \(runtime)Runtime
      @testable import \(Self.module)

      @main
      enum Main {
        static func main() {
          \(runtime)Main.run { \(className)() }
        }
      }
      """
    try write(Array(main.utf8), to: "_main.swift", in: folder)
    var words = ["-parse-as-library", folder["_main.swift"], folder["extension.o"], "\(library.folder)/libextension.a", "-I", folder.path]
    words += Self.exports.flatMap { ["-Xlinker", $0] }
    let run = try compiler.compile(words + library.flags + staticFlags(options) + ["-o", folder["program"]])
    guard run.isSuccess else { throw .compilation(diagnostics: run.output, advice: []) }
  }
}
