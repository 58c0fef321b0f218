internal import ArgumentParser
internal import Attache
internal import AttacheArguments
internal import AttacheTesting
internal import Foundation
internal import Glibc

/// The flags for rehearsing an iOS service extension.
struct ExtensionRehearsalOptions: ParsableArguments {
  @Option(
    name: .customLong("extension"),
    help: ArgumentHelp(
      """
      Rehearse an iOS service extension: a Swift file, a folder with its files, or what attache extension build made. Without scenario files, \
      it meets the built-in situations.
      """, valueName: "path"), completion: .file())
  var extensionPath: String?

  @Option(
    help: ArgumentHelp(
      "Rehearse how an app's delegate handles silent pushes: a Swift file, or a folder with its files.", valueName: "path"),
    completion: .file())
  var appDelegate: String?

  @Option(
    help: ArgumentHelp(
      "A file whose first line is a payload of your server, or an envelope with one; its URLs lead to the rehearsal's origin. (default: a payload with all known keys)",
      valueName: "file"), completion: .file())
  var payloads: String?

  @Option(help: ArgumentHelp("The memory that the extension may use, as far as no file backs it, or none.", valueName: "bytes"))
  var extensionMemory = MemoryArgument.limit(ByteCountArgument(24_000_000, as: "24MB"))

  @Option(
    help: ArgumentHelp(
      "The folder of the app groups: a folder for each, their defaults and their keychain. (default: an empty one for each situation)",
      valueName: "folder"))
  var extensionGroups: String?

  @Flag(help: "Warnings about the extension fail the rehearsal, too.")
  var strict = false

  @OptionGroup var build: ExtensionBuildOptions

  /// What is rehearsed; nil for neither an extension nor a delegate.
  var path: String? { extensionPath ?? appDelegate }

  var kind: ExtensionKind { extensionPath == nil ? .appDelegate : .serviceExtension }

  /// The situations of what is rehearsed.
  var situations: [ExtensionSituation] { kind == .serviceExtension ? ExtensionSituation.all : ExtensionSituation.silent }

  func validate() throws {
    guard extensionPath == nil || appDelegate == nil else {
      throw ValidationError("--extension and --app-delegate are two rehearsals; give one of them.")
    }
    if let extensionGroups { try ExtensionOptions.checkFolder(extensionGroups) }
    guard path == nil else { return }
    let given: [(Bool, String)] = [
      (payloads != nil, "--payloads"), (strict, "--strict"), (build.isUsed, "--class, -D, --bundle or --swift-version"),
    ]
    if let flag = given.first(where: { $0.0 })?.1 { throw ValidationError("\(flag) needs --extension or --app-delegate.") }
  }

  /// Builds the extension, unless it is built already.
  ///
  /// - Returns: the program, and the folder to remove afterwards; nil without `--extension`.
  /// - Throws: the exit status, after the error is written.
  func program() throws -> ExtensionUnderRehearsal? {
    guard let path else { return nil }
    let inner = path + "/Extension"
    for candidate in [inner, path] where FileManager.default.isExecutableFile(atPath: candidate) {
      var isFolder: ObjCBool = false
      guard unsafe FileManager.default.fileExists(atPath: candidate, isDirectory: &isFolder), !isFolder.boolValue else { continue }
      return ExtensionUnderRehearsal(program: URL(filePath: candidate).standardizedFileURL.path, folder: nil)
    }
    do throws(ExtensionBuildError) {
      let folder = try ExtensionUnderRehearsal.makeFolder()
      var options = build.value
      options.kind = kind
      let program = try build.builder().build([path], to: folder + "/extension", options)
      return ExtensionUnderRehearsal(program: program, folder: folder)
    } catch {
      Terminal.error.write("\(error)\n")
      throw ExitCode(error.exitStatus)
    }
  }

  /// Returns the rehearsal in the built-in situations.
  func rehearsal(of program: String) throws -> ExtensionRehearsal {
    var rehearsal = ExtensionRehearsal(program: program)
    rehearsal.kind = kind
    if case .limit(let limit) = extensionMemory { rehearsal.memoryLimit = Int(limit.bytes) } else { rehearsal.memoryLimit = nil }
    (rehearsal.isStrict, rehearsal.groups) = (strict, extensionGroups)
    rehearsal.say = { Terminal.error.write("attache rehearse: \($0)\n") }
    guard let payloads else { return rehearsal }
    guard let data = FileManager.default.contents(atPath: payloads), let payload = RehearsalPayload(line: data.prefix { $0 != 0x0A }) else {
      Terminal.error.write("attache rehearse: \(payloads): the first line must be a payload, a JSON object, or an envelope with one\n")
      throw ExitCode(ExitStatus.data)
    }
    rehearsal.payload = payload
    return rehearsal
  }
}

/// The program of an extension, and the folder in which it was built.
final class ExtensionUnderRehearsal: Sendable {
  let program: String
  private let folder: String?

  init(program: String, folder: String?) {
    (self.program, self.folder) = (program, folder)
  }

  deinit {
    if let folder { try? FileManager.default.removeItem(atPath: folder) }
  }

  static func makeFolder() throws(ExtensionBuildError) -> String {
    let folder = FileManager.default.temporaryDirectory.appending(path: "attache-build-\(UUID().uuidString)").path
    do {
      try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    } catch {
      throw .output("\(folder): \(error.localizedDescription)")
    }
    return folder
  }

  /// The shell command of a filter that serves its payloads with this extension.
  var filterCommand: String {
    let folder = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent().path
    return [folder + "/attache", "$REHEARSAL_FLAGS", "--extension", program].map { word in
      word.hasPrefix("$") ? word : "'" + word.replacingOccurrences(of: "'", with: "'\\''") + "'"
    }.joined(separator: " ")
  }
}
