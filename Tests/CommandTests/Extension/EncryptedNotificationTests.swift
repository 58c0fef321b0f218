import AttacheTesting
import Foundation
import Testing

/// An extension that decrypts a notification: CryptoKit, Security and the app group's keychain.
@Suite(.timeLimit(.minutes(3)), .serialized)
struct EncryptedNotificationTests {
  private let key = (0..<32).map { _ in UInt8.random(in: .min ... .max) }

  /// Writes the keychain of the app group.
  private func groups(_ key: [UInt8], in tool: AttacheTool) throws -> String {
    let folder = tool.home["groups"]
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    let item: [String: Any] = [
      "class": "genp", "svce": "notifications", "agrp": "group.com.example.app", "v_Data": Data(key),
    ]
    let data = try PropertyListSerialization.data(fromPropertyList: [item], format: .xml, options: 0)
    try data.write(to: URL(filePath: folder + "/Keychain.plist"))
    return folder
  }

  private func run(_ tool: AttacheTool, keychain: [UInt8], _ origin: FaultOrigin) async throws -> (line: String, run: Run) {
    let picture = try Sample.medium("photo.jpg")
    origin.serve("/sealed", Array(try OpenSSL.seal(picture, key: key)))
    let message = try JSONSerialization.data(withJSONObject: ["title": "Anna", "body": "Dinner?", "picture": origin.url("/sealed")])
    let sealed = try OpenSSL.seal(message, key: key).base64EncodedString()
    let line = #"{"aps":{"alert":{"title":"New message","body":"Open the app"},"mutable-content":1},"encrypted":"\#(sealed)"}"# + "\n"
    let program = try await ExtensionCommandTests.build("EndToEnd.swift", tool)
    let flags = AttacheTool.loopback + ["--extension", program, "--extension-groups", try groups(keychain, in: tool)]
    return (line, try await tool.run(flags, input: line))
  }

  @Test func `text and picture are decrypted`() async throws {
    try await withOrigin { origin in
      let tool = try AttacheTool()
      let (_, run) = try await run(tool, keychain: key, origin)
      #expect(run.exit == .status(0), "\(run.errors)")
      #expect(run.text.hasPrefix(#"{"aps":{"alert":{"title":"Anna","body":"Dinner?"},"mutable-content":1},"attache":{"#), "\(run.text)")
      let attachment = try #require(Enriched.attachments(run.text).first)
      #expect(try FileManager.default.contents(atPath: String(attachment.url.dropFirst(7))) == Data(Sample.medium("photo.jpg")))
    }
  }

  @Test func `with a wrong key, the notification is shown as it was sent`() async throws {
    try await withOrigin { origin in
      let tool = try AttacheTool()
      let (line, run) = try await run(tool, keychain: [UInt8](repeating: 7, count: 32), origin)
      #expect(run.exit == .status(0) && run.text == line, "\(run.errors)")
    }
  }
}
