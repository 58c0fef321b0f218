internal import ArgumentParser
internal import Attache
internal import AttacheArguments
internal import AttacheTesting
internal import Foundation
internal import Glibc

/// Which instance serves a notification.
enum InstanceChoice: String, ExpressibleByArgument, CaseIterable {
  case new, reuse
}

/// Which process serves a notification.
enum ProcessChoice: String, ExpressibleByArgument, CaseIterable {
  case kept, fresh
}

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
      """
      A file whose first line is a payload of your server, alone or in a push service's envelope. Its URLs are replaced by the rehearsal's origin. \
      (default: a payload with all known keys)
      """, valueName: "file"), completion: .file())
  var payloads: String?

  @Option(help: ArgumentHelp("The memory that the extension may use, as far as no file backs it, or none.", valueName: "bytes"))
  var extensionMemory = MemoryArgument.standard

  @Option(
    help: ArgumentHelp(
      """
      The folder of the app groups: a folder for each, their keychain, and the defaults as Preferences/GROUP.plist. (default: an empty one for \
      each situation)
      """, valueName: "folder"))
  var extensionGroups: String?

  @Option(
    help: ArgumentHelp(
      "new: an instance for each notification. reuse: one instance for all notifications of a process. (default: new)",
      valueName: "choice"))
  var instances: InstanceChoice?

  @Option(
    help: ArgumentHelp(
      "kept: one process for all notifications of a situation. fresh: a process for each, with the same home. (default: kept)",
      valueName: "choice"))
  var processes: ProcessChoice?

  @Flag(help: "Warnings about the extension fail the rehearsal, too.")
  var strict = false

  @OptionGroup var build: ExtensionBuildOptions

  /// What is rehearsed; nil for neither an extension nor a delegate.
  var path: String? { extensionPath ?? appDelegate }

  var kind: ExtensionKind { extensionPath == nil ? .appDelegate : .serviceExtension }

  /// The situations of what is rehearsed.
  var situations: [ExtensionSituation] { kind == .serviceExtension ? ExtensionSituation.all : ExtensionSituation.silent }

  func validate() throws {
    guard Validation.isOn else { return }
    guard extensionPath == nil || appDelegate == nil else {
      throw ValidationError("--extension and --app-delegate are two rehearsals; give one of them.")
    }
    if let extensionGroups { try ExtensionOptions.checkFolder(extensionGroups) }
    guard appDelegate == nil || (instances == nil && processes == nil) else {
      throw ValidationError("An app has one delegate in one process; remove --instances and --processes.")
    }
    guard path == nil else { return }
    let given: [(Bool, String)] =
      ownFlags + [
        (build.isUsed, "--class, -D, --bundle or --swift-version")
      ]
    if let flag = given.first(where: { $0.0 })?.1 { throw ValidationError("\(flag) needs --extension or --app-delegate.") }
  }

  /// The flags that only the built-in situations have.
  private var ownFlags: [(Bool, String)] {
    [
      (payloads != nil, "--payloads"), (strict, "--strict"), (instances != nil, "--instances"), (processes != nil, "--processes"),
    ]
  }

  /// Rejects the flags of the built-in situations when scenario files are played.
  func checkScenarios() throws {
    guard let flag = ownFlags.first(where: { $0.0 })?.1 else { return }
    throw ValidationError("\(flag) applies to the built-in situations; remove it, or the scenario files.")
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

  /// The flags of the filter that serves with the extension.
  var filterFlags: [String] {
    ["--extension-memory", extensionMemory.description] + (extensionGroups.map { ["--extension-groups", $0] } ?? [])
  }

  /// Returns the rehearsal in the built-in situations.
  func rehearsal(of program: String) throws -> ExtensionRehearsal {
    var rehearsal = ExtensionRehearsal(program: program)
    rehearsal.kind = kind
    rehearsal.memoryLimit = extensionMemory.bytes
    (rehearsal.isStrict, rehearsal.groups) = (strict, extensionGroups)
    (rehearsal.reusesInstance, rehearsal.hasFreshProcesses) = (instances == .reuse, processes == .fresh)
    rehearsal.say = { Terminal.error.write("attache rehearse: \($0)\n") }
    if let payloads { rehearsal.payload = try payload(of: payloads, rehearsal.say) }
    return rehearsal
  }

  /// Reads the first payload of a file.
  private func payload(of file: String, _ say: (String) -> Void) throws -> RehearsalPayload {
    let lines = FileManager.default.contents(atPath: file)?.split(separator: 0x0A).map { [UInt8]($0) }
      .filter { !$0.allSatisfy { $0 == 0x20 || $0 == 0x0D } }
    do throws(RehearsalPayload.Refusal) {
      guard let lines else { throw RehearsalPayload.Refusal(why: "the file cannot be read") }
      let payload = try RehearsalPayload(line: lines.first ?? [])
      if lines.count > 1 { say("\(file) has \(lines.count) lines; the first is rehearsed") }
      if kind == .serviceExtension, let why = payload.whyNotStarted { say("iOS would not start the extension for this payload: \(why)") }
      return payload
    } catch {
      Terminal.error.write("attache rehearse: \(file): \(error.why); its first line must be a payload, a JSON object\n")
      throw ExitCode(ExitStatus.data)
    }
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

  /// Returns the shell command of a filter that serves its payloads with this extension. A payload or
  /// the extension may name any host, so the extension reaches only this machine.
  ///
  /// - Parameter flags: further flags about the extension.
  func filterCommand(_ flags: [String]) -> String {
    let folder = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent().path
    let words = [folder + "/attache", "$REHEARSAL_FLAGS", "--extension-loopback", "--extension", program] + flags
    return words.map { word in
      word.hasPrefix("$") ? word : "'" + word.replacingOccurrences(of: "'", with: "'\\''") + "'"
    }.joined(separator: " ")
  }
}
