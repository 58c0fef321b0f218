internal import Attache
internal import FoundationEssentials
internal import Glibc

/// Apple's frameworks for extensions, compiled by the user's own compiler: a compiled module is good
/// for one version of the compiler only.
package struct ExtensionLibrary: Sendable {
  /// The modules in the order in which they are compiled.
  static let modules = [
    "OriginalFoundation", "Groundwork", "UserNotifications", "CoreGraphics", "UniformTypeIdentifiers", "MobileCoreServices", "UIKit",
    "ImageIO", "Intents", "OSLog", "Security", "SystemConfiguration", "WidgetKit", "Network", "CommonCrypto", "CryptoKit", "VendorMedia",
    "FirebaseMessaging",
    "Firebase", "OneSignalExtension", "OneSignal",
    "CTNotificationService", "CleverTapSDK", "BackgroundTasks", "ExtensionRuntime", "DelegateRuntime", "os",
  ]

  /// The folder of the compiled modules.
  let folder: String
  /// Identifies the library and the compiler.
  let key: String
  /// The flags with which a program contains Swift's own libraries; none if the toolchain or the system lacks them.
  let staticFlags: [String]

  /// Finds the compiled library, or compiles it.
  ///
  /// - Parameters:
  ///   - cache: the folder for compiled libraries.
  ///   - announce: called before the library is compiled, which takes up to a minute.
  package init(_ compiler: SwiftCompiler, cache: String, announce: () -> Void) throws(ExtensionBuildError) {
    let sources = try Self.sources()
    key = try Self.key(sources, compiler)
    folder = "\(cache)/library-\(key)"
    if !FileManager.default.fileExists(atPath: "\(folder)/libextension.a") {
      announce()
      try Self.make(folder, from: sources, compiler)
    }
    staticFlags = FileManager.default.fileExists(atPath: "\(folder)/\(Self.staticMark)") ? [Self.staticFlag] : []
  }

  private static let staticFlag = "-static-stdlib"
  /// The name of the file that says that programs can be linked statically.
  private static let staticMark = "static"

  /// Compiles the library into a folder, which exists only when it is complete.
  private static func make(_ folder: String, from sources: String, _ compiler: SwiftCompiler) throws(ExtensionBuildError) {
    let partial = "\(folder).\(getpid())"
    do {
      try FileManager.default.createDirectory(atPath: "\(partial)/os", withIntermediateDirectories: true)
      defer { try? FileManager.default.removeItem(atPath: partial) }
      try compile(sources, into: partial, compiler)
      // Another build may have been faster. Its library is the same.
      if unsafe rename(partial, folder) != 0, !FileManager.default.fileExists(atPath: "\(folder)/libextension.a") {
        throw ExtensionBuildError.output("\(folder): \(SystemError(call: "rename", number: errno))")
      }
    } catch let error as ExtensionBuildError {
      throw error
    } catch {
      throw .output("\(partial): \(error)")
    }
  }

  /// Returns the folder of the library's sources: as installed, or in a checkout.
  private static func sources() throws(ExtensionBuildError) -> String {
    let program = (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? ""
    var folder = program
    while let slash = folder.lastIndex(of: "/"), slash > folder.startIndex {
      folder = String(folder[..<slash])
      for place in ["share/attache/AppleFrameworks/Sources", "AppleFrameworks/Sources"] {
        if FileManager.default.fileExists(atPath: "\(folder)/\(place)/Groundwork/Exports.swift") { return "\(folder)/\(place)" }
      }
    }
    throw .unavailable("the sources of attache's extension library are not beside \(program); scripts/install installs them")
  }

  /// Returns the sources of a module: C or Swift.
  private static func files(of module: String, in sources: String) throws(ExtensionBuildError) -> [String] {
    do {
      return try FileManager.default.subpathsOfDirectory(atPath: "\(sources)/\(module)").sorted()
        .filter { $0.hasSuffix(".swift") || $0.hasSuffix(".c") }.map { "\(sources)/\(module)/\($0)" }
    } catch {
      throw .unavailable("\(sources)/\(module): \(error)")
    }
  }

  private static func key(_ sources: String, _ compiler: SwiftCompiler) throws(ExtensionBuildError) -> String {
    var hash = SHA256()
    hash.update(Array(compiler.version.utf8))
    for module in modules + ["CExtensionRuntime"] {
      for file in try files(of: module, in: sources) { hash.update(StageFolder.bytes(at: file) ?? []) }
    }
    return hash.finish().hexadecimal(8)
  }

  private static func compile(_ sources: String, into folder: String, _ compiler: SwiftCompiler) throws {
    try noteStaticLinking(in: folder, compiler)
    let header = "\(sources)/CExtensionRuntime/include"
    var objects: [String] = []
    for file in try files(of: "CExtensionRuntime", in: sources) {
      objects.append("\(folder)/\(objects.count).o")
      try check(["clang", "-O2", "-D_GNU_SOURCE", "-fPIC", "-I", header, "-c", file, "-o", objects[objects.count - 1]])
    }
    try FileManager.default.copyItem(atPath: header, toPath: "\(folder)/CExtensionRuntime")
    for file in ["module.modulemap", "os.h", "log.h"] {
      try FileManager.default.copyItem(atPath: "\(sources)/os/\(file)", toPath: "\(folder)/os/\(file)")
    }
    for module in modules {
      objects.append("\(folder)/\(module).o")
      let place = module == "os" ? "\(folder)/os" : folder
      var words = ["swiftc", "-c", "-O", "-wmo", "-swift-version", "5", "-parse-as-library", "-package-name", "AppleFrameworks"]
      words += [
        "-module-name", module, "-emit-module", "-emit-module-path", "\(place)/\(module).swiftmodule", "-o", objects[objects.count - 1],
      ]
      // The compiler finds the C modules in folders below.
      words += ["-I", folder]
      if module == "os" { words.append("-import-underlying-module") }
      try check(words + files(of: module, in: sources))
    }
    try check(["ar", "rcs", "\(folder)/libextension.a"] + objects)
  }

  /// Finds out whether the toolchain has Swift's libraries for static linking, and the system what they need.
  private static func noteStaticLinking(in folder: String, _ compiler: SwiftCompiler) throws {
    let probe = "\(folder)/probe"
    defer { for file in [probe, "\(probe).swift"] { try? FileManager.default.removeItem(atPath: file) } }
    try "import FoundationNetworking\nprint(URLSession.shared)\n".write(toFile: "\(probe).swift", atomically: false, encoding: .utf8)
    guard try compiler.compile([staticFlag, "\(probe).swift", "-o", probe]).isSuccess else { return }
    try "".write(toFile: "\(folder)/\(staticMark)", atomically: false, encoding: .utf8)
  }

  private static func check(_ words: [String]) throws(ExtensionBuildError) {
    let run = try SwiftCompiler.run(words)
    guard run.isSuccess else { throw .unavailable("attache's extension library does not compile:\n\(run.output)") }
  }

  /// The flags with which a source sees the library's modules.
  var flags: [String] {
    ["-I", folder, "-I", "\(folder)/os"]
  }
}
