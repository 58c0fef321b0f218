import Foundation

/// The payloads and media of the tests.
enum Sample {
  /// A payload that asks for media at a URL.
  static func payload(_ url: String, key: String = "media-url") -> String {
    #"{"aps":{"alert":"Hello","mutable-content":1},"\#(key)":"\#(url)"}"#
  }

  static let plain = #"{"aps":{"alert":"Hello"}}"#

  /// A file of Fixtures/media.
  static func medium(_ name: String) throws -> [UInt8] {
    Array(try Data(contentsOf: URL(filePath: fixtures + "/media/" + name)))
  }

  static let fixtures: String = {
    let kit = (#filePath as NSString).deletingLastPathComponent
    return ((kit as NSString).appendingPathComponent("../../../Fixtures") as NSString).standardizingPath
  }()
}
