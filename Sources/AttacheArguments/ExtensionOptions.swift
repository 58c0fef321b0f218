package import ArgumentParser
package import Attache
internal import Glibc

/// The flags of a user's service extension.
package struct ExtensionOptions: ParsableArguments {
  @Option(
    name: .customLong("extension"),
    help: ArgumentHelp(
      "Serve payloads with an iOS service extension that attache extension build has built, instead of downloading the media that they name.",
      valueName: "folder"))
  package var program: String?

  @Option(
    help: ArgumentHelp("The number of payloads that a process of the extension serves at a time. (default: 1)", valueName: "n"))
  package var extensionConcurrency: Int?

  @Option(help: ArgumentHelp("The number of processes of the extension. (default: one for each core)", valueName: "n"))
  package var extensionProcesses: Int?

  @Option(
    help: ArgumentHelp(
      "The memory that a process of the extension may use, as far as no file backs it, or none. iOS is reported to end an extension at 24 MB. (default: 24MB)",
      valueName: "bytes"))
  package var extensionMemory: MemoryArgument?

  @Option(
    help: ArgumentHelp(
      "The folder of the app groups: a folder for each, their defaults and their keychain. (default: an empty one, removed at the end)",
      valueName: "folder"))
  package var extensionGroups: String?

  /// A rehearsal gives it: its payloads may name any host.
  @Flag(help: ArgumentHelp("The extension's own requests reach only this machine.", visibility: .hidden))
  package var extensionLoopback = false

  package init() {}

  package func validate() throws {
    guard Validation.isOn else { return }
    guard (1...64).contains(extensionConcurrency ?? 1) else {
      throw ValidationError("--extension-concurrency must be at least 1 and at most 64.")
    }
    guard (1...256).contains(extensionProcesses ?? 1) else {
      throw ValidationError("--extension-processes must be at least 1 and at most 256.")
    }
    if case .limit(let limit)? = extensionMemory, limit.bytes < 1_000_000 {
      throw ValidationError("--extension-memory must be at least 1MB: an extension that does nothing uses 3 MB.")
    }
    guard try path != nil else {
      return try Validation.checkCompanions(
        of: "--extension", ("--extension-concurrency", extensionConcurrency != nil), ("--extension-processes", extensionProcesses != nil),
        ("--extension-memory", extensionMemory != nil), ("--extension-groups", extensionGroups != nil))
    }
    if let extensionGroups { try Self.checkFolder(extensionGroups) }
  }

  /// - Throws: `ValidationError` when the folder of the app groups does not exist.
  package static func checkFolder(_ path: String) throws {
    var status = stat()
    guard unsafe stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFDIR else {
      throw ValidationError("--extension-groups \(path): there is no such folder. Create it first.")
    }
  }

  /// The path of the program; nil without an extension.
  private var path: String? {
    get throws {
      guard let program else { return nil }
      do throws(StartError) {
        return try ExtensionProgram.program(at: program)
      } catch {
        throw ValidationError("--extension \(error)")
      }
    }
  }

  /// Returns the configuration of the extension's processes; nil without an extension.
  ///
  /// - Parameter fetching: the rules of the network, which hold for the extension's requests, too.
  package func configuration(_ fetching: FetchOptions) throws -> ExtensionProcesses.Configuration? {
    guard let path = try path else { return nil }
    var configuration = ExtensionProcesses.Configuration(program: path)
    configuration.processes = extensionProcesses ?? max(1, sysconf(Int32(_SC_NPROCESSORS_ONLN)))
    (configuration.concurrency, configuration.groups) = (extensionConcurrency ?? 1, extensionGroups)
    configuration.memoryLimit = (extensionMemory ?? .standard).bytes
    configuration.network = ExtensionNetwork(fetching.configuration.policy, rootCertificates: fetching.configuration.rootCertificates)
    configuration.network.isLoopbackOnly = extensionLoopback
    return configuration
  }
}

extension ExtensionOptions {
  /// A message about flags that do not hold for what the extension itself downloads; nil if there is
  /// none.
  package func notice(_ fetching: FetchOptions) -> String? {
    guard program != nil, fetching.proxy != nil else { return nil }
    return "--proxy: no effect on what the extension downloads by itself"
  }
}

/// A limit of memory as a user writes it: `24MB`, or `none`.
package enum MemoryArgument: ExpressibleByArgument, CustomStringConvertible {
  case limit(ByteCountArgument)
  case none

  /// The limit without a flag.
  package static let standard = MemoryArgument.limit(ByteCountArgument(24_000_000, as: "24MB"))

  /// The limit in bytes; nil if there is none.
  package var bytes: Int? { if case .limit(let limit) = self { Int(clamping: limit.bytes) } else { nil } }

  package init?(argument: String) {
    if argument == "none" {
      self = .none
    } else if let limit = ByteCountArgument(argument: argument) {
      self = .limit(limit)
    } else {
      return nil
    }
  }

  package var description: String {
    switch self {
    case .limit(let limit): limit.description
    case .none: "none"
    }
  }
}
