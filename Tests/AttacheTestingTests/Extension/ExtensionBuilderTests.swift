import AttacheTesting
import Foundation
import Testing

/// Building service extensions.
@Suite(.timeLimit(.minutes(3)), .serialized)
struct ExtensionBuilderTests {
  private func failure(_ files: [String: String]) throws -> ExtensionBuildError {
    try #require(throws: ExtensionBuildError.self) { try BuiltExtensions.build(files) }
  }

  private static let service = """
    import UserNotifications

    class NotificationService: UNNotificationServiceExtension {}
    """

  @Test func `an error of a source has the author's file, line and column`() throws {
    let error = try failure(["Service.swift": Self.service + "\n@objc class Wrong { let a: Missing }\n"])
    guard case .compilation(let diagnostics, let advice) = error else { return #expect(Bool(false), "\(error)") }
    #expect(diagnostics.contains("/Service.swift:4:28: error: cannot find type 'Missing' in scope"))
    #expect(advice.isEmpty)
  }

  @Test(arguments: [
    ("SwiftUI", "framework of Apple's platforms"), ("Airship", "vendor's SDK"), ("Alamofire", "not a module of attache's"),
  ])
  func `a missing module is explained`(module: String, sentence: String) throws {
    let error = try failure(["Service.swift": "import \(module)\n" + Self.service])
    guard case .compilation(let diagnostics, let advice) = error else { return #expect(Bool(false), "\(error)") }
    #expect(diagnostics.contains("no such module '\(module)'"))
    #expect(advice.count == 1 && advice[0].hasPrefix(module) && advice[0].contains(sentence), "\(advice)")
  }

  @Test func `without a service extension, the conditions of the sources are named`() throws {
    let error = try failure(["Service.swift": "#if PUSH\n" + Self.service + "\n#endif\n"])
    #expect("\(error)".contains("is a UNNotificationServiceExtension"), "\(error)")
    #expect("\(error)".contains("PUSH"))
    var options = ExtensionBuilder.Options()
    options.conditions = ["PUSH"]
    _ = try BuiltExtensions.build(["Service.swift": "#if PUSH\n" + Self.service + "\n#endif\n"], options)
  }

  @Test func `of several service extensions, the author chooses`() throws {
    let source = Self.service + "\nclass Other: UNNotificationServiceExtension {}\n"
    let error = try failure(["Services.swift": source])
    #expect("\(error)".contains("NotificationService, Other"), "\(error)")
    var options = ExtensionBuilder.Options()
    options.className = "Other"
    _ = try BuiltExtensions.build(["Services.swift": source], options)
    options.className = "Third"
    #expect(throws: ExtensionBuildError.self) { try BuiltExtensions.build(["Services.swift": source], options) }
  }

  @Test func `a folder without a service extension is refused`() throws {
    #expect("\(try failure(["Other.swift": "let a = 1\n"]))".contains("no Swift file names UNNotificationServiceExtension"))
  }

  @Test func `an output that is something else is kept`() throws {
    let folder = NSTemporaryDirectory() + "attache-output-\(UUID().uuidString)"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let builder = try ExtensionBuilder(cache: BuiltExtensions.cache, announce: {})
    let error = try #require(throws: ExtensionBuildError.self) {
      try builder.build([BuiltExtensions.fixtures + "/Careful.swift"], to: folder)
    }
    #expect("\(error)".contains("is not an extension that attache has built"), "\(error)")
    #expect(FileManager.default.fileExists(atPath: folder))
  }
}
