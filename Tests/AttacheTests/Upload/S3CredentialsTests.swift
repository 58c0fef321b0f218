import Foundation
import Glibc
import Testing

@testable import Attache

@Suite struct S3CredentialsTests {
  @Test(
    arguments: [
      ("[default]\naws_access_key_id=A\naws_secret_access_key=B\n", "A", "B", nil),
      ("[default]\r\n aws_access_key_id = A \r\n\taws_secret_access_key = B+/= \r\naws_session_token = T\r\n", "A", "B+/=", "T"),
      ("# a\n[other]\naws_access_key_id=X\n[default]\n#aws_access_key_id=C\nAWS_ACCESS_KEY_ID=A\naws_secret_access_key=B", "A", "B", nil),
      ("[default]\naws_access_key_id=A\naws_secret_access_key=B\naws_session_token=\n[other]\naws_access_key_id=X", "A", "B", nil),
    ] as [(String, String, String, String?)])
  func `the section default has the key`(_ text: String, _ identifier: String, _ secret: String, _ token: String?) {
    #expect(S3Credentials.parse(text.utf8) == S3Signature.Key(identifier: identifier, secret: secret, sessionToken: token))
  }

  @Test(
    arguments: [
      "", "[default]", "[default]\naws_access_key_id=A", "[other]\naws_access_key_id=A\naws_secret_access_key=B",
      "[default]\naws_access_key_id=\naws_secret_access_key=B", "[default]\naws_access_key_id=A\u{1}\naws_secret_access_key=B",
      "[default]\naws_access_key_id=A\naws_secret_access_key=B C", "aws_access_key_id=A\naws_secret_access_key=B",
    ])
  func `a file without a usable key has none`(_ text: String) {
    #expect(S3Credentials.parse(text.utf8) == nil)
  }

  @Test func `a file that others may read is refused, and a replaced one is read after a minute`() throws {
    let folder = AttachmentStoreTestFolder()
    let file = folder["credentials"]
    func write(_ identifier: String, mode: mode_t) throws {
      try Data("[default]\naws_access_key_id=\(identifier)\naws_secret_access_key=B\n".utf8).write(to: URL(filePath: file + ".new"))
      unsafe chmod(file + ".new", mode)
      unsafe rename(file + ".new", file)
    }
    let start = MonotonicInstant(nanoseconds: 0)
    #expect(throws: StartError.self) { try S3Credentials(file, now: start) }
    try write("A", mode: 0o640)
    #expect(throws: StartError.self) { try S3Credentials(file, now: start) }
    try write("A", mode: 0o600)
    var credentials = try S3Credentials(file, now: start)
    try write("C", mode: 0o600)
    #expect(credentials.refresh(now: start.advanced(by: .seconds(59))) == nil)
    #expect(credentials.key.identifier == "A")
    #expect(credentials.refresh(now: start.advanced(by: .seconds(61))) == nil)
    #expect(credentials.key.identifier == "C")
    try write("D", mode: 0o644)
    #expect(credentials.refresh(now: start.advanced(by: .seconds(200))) != nil)
    #expect(credentials.key.identifier == "C")
  }
}
