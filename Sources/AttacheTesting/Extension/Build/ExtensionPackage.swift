internal import Attache
internal import FoundationEssentials

/// An extension that is a Swift package, with packages that it depends on. Its `main.swift` runs the
/// extension: `ExtensionMain.run { NotificationService() }`.
struct ExtensionPackage {
  /// The folder of the package.
  let path: String

  /// - Returns: nil if the path is not the folder of a package.
  init?(_ path: String) {
    guard FileManager.default.fileExists(atPath: "\(path)/Package.swift") else { return nil }
    self.path = path
  }

  /// Builds the package's program with SwiftPM.
  ///
  /// - Parameter scratch: the folder for what SwiftPM builds; it is kept.
  /// - Returns: the path of the program.
  func build(_ library: ExtensionLibrary, scratch: String) throws(ExtensionBuildError) -> String {
    let product = try product(scratch)
    var words = ["swift", "build", "--package-path", path, "--scratch-path", scratch, "--configuration", "release"]
    let place = try SwiftCompiler.run(words + ["--show-bin-path"])
    words += ["--product", product]
    words += library.flags.flatMap { ["-Xswiftc", $0] }
    words += (["\(library.folder)/libextension.a"] + ExtensionBuilder.exports).flatMap { ["-Xlinker", $0] }
    let run = try SwiftCompiler.run(words)
    guard run.isSuccess, place.isSuccess, let folder = place.output.split(separator: "\n").last else {
      throw .compilation(diagnostics: run.output, advice: MissingModule.advice(run.output))
    }
    return "\(folder)/\(product)"
  }

  /// Returns the package's only executable product.
  private func product(_ scratch: String) throws(ExtensionBuildError) -> String {
    let run = try SwiftCompiler.run(["swift", "package", "--package-path", path, "--scratch-path", scratch, "describe", "--type", "json"])
    let json = run.output.firstIndex(of: "{").map { Array(run.output[$0...].utf8) } ?? []
    guard run.isSuccess, case .array(let products)? = (try? JSONReader.read(json[...]))?.value(at: ["products"]) else {
      throw .sources("\(path) is not a package that SwiftPM reads:\n\(run.output)")
    }
    let names = products.filter { $0.value(at: ["type", "executable"]) != nil }.compactMap { $0.text(at: ["name"]) }
    guard let name = names.first, names.count == 1 else {
      throw .sources(
        """
        \(path): a package of an extension has one executable product, and this one has \(names.count). Its main.swift says: import ExtensionRuntime; \
        ExtensionMain.run { NotificationService() }
        """)
    }
    return name
  }
}
