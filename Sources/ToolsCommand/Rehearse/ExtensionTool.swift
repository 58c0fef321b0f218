internal import ArgumentParser
internal import Attache
internal import AttacheArguments
internal import AttacheTesting

/// `attache extension`: what concerns iOS service extensions.
struct ExtensionTool: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "extension", abstract: "Build an iOS service extension, unchanged, for --extension.", subcommands: [BuildExtension.self])
}

/// `attache extension build`: compiles a `NotificationService.swift` as it is.
struct BuildExtension: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "build",
    abstract: "Compile an iOS service extension, unchanged, to a program for --extension.",
    discussion: """
      The Swift compiler in PATH compiles the sources with attache's own UserNotifications, UIKit, os and other modules. A file of the same folder \
      is added when the sources need its declarations. The first build compiles these modules, too, which takes a quarter of a minute.

      Exit status: 0 when the extension is built, 64 for wrong usage, 65 when the sources do not compile or have no extension, 69 when the compiler or \
      the modules' sources are missing, 73 when the output cannot be written.
      """)

  @Argument(help: "Swift files, or folders in which the extension's file is found.", completion: .file(extensions: ["swift"]))
  var sources: [String]

  @Option(name: .shortAndLong, help: ArgumentHelp("The folder of the extension: its program and its resources.", valueName: "folder"))
  var output: String

  @OptionGroup(title: "The build") var options: ExtensionBuildOptions

  func run() async throws {
    do throws(ExtensionBuildError) {
      var choices = options.value
      choices.isStandalone = true
      try options.builder().build(sources, to: output, choices)
    } catch {
      Terminal.error.write("\(error)\n")
      throw ExitCode(error.exitStatus)
    }
  }
}

/// The flags of how an extension is compiled.
struct ExtensionBuildOptions: ParsableArguments {
  @Option(name: .customLong("class"), help: ArgumentHelp("The class to run, if the sources have several.", valueName: "name"))
  var className: String?

  @Option(help: ArgumentHelp("The language mode of the sources.", valueName: "version"))
  var swiftVersion = "5"

  @Option(name: .customShort("D"), help: ArgumentHelp("A compilation condition (#if) that holds. Repeatable.", valueName: "name"))
  var conditions: [String] = []

  @Option(
    help: ArgumentHelp(
      "A folder whose contents the extension finds in its bundle. An Info.plist and .lproj folders beside the source are found without it.",
      valueName: "folder"))
  var bundle: String?

  func validate() throws {
    guard Validation.isOn else { return }
    guard ["4", "5", "6"].contains(swiftVersion) else { throw ValidationError("--swift-version must be 4, 5 or 6.") }
  }

  /// Whether a flag is given.
  var isUsed: Bool { className != nil || swiftVersion != "5" || !conditions.isEmpty || bundle != nil }

  var value: ExtensionBuilder.Options {
    var value = ExtensionBuilder.Options()
    (value.className, value.swiftVersion, value.conditions, value.bundle) = (className, swiftVersion, conditions, bundle)
    return value
  }

  func builder() throws(ExtensionBuildError) -> ExtensionBuilder {
    try ExtensionBuilder(cache: ExtensionBuilder.standardCache) {
      Terminal.error.write("attache: compiling the extension library for this Swift compiler; this happens once and takes about a minute\n")
    }
  }
}

extension ExtensionBuildError {
  var exitStatus: Int32 {
    switch self {
    case .compilation, .sources: ExitStatus.data
    case .unavailable: ExitStatus.unavailable
    case .output: ExitStatus.cannotCreate
    }
  }
}
